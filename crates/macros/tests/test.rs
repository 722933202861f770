//! `#[bowline::test]` on a test kit that has one case.

extern crate self as bowline_testing;

/// Writes one test of what a test kit is given.
#[macro_export]
macro_rules! tests {
    ($which:ident { $(#[$about:meta])* fn $function:ident() $($output:tt)* }) => {
        #[::core::prelude::v1::test]
        $(#[$about])*
        fn $which() $($output)* {
            $crate::run(super::$function)
        }
    };
    (stateless $which:ident $function:tt) => {
        mod stateless {
            $crate::tests!(@$which $function);
        }
    };
    (@$which:ident { fn $function:ident() }) => {
        #[::core::prelude::v1::test]
        fn $which() {
            $crate::run(super::super::$function)
        }
    };
}

use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub(crate) struct Harness;

pub(crate) fn run<F, Fut>(test: F) -> Fut::Output
where
    F: FnOnce(Harness) -> Fut,
    Fut: Future,
{
    let mut future = pin!(test(Harness));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing here waits"),
    }
}

#[bowline_macros::test]
async fn a_test_stands_in_a_module_of_its_own(_: Harness) {
    // The thread of a test is called like the test.
    let thread = std::thread::current();
    assert_eq!(thread.name(), Some("a_test_stands_in_a_module_of_its_own::every_era"));
}

#[bowline_macros::test(every_revision)]
async fn a_test_may_be_run_in_every_revision(_: Harness) {
    let thread = std::thread::current();
    assert_eq!(thread.name(), Some("a_test_may_be_run_in_every_revision::every_revision"));
}

#[bowline_macros::test(every_revision, stateless)]
async fn a_test_may_be_run_without_sessions_too(_: Harness) {
    let thread = std::thread::current();
    let name = "a_test_may_be_run_without_sessions_too::stateless::every_revision";
    assert_eq!(thread.name(), Some(name));
}

#[bowline_macros::test]
async fn a_test_may_use_the_question_mark(_: Harness) -> Result<(), String> {
    let number: u8 = "7".parse().map_err(|_| "a number is a number")?;
    assert_eq!(number, 7);
    Ok(())
}

#[bowline_macros::test]
#[should_panic(expected = "as it should")]
async fn a_test_may_have_to_fail(_: Harness) {
    panic!("as it should");
}

#[cfg(any())]
#[bowline_macros::test]
async fn what_is_configured_out_is_not_compiled(_: Absent) {}
