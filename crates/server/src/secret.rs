//! Names of secrets: forms must not ask for them, and logs must not hold them.
//!
//! The names are a guess that errs on the safe side. Where it guesses wrong, a form cannot ask for
//! a field of that name, or a log shows `[redacted]`; the other mistake would show a password to a
//! model.

use bowline_types::json::RawJson;
use serde_json::Value;

/// The endings of names of secrets, in lower case and without `_` and `-`.
const SECRETS: [&str; 18] = [
    "accesskey",
    "apikey",
    "authorization",
    "cardnumber",
    "credential",
    "credentials",
    "creditcard",
    "cvc",
    "cvv",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "signingkey",
    "token",
];

/// Replaces the value of a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// Whether a name is that of a secret, however it is spelled: `apiKey`, `db_password`.
pub(crate) fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    SECRETS.iter().any(|secret| plain.ends_with(secret))
}

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
            if is_secret(name) {
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

    // spec: ELIC-8, LOG-12
    #[test]
    fn a_secret_is_known_by_its_name() {
        for name in ["password", "dbPassword", "API_KEY", "github-token", "cardNumber", "CVV"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["", "name", "tokens", "passwordless", "secretary", "monkey"] {
            assert!(!is_secret(name), "{name}");
        }
    }

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
