//! `_meta`: the open map that every message may carry.
//!
//! Keys are `prefix/name` or bare names. The protocol reserves some of them. Values are kept as
//! JSON text.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::invalid::invalid_value;
use crate::json::RawJson;
use crate::member;
use crate::trace;

/// The keys that the protocol defines.
pub mod key {
    /// Asks for progress notifications.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The revision of a request (2026-07-28).
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The capabilities of the client, in each request (2026-07-28).
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Name and version of the client, in each request (2026-07-28).
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The least severe level of log messages that a request wants (2026-07-28).
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Name and version of the server, in each result (2026-07-28).
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The `subscriptions/listen` request that a notification belongs to (2026-07-28).
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The task that a message belongs to (2025-11-25).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// The text for the model while a task runs (2025-11-25).
    pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
    /// W3C Trace Context, exempt from the prefix rule.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C Trace Context, exempt from the prefix rule.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C Baggage, exempt from the prefix rule.
    pub const BAGGAGE: &str = "baggage";
}

/// A `_meta` object.
///
/// ```
/// use bowline_types::Meta;
///
/// let mut meta = Meta::new();
/// meta.set("com.example/shard", &3).unwrap();
/// assert_eq!(meta.parse::<u8>("com.example/shard"), Some(3));
/// assert!(meta.set("io.modelcontextprotocol/shard", &3).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Meta(BTreeMap<String, RawJson>);

impl Meta {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key that the protocol does not define.
    ///
    /// # Errors
    ///
    /// If the key breaks the grammar or is reserved by the protocol, if the value cannot be written
    /// as JSON, or if the key is one of W3C tracing and the value breaks its rules.
    pub fn set<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), InvalidKey> {
        check_key(key)?;
        if is_reserved(key) {
            return Err(InvalidKey::new(key, "it is reserved by the protocol"));
        }
        let invalid = |reason: &'static str| InvalidKey::new(key, reason);
        let value = RawJson::from_value(value)
            .map_err(|_| invalid("its value cannot be written as JSON"))?;
        let is_traced = value.parse().is_ok_and(|text: String| trace::may_stand_at(key, &text));
        if trace::is_key(key) && !is_traced {
            return Err(invalid("its value does not follow W3C Trace Context or Baggage"));
        }
        self.0.insert(key.to_owned(), value);
        Ok(())
    }

    /// Sets a key that the protocol defines.
    pub fn set_reserved(&mut self, key: &'static str, value: RawJson) {
        self.0.insert(key.to_owned(), value);
    }

    /// The JSON at a key.
    pub fn value(&self, key: &str) -> Option<&RawJson> {
        self.0.get(key)
    }

    /// The value at a key, read into a type. `None` if it is missing or has another shape.
    pub fn parse<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.parse().ok()
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> Option<RawJson> {
        self.0.remove(key)
    }

    /// Whether the map is empty. An empty `_meta` is left out of messages.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All keys with their values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl<'de> Deserialize<'de> for Meta {
    /// Reads `null` as empty, because some peers write `null` for an absent `_meta`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        member::any_members(deserializer).map(Self)
    }
}

invalid_value! {
    /// The error for a `_meta` key, or its value, that breaks a rule.
    InvalidKey, "`_meta` key"
}

/// Checks the grammar of a key: an optional prefix of labels that are joined by dots and end with a
/// slash, then a name.
///
/// # Errors
///
/// Names the part that breaks a rule, and the rule.
pub fn check_key(key: &str) -> Result<(), InvalidKey> {
    let invalid = |reason: &'static str| Err(InvalidKey::new(key, reason));
    let (prefix, name) = match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
        return invalid(
            "each label of the prefix starts with a letter, ends with a letter or digit, \
             and holds only letters, digits and `-` between",
        );
    }
    if name.is_empty() {
        return if prefix.is_some() { Ok(()) } else { invalid("it is empty") };
    }
    if !is_name(name) {
        return invalid(
            "the name starts and ends with a letter or digit, \
             and holds only letters, digits, `-`, `_` and `.` between",
        );
    }
    Ok(())
}

/// Whether the protocol reserves this key: `progressToken`, or a key with `modelcontextprotocol` or
/// `mcp` as the second label of its prefix.
///
/// ```
/// use bowline_types::meta::is_reserved;
///
/// assert!(is_reserved("dev.mcp/shard") && is_reserved("progressToken"));
/// assert!(!is_reserved("com.example/shard"));
/// ```
pub fn is_reserved(key: &str) -> bool {
    let Some((prefix, _)) = key.rsplit_once('/') else { return key == key::PROGRESS_TOKEN };
    prefix.split('.').nth(1).is_some_and(|label| matches!(label, "modelcontextprotocol" | "mcp"))
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: META-2, META-3, META-7, META-8
    #[test]
    fn keys_follow_the_grammar() {
        for good in ["a", "a-b_c.d", "com.example/key", "com.ex-ample/", "x/1", "traceparent"] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/a",
            ".com/a",
            "com./a",
            "1com/a",
            "com-/a",
            "com.example/-a",
            "a_",
            "a b",
            "é",
            "a/b/c",
        ] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
    }

    // spec: META-4
    #[test]
    fn every_prefix_that_we_write_begins_with_the_top_of_its_domain() {
        let constants = include_str!("meta.rs").lines().filter_map(|line| {
            line.trim().strip_prefix("pub const ")?.split_once(": &str = \"")?.1.strip_suffix("\";")
        });
        let extensions = [crate::ext::tasks::IDENTIFIER, crate::ext::apps::IDENTIFIER];
        let prefixed = constants.chain(extensions).filter_map(|key| key.split_once('/'));
        let prefixes: Vec<_> = prefixed.map(|(prefix, _)| prefix).collect();
        assert!(prefixes.len() >= 10, "{prefixes:?}");
        assert!(prefixes.iter().all(|it| *it == "io.modelcontextprotocol"), "{prefixes:?}");
    }

    // spec: META-9, META-10
    #[test]
    fn keys_of_the_protocol_cannot_be_set_by_hand() {
        for reserved in [key::PROGRESS_TOKEN, key::RELATED_TASK, key::MODEL_IMMEDIATE_RESPONSE] {
            assert!(Meta::new().set(reserved, &1).is_err(), "{reserved}");
        }
    }

    // spec: META-5, META-6
    #[test]
    fn own_keys_cannot_use_a_reserved_prefix() {
        for reserved in ["io.modelcontextprotocol/x", "dev.mcp/x", "com.mcp.tools/x"] {
            assert!(Meta::new().set(reserved, &1).is_err(), "{reserved}");
        }
        for free in ["com.example.mcp/x", "mcp/x", "x"] {
            assert!(Meta::new().set(free, &1).is_ok(), "{free}");
        }
    }

    // spec: META-11
    #[test]
    fn trace_keys_hold_what_tracing_systems_can_read() {
        let mut meta = Meta::new();
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(meta.set("traceparent", parent), Ok(()));
        assert_eq!(meta.set("tracestate", "congo=1"), Ok(()));
        assert_eq!(meta.set("baggage", "user=ann"), Ok(()));
        for (key, value) in [("traceparent", "1"), ("tracestate", "A"), ("baggage", "a b")] {
            assert!(meta.set(key, value).is_err(), "{key}");
        }
        assert!(meta.set("traceparent", &7).is_err());
    }

    #[test]
    fn null_is_an_empty_map() {
        assert_eq!(serde_json::from_str::<Meta>("null").unwrap(), Meta::new());
    }

    // spec: META-1
    #[test]
    fn values_of_any_kind_are_kept() {
        let text = r#"{"com.example/odd":[1.0,null],"io.modelcontextprotocol/new":{"b":1,"a":2}}"#;
        round_trip::<Meta>(text);
    }
}
