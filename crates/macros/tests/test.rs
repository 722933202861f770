//! `#[bowline::test]` on a test kit that only remembers what it was asked to run.

extern crate self as bowline_testing;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[derive(Debug)]
pub(crate) enum Case {
    LegacyStdio,
    ModernStdio,
    LegacyDuplex,
    ModernDuplex,
    LegacySocket,
    ModernSocket,
}

pub(crate) struct Harness(Case);

pub(crate) fn run<F, Fut>(case: Case, test: F) -> Fut::Output
where
    F: FnOnce(Harness) -> Fut,
    Fut: Future,
{
    let mut future = pin!(test(Harness(case)));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// The thread of a test is called like the test.
fn own_name() -> String {
    std::thread::current().name().unwrap().to_owned()
}

#[bowline_macros::test]
async fn each_case_is_a_test_of_its_own(t: Harness) {
    let name = match t.0 {
        Case::LegacyStdio => "legacy_stdio",
        Case::ModernStdio => "modern_stdio",
        Case::LegacyDuplex => "legacy_duplex",
        Case::ModernDuplex => "modern_duplex",
        Case::LegacySocket => "legacy_socket",
        Case::ModernSocket => "modern_socket",
    };
    assert_eq!(own_name(), format!("each_case_is_a_test_of_its_own::{name}"));
}

#[bowline_macros::test]
async fn a_test_may_use_the_question_mark(t: Harness) -> Result<(), String> {
    let case = own_name().rsplit_once("::").map(|(_, case)| case.replace('_', ""));
    let case = case.ok_or("a case has a name of its own")?;
    assert_eq!(case, format!("{:?}", t.0).to_lowercase());
    Ok(())
}

#[cfg(any())]
#[bowline_macros::test]
async fn what_is_configured_out_is_not_compiled(_: Absent) {}
