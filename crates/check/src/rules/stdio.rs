//! Standard input and output.

use crate::message::Channel;
use crate::past::Carrier;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, STATELESS};
use crate::rule::{Rule, Verdict, must, should};
use crate::seen::{EndOfSession, Seen, Subject};

pub(super) const RULES: &[Rule] = &[
    must("STDIO-2", ALL, "a message is one line", one_line),
    must("STDIO-4", ALL, "standard output carries nothing but messages", only_messages),
    must("STDIO-10", STATELESS, "servers send no requests on stdio", no_requests),
    should("STDIO-15", STATELESS, "a server exits when its input ends", exits),
];

/// Text that looks like a piece of JSON; other text is the next rule's.
fn is_piece(text: &str) -> bool {
    text.starts_with(['{', '}', '[', ']', '"', ' ', '\t'])
}

fn text<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    match seen.subject {
        Subject::Text(text) if seen.past.carrier == Carrier::Stdio => Some(text),
        _ => None,
    }
}

fn is_line(seen: &Seen<'_>) -> bool {
    seen.server().is_some_and(|message| message.channel == Channel::Stdio)
}

fn one_line(seen: &Seen<'_>) -> Verdict {
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    match text(seen) {
        Some(text) if is_piece(text) && !is_json(text) => {
            Broken("a line holds a piece of JSON".to_owned())
        }
        _ if is_line(seen) => Kept,
        _ => Idle,
    }
}

fn only_messages(seen: &Seen<'_>) -> Verdict {
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    match text(seen) {
        Some(text) if !is_piece(text) || is_json(text) => {
            Broken("a line of standard output is no message".to_owned())
        }
        _ if is_line(seen) => Kept,
        _ => Idle,
    }
}

fn no_requests(seen: &Seen<'_>) -> Verdict {
    if !is_line(seen) {
        return Idle;
    }
    match seen.request() {
        Some((method, _)) => Broken(format!("the server sent the request `{method}`")),
        None => Kept,
    }
}

fn exits(seen: &Seen<'_>) -> Verdict {
    match seen.subject {
        Subject::End(EndOfSession::Lingering) => {
            Broken("the server did not exit in time".to_owned())
        }
        Subject::End(EndOfSession::Orderly) => Kept,
        _ => Idle,
    }
}
