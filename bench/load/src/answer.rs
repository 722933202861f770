//! Checks every answer; most need not be parsed for that.

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::message::{Call, Revision};

/// Checks the answers to one kind of call.
#[derive(Clone, Debug)]
pub struct Check {
    revision: Revision,
    call: Call,
    message: Option<String>,
    /// An answer that was parsed and is correct: the text before and after its id.
    known: Option<(Vec<u8>, Vec<u8>)>,
}

/// The kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen<'a> {
    /// A correct answer to the request with this id.
    Answer(&'a [u8]),
    /// A notification during the call.
    Notification,
}

impl Check {
    /// Checks answers to this call.
    pub fn new(revision: Revision, call: &Call) -> Self {
        Self { revision, call: call.clone(), message: call.message(), known: None }
    }

    /// Checks one message from the server.
    ///
    /// # Errors
    ///
    /// If it is no message, or a wrong answer.
    pub fn see<'a>(&mut self, text: &'a [u8]) -> Result<Seen<'a>> {
        if let Some(id) = self.differing_id(text) {
            return Ok(Seen::Answer(id));
        }
        let message: Message<'a> =
            serde_json::from_slice(text).with_context(|| format!("no message: {}", start(text)))?;
        let (Some(id), None) = (message.id, message.method) else {
            ensure!(message.method.is_some(), "neither answer nor request: {}", start(text));
            return Ok(Seen::Notification);
        };
        let Some(result) = message.result else { bail!("no result: {}", start(text)) };
        self.ensure_right(&result).with_context(|| format!("wrong answer: {}", start(text)))?;

        let begin = id.get().as_ptr() as usize - text.as_ptr() as usize;
        let (before, rest) = text.split_at(begin);
        let (id, after) = rest.split_at(id.get().len());
        self.known = Some((before.to_vec(), after.to_vec()));
        Ok(Seen::Answer(id))
    }

    /// The id of an answer that differs from the known one by nothing else.
    fn differing_id<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let (before, after) = self.known.as_ref()?;
        let id = text.strip_prefix(&before[..])?.strip_suffix(&after[..])?;
        id.iter().all(u8::is_ascii_digit).then_some(id)
    }

    fn ensure_right(&self, result: &Outcome<'_>) -> Result<()> {
        ensure!(!result.is_error, "the tool failed");
        if self.revision == Revision::Stateless {
            ensure!(result.result_type.as_deref() == Some("complete"), "not marked as complete");
        }
        if self.call == Call::List {
            ensure!(!result.tools.is_empty(), "no tools");
            return Ok(());
        }
        let [Block { text: Some(text) }] = &result.content[..] else {
            bail!("not one block of text");
        };
        match &self.message {
            Some(message) => ensure!(text == message, "not the message that was sent"),
            None => ensure!(!text.is_empty(), "an empty text"),
        }
        Ok(())
    }
}

/// As much of a text as helps to see what it is.
pub fn start(text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(..300).unwrap_or(text)).into_owned()
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<IgnoredAny>,
    #[serde(borrow)]
    result: Option<Outcome<'a>>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(borrow, rename = "resultType")]
    result_type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(default)]
    tools: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check() -> Check {
        Check::new(Revision::Handshake, &Call::Echo { tool: "echo".to_owned(), bytes: 3 })
    }

    fn answer(id: u64, text: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    }

    #[test]
    fn a_right_answer_gives_its_id_whether_parsed_or_compared() {
        let mut check = check();
        for id in [7, 8] {
            let text = answer(id, "The");
            assert_eq!(
                check.see(text.as_bytes()).unwrap(),
                Seen::Answer(id.to_string().as_bytes())
            );
        }
    }

    #[test]
    fn a_wrong_answer_is_an_error_even_after_a_right_one() {
        let mut check = check();
        check.see(answer(1, "The").as_bytes()).unwrap();
        assert!(check.see(answer(2, "Too").as_bytes()).is_err());
        assert!(check.see(br#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":""}}"#).is_err());
        let failed = answer(4, "The").replace("{\"content", "{\"isError\":true,\"content");
        assert!(check.see(failed.as_bytes()).is_err());
    }

    #[test]
    fn a_notification_is_no_answer() {
        let text = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        assert_eq!(check().see(text).unwrap(), Seen::Notification);
    }
}
