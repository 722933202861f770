//! Every limit holds at the socket. A limit that is added without a test fails here.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use bowline_http::server::HttpLimits;
use bowline_proto::limits::Limits;

mod around;
mod within_message;

const SHORT: Duration = Duration::from_millis(200);

/// Defines a test for each limit, and the list of the limits that have one.
macro_rules! bites {
    ($($limit:ident $body:block)*) => {
        /// Limits with a test here.
        pub(super) const TESTED: &[&str] = &[$(stringify!($limit)),*];

        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $limit() $body
        )*
    };
}
pub(crate) use bites;

/// Returns the names of a struct's fields.
fn fields(value: &impl Debug) -> BTreeSet<String> {
    let text = format!("{value:#?}");
    let is_own = |line: &&str| line.starts_with("    ") && !line.starts_with("     ");
    let names = text.lines().filter(is_own).filter_map(|line| line.trim().split_once(':'));
    names.map(|(name, _)| name.to_owned()).collect()
}

fn all(lists: &[&[&str]]) -> BTreeSet<String> {
    lists.concat().iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn every_limit_of_http_has_a_test() {
    // Their tests are in `sessions`, `slow`, `resume`, `modern`, `connections` and `drain`.
    let elsewhere = [
        "sessions",
        "session_idle",
        "session_opening",
        "stall",
        "resumption",
        "keep_alive",
        "unreachable",
        "lame_duck",
        "drain",
    ];
    assert_eq!(fields(&HttpLimits::default()), all(&[around::TESTED, &elsewhere]));
}

#[test]
fn every_limit_of_a_message_has_a_test_unless_http_does_not_use_it() {
    let of_clients = [
        "rounds",
        "request_timeout",
        "request_deadline",
        "probe_timeout",
        "noise",
        "questions_per_minute",
        "shortest_poll",
        "longest_poll",
    ];
    let of_one_channel = ["outbox", "drain", "long_messages"];
    let of_memory_alone = ["abandoned", "elicitations"];
    let others = [&of_clients[..], &of_one_channel, &of_memory_alone].concat();
    assert_eq!(fields(&Limits::default()), all(&[within_message::TESTED, &others]));
}
