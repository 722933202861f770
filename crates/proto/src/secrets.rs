//! The credentials that a client gives a server, which are taken out of the errors of that server.
//!
//! A server may repeat in its error what it was given: a header of the request, a variable of its
//! environment. The error goes on to logs, to terminals and, behind a bridge, to callers who may not
//! know the credential. So the texts for people in what a server writes lose the credentials here,
//! before anything else reads them. What has a meaning for programs stays, also the results of calls,
//! unless a tool reports a failure.

mod message;
mod names;
mod values;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;

use bytes::Bytes;

use self::message::{Lookup, may_be_for_people};
pub use self::names::{names_a_credential, names_a_secret};
use self::values::Values;
use crate::client::{Delivery, Report};
use crate::codec::Received;
use crate::frame::{Frame, Message};
use crate::limits::Limits;
use crate::sync::lock;

/// Shorter values are not looked for: they occur in other text, which would become unreadable, and
/// the places of the marks would tell the value.
const SHORTEST: usize = 8;

/// How many values of each kind are remembered that were obtained while the client ran.
const OBTAINED: usize = 8;

/// The credentials of one client.
#[derive(Default)]
pub struct Secrets {
    /// What the user has set.
    fixed: Vec<String>,
    tokens: Obtained,
    sessions: Obtained,
}

/// The last values that were obtained, the newest first.
#[derive(Default)]
struct Obtained(Mutex<VecDeque<String>>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// The values that the user has set. Those with less than eight bytes are left out.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let fixed = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        Self { fixed, ..Self::default() }
    }

    /// Remembers credentials that were obtained while the client runs, such as access tokens.
    pub fn add_tokens(&self, values: impl IntoIterator<Item = String>) {
        values.into_iter().for_each(|value| self.tokens.add(value));
    }

    /// Remembers the id of a session. It stays in the data of errors, which may hold a link with it.
    pub fn add_session(&self, id: String) {
        self.sessions.add(id);
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.tokens.is_empty() && self.sessions.is_empty()
    }

    /// Takes the credentials out of the texts for people in what a server sent.
    pub fn redact(&self, received: Received) -> Received {
        match received {
            Received::Message(text) if !self.is_empty() => {
                Received::Message(self.redacted(&text).unwrap_or(text))
            }
            Received::Message(_) | Received::TooLong(_) => received,
        }
    }

    /// The same for what an HTTP client delivers, with its reports.
    pub fn redact_delivery(&self, delivery: Delivery, limits: &Limits) -> Delivery {
        if self.is_empty() {
            return delivery;
        }
        match delivery {
            Delivery::Received(received) => self.redact(received).into(),
            Delivery::Within(id, text) => {
                Delivery::Within(id, self.redacted(&text).unwrap_or(text))
            }
            Delivery::Parsed(text, response) => match self.redacted(&text) {
                Some(text) => reread(text, limits),
                None => Delivery::Parsed(text, response),
            },
            Delivery::Report(Report::Failed(mut failure)) => {
                let lookup = self.lookup();
                lookup.in_texts.replace(&mut failure.reason);
                failure.error.iter_mut().for_each(|error| lookup.redact_error(error));
                Report::Failed(failure).into()
            }
            Delivery::Report(Report::Held(_) | Report::Granted(_)) => delivery,
        }
    }

    /// Takes the credentials out of a text for people.
    pub fn replace(&self, text: &mut String) {
        self.lookup().in_texts.replace(text);
    }

    /// A message without the credentials; `None` if nothing in it is to be replaced.
    fn redacted(&self, text: &[u8]) -> Option<Bytes> {
        if !may_be_for_people(text) {
            return None;
        }
        self.lookup().redacted(std::str::from_utf8(text).ok()?).map(Bytes::from)
    }

    fn lookup(&self) -> Lookup {
        let credentials: Vec<String> =
            self.fixed.iter().cloned().chain(self.tokens.all()).collect();
        let all = credentials.iter().cloned().chain(self.sessions.all()).collect();
        Lookup { in_texts: Values::new(all), in_data: Values::new(credentials) }
    }
}

impl Obtained {
    fn add(&self, value: String) {
        let mut values = lock(&self.0);
        if value.len() >= SHORTEST && !values.contains(&value) {
            values.push_front(value);
            values.truncate(OBTAINED);
        }
    }

    fn all(&self) -> VecDeque<String> {
        lock(&self.0).clone()
    }

    fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// Parses a response whose text was changed.
fn reread(text: Bytes, limits: &Limits) -> Delivery {
    match Frame::parse(&text, limits) {
        Ok(Frame::Message(Message::Response(response))) => {
            Delivery::Parsed(text, Box::new(response))
        }
        Ok(_) | Err(_) => Received::Message(text).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_value_stays() {
        let mut text = "no such product".to_owned();
        Secrets::new(["product".to_owned()]).replace(&mut text);
        assert_eq!(text, "no such product");
    }

    #[test]
    fn a_longer_value_is_replaced_before_its_part() {
        let secrets = Secrets::new(["s3cret-token", "Bearer s3cret-token"].map(str::to_owned));
        let mut text = "got Bearer s3cret-token, not s3cret-token".to_owned();
        secrets.replace(&mut text);
        assert_eq!(text, "got [redacted], not [redacted]");
    }

    #[test]
    fn the_last_values_that_were_obtained_are_remembered() {
        let secrets = Secrets::default();
        assert!(secrets.is_empty());
        for number in 0..=OBTAINED {
            secrets.add_session(format!("session-{number}"));
            secrets.add_tokens([format!("token-00{number}")]);
        }
        let mut text = "session-0 session-1 session-8 token-000 token-008".to_owned();
        secrets.replace(&mut text);
        assert_eq!(text, "session-0 [redacted] [redacted] token-000 [redacted]");
    }

    #[test]
    fn the_text_of_a_message_that_cannot_be_read_is_for_people() {
        let secrets = Secrets::new(["12345678".to_owned()]);
        for (text, expected) in [
            ("listening: 12345678", "listening: [redacted]"),
            (r#"{"error": 12345678,"#, r#"{"error": [redacted],"#),
            (
                r#"{"error": 12345678, "id": "12345678"}"#,
                r#"{"error": 12345678, "id": "[redacted]"}"#,
            ),
        ] {
            let received = secrets.redact(Received::Message(text.into()));
            assert_eq!(received, Received::Message(expected.into()));
        }
    }
}
