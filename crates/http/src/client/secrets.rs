//! The credentials that a client sends, which are taken out of the errors of its server.
//!
//! A server may repeat a request in its error, with our headers. The error goes on to logs, to
//! terminals and, behind a bridge, to callers who may not know the credential. So what a server writes
//! loses the credentials here, before anything else reads it. The results of calls stay as they are,
//! unless a tool reports a failure.

use std::collections::VecDeque;
use std::sync::Mutex;

use bowline_proto::codec::Unit;
use bowline_proto::frame::ResponseMessage;
use bowline_proto::sync::lock;
use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use serde::Deserialize;

use super::address::Address;

/// What stands for a credential.
const REDACTED: &str = "[redacted]";

/// Shorter values are not looked for: they occur in other text.
const SHORTEST: usize = 8;

/// How many values are remembered that were obtained while the client ran: tokens, session ids.
const OBTAINED: usize = 8;

/// The credentials of one client.
pub(super) struct SentSecrets {
    /// Of the headers that the user has set, and of the address.
    fixed: Vec<String>,
    /// The last ones that were obtained, the newest first.
    obtained: Mutex<VecDeque<String>>,
}

impl SentSecrets {
    /// The values of all sensitive headers, and of the query of the address.
    pub(super) fn new(address: &Address, headers: &HeaderMap) -> Self {
        let mut fixed = Vec::new();
        for value in headers.values().filter(|value| value.is_sensitive()) {
            fixed.extend(value.to_str().into_iter().flat_map(parts));
        }
        let query = address.uri().query().unwrap_or_default();
        let values = query.split('&').filter_map(|pair| pair.split_once('='));
        fixed.extend(values.flat_map(|(_, value)| parts(value)));
        Self { fixed, obtained: Mutex::default() }
    }

    /// Remembers a value that the client was given while it runs.
    pub(super) fn add(&self, value: &HeaderValue) {
        let Ok(value) = value.to_str() else { return };
        let mut obtained = lock(&self.obtained);
        if obtained.iter().any(|known| known == value) {
            return;
        }
        parts(value).for_each(|part| obtained.push_front(part));
        obtained.truncate(OBTAINED);
    }

    /// Takes the credentials out of what a server sent.
    pub(super) fn redact(&self, mut unit: Unit) -> Unit {
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

    /// Returns whether the response is that of a failed call.
    fn redact_response(&self, response: &mut ResponseMessage) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Outcome {
            #[serde(default)]
            is_error: bool,
        }
        let result = match &mut response.outcome {
            Ok(result) => result,
            Err(error) => {
                self.redact_error(error);
                return true;
            }
        };
        if !self.is_in(result.as_str()) {
            return false;
        }
        let is_failure = result.parse::<Outcome>().is_ok_and(|outcome| outcome.is_error);
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
        let is_in = |secret: &String| text.contains(secret.as_str());
        self.fixed.iter().any(is_in) || lock(&self.obtained).iter().any(is_in)
    }

    fn replace(&self, text: &mut String) {
        let obtained = lock(&self.obtained);
        let mut secrets: Vec<&String> = self.fixed.iter().chain(obtained.iter()).collect();
        // A header before the token in it.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), REDACTED);
            }
        }
    }
}

/// The error for a failure whose text is no JSON without the credentials.
fn unreadable() -> ErrorObject {
    ErrorObject::internal("the server repeated a credential of this client in its answer")
}

/// The texts by which a value is recognized: the whole, what follows the scheme of `Authorization`,
/// and the values of cookies; each also as JSON writes it.
fn parts(value: &str) -> impl Iterator<Item = String> {
    let after_scheme = value.split_once(' ').map(|(_, rest)| rest.trim());
    let cookies = value.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim()));
    let parts = std::iter::once(value).chain(after_scheme).chain(cookies);
    let mut parts: Vec<String> =
        parts.filter(|part| part.len() >= SHORTEST).map(str::to_owned).collect();
    let escaped = |part: &String| part.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped: Vec<String> = parts.iter().map(escaped).collect();
    parts.extend(escaped);
    parts.sort_unstable();
    parts.dedup();
    parts.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(header: &'static str, text: &str) -> String {
        let mut value = HeaderValue::from_static(header);
        value.set_sensitive(true);
        let headers = HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]);
        let address = Address::parse("http://a.example/mcp?key=query-s3cret&x=1").unwrap();
        let mut text = text.to_owned();
        SentSecrets::new(&address, &headers).replace(&mut text);
        text
    }

    #[test]
    fn a_credential_is_recognized_whole_and_in_parts() {
        let shown = redacted("Bearer s3cret-token", "got Bearer s3cret-token, not s3cret-token");
        assert_eq!(shown, "got [redacted], not [redacted]");
        assert_eq!(redacted("theme=dark; sid=s3cret-sid", "no s3cret-sid"), "no [redacted]");
        assert_eq!(
            redacted(r#"a"s3cret\token"#, r#"{"t":"a\"s3cret\\token"}"#),
            r#"{"t":"[redacted]"}"#
        );
        assert_eq!(redacted("Bearer s3cret-token", "/mcp?key=query-s3cret"), "/mcp?key=[redacted]");
    }
}
