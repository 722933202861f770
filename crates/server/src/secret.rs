//! Takes the values of fields with names of secrets out of logs.

use bowline_proto::secrets::names_a_secret;
use bowline_types::json::RawJson;
use serde_json::Value;

/// Replaces the value of a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// Redacts the values of members with the name of a secret. Text without any stays unchanged, byte
/// for byte. Used for the data of log messages, which clients may store (LOG-12).
pub(crate) fn redact(json: RawJson) -> RawJson {
    if !json.as_str().starts_with(['{', '[']) {
        return json;
    }
    let Ok(mut value) = json.parse::<Value>() else { return json };
    match redact_value(&mut value) {
        true => RawJson::from_value(&value).unwrap_or_default(),
        false => json,
    }
}

/// Whether a value was redacted.
fn redact_value(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => {
            items.iter_mut().fold(false, |redacted, item| redact_value(item) | redacted)
        }
        Value::Object(members) => members.iter_mut().fold(false, |redacted, (name, value)| {
            if names_a_secret(name) {
                *value = REDACTED.into();
                return true;
            }
            redact_value(value) | redacted
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: LOG-10, LOG-12
    #[test]
    fn secrets_are_taken_out_at_any_depth() {
        let redacted = |text: &str| redact(RawJson::from_text(text).unwrap()).to_string();
        let text = r#"{"user":"ann","login":[{"password":"x"}],"token":{"a":1}}"#;
        let expected = r#"{"login":[{"password":"[redacted]"}],"token":"[redacted]","user":"ann"}"#;
        assert_eq!(redacted(text), expected);
        for text in [r#""password""#, r#"{"b": 1.0, "a": []}"#, "7"] {
            assert_eq!(redacted(text), text);
        }
    }
}
