//! What was sent and what came, as evidence of a broken rule.

use serde_json::{Map, Value, json};

use crate::message::{Channel, HttpFacts, excerpt};
use crate::past::Asked;
use crate::seen::{Seen, Subject};

/// The longest text of a finding that is kept whole, in bytes.
pub const LONGEST_EVIDENCE: usize = 1024 * 1024;

/// The evidence of one session that is kept whole, in bytes. Later texts are cut.
pub const EVIDENCE_OF_SESSION: usize = 8 * 1024 * 1024;

/// The exchange that shows that a rule was broken. Both texts are JSON, unless the server sent
/// something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// What the client sent; over HTTP, if headers or the status matter, an object with `method`,
    /// `headers` and `body`.
    pub request: Option<String>,
    /// What the server sent; over HTTP, if headers or the status matter, an object with `status`,
    /// `headers` and `body`. `None` if nothing came.
    pub answer: Option<String>,
    /// Whether a text was too long to be kept whole.
    pub is_cut: bool,
}

impl Evidence {
    /// The evidence in what an observer saw. `room` is what may still be kept whole, in bytes.
    pub(crate) fn of(seen: &Seen<'_>, room: &mut usize) -> Self {
        let (request, answer) = exchange(seen);
        let mut evidence = Self::default();
        evidence.request = request.map(|text| evidence.kept(text, room));
        evidence.answer = answer.map(|text| evidence.kept(text, room));
        evidence
    }

    fn kept(&mut self, text: String, room: &mut usize) -> String {
        if text.len() <= LONGEST_EVIDENCE.min(*room) {
            *room -= text.len();
            return text;
        }
        self.is_cut = true;
        excerpt(&text)
    }
}

fn exchange(seen: &Seen<'_>) -> (Option<String>, Option<String>) {
    match seen.subject {
        Subject::Message(message) => {
            let asked = match message.is_answer() {
                true => message.id().and_then(|id| seen.past.asked(id)),
                false => None,
            };
            let asked = asked.or_else(|| match message.channel {
                Channel::Post(_) => seen.past.asked_on(message.channel),
                Channel::Stdio | Channel::Get(_) => None,
            });
            (asked.map(request), Some(message.value.to_string()))
        }
        Subject::Text(text) | Subject::Encoding(text) => (None, Some(text.to_owned())),
        Subject::EventId(_, id) => (None, Some(json!({"id": id}).to_string())),
        Subject::Http(facts) => (Some(sent(facts)), Some(received(facts))),
        Subject::Unanswered(asked) => (Some(request(asked)), None),
        Subject::End(_) => (None, None),
    }
}

/// The request as it was sent.
fn request(asked: &Asked) -> String {
    let Asked { id, method, params, .. } = asked;
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if !params.is_null() {
        message["params"] = params.clone();
    }
    match asked.is_in_batch {
        true => json!([message]).to_string(),
        false => message.to_string(),
    }
}

fn sent(facts: &HttpFacts) -> String {
    let body = match (&facts.body, &facts.broken_json) {
        (Some(body), _) => body.clone(),
        (None, Some(text)) => json!(text),
        (None, None) => Value::Null,
    };
    let headers = headers(&facts.sent, is_of_protocol);
    json!({"method": facts.verb, "headers": headers, "body": body}).to_string()
}

fn received(facts: &HttpFacts) -> String {
    let body = match facts.answer.as_str() {
        // Events of a stream are messages of their own.
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    };
    let headers = headers(&facts.headers, |name| name != "set-cookie");
    json!({"status": facts.status, "headers": headers, "body": body}).to_string()
}

fn headers(all: &[(String, String)], is_shown: fn(&str) -> bool) -> Map<String, Value> {
    let shown = |name: &str, value: &str| match is_shown(name) {
        true => json!(value),
        // Headers of the user may hold credentials.
        false => json!("…"),
    };
    all.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect()
}

fn is_of_protocol(name: &str) -> bool {
    matches!(name, "accept" | "content-type" | "origin" | "last-event-id")
        || name.starts_with("mcp-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_longer_than_the_bound_is_cut_and_takes_no_room() {
        let mut evidence = Evidence::default();
        let mut room = EVIDENCE_OF_SESSION;
        let whole = "x".repeat(LONGEST_EVIDENCE);
        assert_eq!(evidence.kept(whole.clone(), &mut room), whole);
        assert_eq!((evidence.is_cut, room), (false, EVIDENCE_OF_SESSION - LONGEST_EVIDENCE));
        let text = evidence.kept(whole + "x", &mut room);
        assert!(text.len() < 1000 && text.ends_with("x…"), "{} bytes", text.len());
        assert_eq!((evidence.is_cut, room), (true, EVIDENCE_OF_SESSION - LONGEST_EVIDENCE));
    }

    #[test]
    fn a_session_whose_room_is_used_up_keeps_only_short_texts_whole() {
        let mut room = 1000;
        let mut kept = |length: usize| {
            let mut evidence = Evidence::default();
            (evidence.kept("x".repeat(length), &mut room).len() == length, evidence.is_cut)
        };
        assert_eq!(
            [kept(900), kept(900), kept(100)],
            [(true, false), (false, true), (true, false)]
        );
        assert_eq!(kept(900), (false, true));
    }
}
