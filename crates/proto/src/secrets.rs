//! The credentials that a client gives a server, which are taken out of the errors of that server.
//!
//! A server may repeat in its error what it was given: a header of the request, a variable of its
//! environment. The error goes on to logs, to terminals and, behind a bridge, to callers who may not
//! know the credential. So what a server writes loses the credentials here, before anything else
//! reads it. The results of calls stay as they are, unless a tool reports a failure.
//!
//! A value is found in text as it is, and as JSON may write it, also inside a string that holds JSON
//! itself: after any number of backslashes, or as `\u002B`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;

use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bytes::Bytes;
use serde::Deserialize;

use crate::codec::Unit;
use crate::frame::{Frame, Message, ResponseMessage};
use crate::limits::Limits;
use crate::sync::lock;

/// What stands for a credential.
const REDACTED: &str = "[redacted]";

/// Shorter values are not looked for: they occur in other text, which would become unreadable, and
/// the places of the marks would tell the value.
const SHORTEST: usize = 8;

/// How many values are remembered that were obtained while the client ran: tokens, session ids.
const OBTAINED: usize = 8;

/// The credentials of one client.
#[derive(Default)]
pub struct Secrets {
    /// What the user has set.
    fixed: Vec<String>,
    /// The last ones that were obtained, the newest first.
    obtained: Mutex<VecDeque<String>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// The values that the user has set. Those with less than eight bytes are left out.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let fixed = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        Self { fixed, obtained: Mutex::default() }
    }

    /// Remembers values that the client was given while it runs.
    pub fn add(&self, values: impl IntoIterator<Item = String>) {
        let mut obtained = lock(&self.obtained);
        for value in values.into_iter().filter(|value| value.len() >= SHORTEST) {
            if !obtained.contains(&value) {
                obtained.push_front(value);
            }
        }
        obtained.truncate(OBTAINED);
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && lock(&self.obtained).is_empty()
    }

    /// Takes the credentials out of what a server sent. Of messages whose text was not parsed, all
    /// lose them.
    pub fn redact(&self, mut unit: Unit) -> Unit {
        match &mut unit {
            Unit::Failed(failure) => {
                self.replace(&mut failure.reason);
                failure.error.iter_mut().for_each(|error| self.redact_error(error));
            }
            Unit::Read(text, response) => {
                if self.redact_response(response) {
                    self.redact_text(text);
                }
            }
            Unit::Text(text) | Unit::Within(_, text) => self.redact_text(text),
            Unit::TooLong(..) | Unit::Held(_) | Unit::Granted(_) => {}
        }
        unit
    }

    /// Takes the credentials out of a message that was not parsed yet, if it answers a request with a
    /// failure, or is no valid message.
    pub fn redact_failure(&self, text: Bytes, limits: &Limits) -> Unit {
        let has = |name: &str| memchr::memmem::find(&text, name.as_bytes()).is_some();
        if !(has("\"error\"") || has("isError")) {
            return Unit::Text(text);
        }
        match Frame::parse(&text, limits) {
            Ok(Frame::Message(Message::Response(response))) => {
                self.redact(Unit::Read(text, Box::new(response)))
            }
            Ok(Frame::Message(_)) => Unit::Text(text),
            Ok(Frame::Batch(_)) | Err(_) => self.redact(Unit::Text(text)),
        }
    }

    /// Takes the credentials out of a text.
    pub fn replace(&self, text: &mut String) {
        let obtained = lock(&self.obtained);
        let mut secrets: Vec<&String> = self.fixed.iter().chain(obtained.iter()).collect();
        // A header before the token in it.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in secrets {
            if let Some(replaced) = without(text, secret) {
                *text = replaced;
            }
        }
    }

    /// Returns whether the response is that of a failed call.
    fn redact_response(&self, response: &mut ResponseMessage) -> bool {
        let result = match &mut response.outcome {
            Ok(result) => result,
            Err(error) => {
                self.redact_error(error);
                return true;
            }
        };
        let is_failure = reports_failure(result) && self.is_in(result.as_str());
        if is_failure {
            response.outcome = self.redacted(result).ok_or_else(unreadable);
            response.members = None;
        }
        is_failure
    }

    fn redact_error(&self, error: &mut ErrorObject) {
        self.replace(&mut error.message);
        error.data = error.data.take().and_then(|data| self.redacted(&data));
    }

    fn redact_text(&self, text: &mut Bytes) {
        let Ok(string) = std::str::from_utf8(text) else { return };
        if self.is_in(string) {
            let mut string = string.to_owned();
            self.replace(&mut string);
            *text = string.into();
        }
    }

    /// A value without the credentials; `None` if it is no JSON then, because one was a number.
    fn redacted(&self, json: &RawJson) -> Option<RawJson> {
        if !self.is_in(json.as_str()) {
            return Some(json.clone());
        }
        let mut text = json.as_str().to_owned();
        self.replace(&mut text);
        RawJson::from_text(text).ok()
    }

    fn is_in(&self, text: &str) -> bool {
        let is_in = |secret: &String| next(text, secret).is_some();
        self.fixed.iter().any(is_in) || lock(&self.obtained).iter().any(is_in)
    }
}

/// Whether a result is that of a tool that failed.
fn reports_failure(result: &RawJson) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outcome {
        #[serde(default)]
        is_error: bool,
    }
    // The name is looked for first, because results can be long.
    result.as_str().contains("isError")
        && result.parse::<Outcome>().is_ok_and(|outcome| outcome.is_error)
}

/// The error for a failure whose text is no JSON without the credentials.
fn unreadable() -> ErrorObject {
    ErrorObject::internal("the server repeated a credential of this client in its answer")
}

/// The text without the secret, if it has it.
fn without(text: &str, secret: &str) -> Option<String> {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((start, end)) = next(rest, secret) {
        replaced.extend([&rest[..start], REDACTED]);
        rest = &rest[end..];
    }
    (rest.len() < text.len()).then(|| replaced + rest)
}

/// Where the secret occurs first.
fn next(text: &str, secret: &str) -> Option<(usize, usize)> {
    if !text.contains('\\') {
        return text.find(secret).map(|start| (start, start + secret.len()));
    }
    let starts = text.char_indices().map(|(start, _)| start);
    let mut found =
        starts.filter_map(|start| Some((start, start + written(&text[start..], secret)?)));
    found.next()
}

/// The length of the secret at the beginning of a text. Backslashes count for nothing on both sides.
fn written(text: &str, secret: &str) -> Option<usize> {
    let mut rest = text;
    for expected in secret.chars().filter(|character| *character != '\\') {
        let plain = rest.trim_start_matches('\\');
        let is_escape = plain.len() < rest.len();
        let after_escape = is_escape.then(|| after_escape(plain, expected)).flatten();
        rest = after_escape.or_else(|| plain.strip_prefix(expected))?;
    }
    Some(text.len() - rest.len())
}

/// What follows the escape of a character, whose backslash was read.
fn after_escape(text: &str, expected: char) -> Option<&str> {
    let letter = match expected {
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => return after_code_units(text, expected),
    };
    text.strip_prefix(letter).or_else(|| after_code_units(text, expected))
}

/// What follows `u002B`, or `ud83d\ude00` for a character of two units.
fn after_code_units(mut text: &str, expected: char) -> Option<&str> {
    for unit in expected.encode_utf16(&mut [0; 2]) {
        let digits = text.trim_start_matches('\\').strip_prefix('u')?;
        let is_unit = u16::from_str_radix(digits.get(..4)?, 16).is_ok_and(|it| it == *unit);
        text = is_unit.then(|| &digits[4..])?;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(secret: &str, text: &str) -> String {
        let mut text = text.to_owned();
        Secrets::new([secret.to_owned()]).replace(&mut text);
        text
    }

    #[test]
    fn a_value_is_found_however_json_writes_it() {
        let secret = "a\"s3cret/+\\\ntöken😀";
        for text in [
            secret,
            r#"a\"s3cret/+\\\ntöken😀"#,
            r"a\u0022s3cret\/\u002B\\\nt\u00f6ken\ud83d\ude00",
            r#"a\\\"s3cret\\\/\\u002b\\\\\\nt\\u00F6ken\\uD83D\\uDE00"#,
        ] {
            assert_eq!(redacted(secret, &format!("({text}, {text})")), "([redacted], [redacted])");
        }
        assert_eq!(redacted("tokentoken", r"\tokentoke"), r"\tokentoke");
        assert_eq!(redacted("tokentoken", r"\n tokentoken"), r"\n [redacted]");
    }

    #[test]
    fn a_short_value_stays() {
        assert_eq!(redacted("product", "no such product"), "no such product");
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
            secrets.add([format!("session-{number}")]);
        }
        let mut text = "session-0 session-1 session-8".to_owned();
        secrets.replace(&mut text);
        assert_eq!(text, "session-0 [redacted] [redacted]");
    }
}
