//! Which names are those of secrets: of headers, query parameters and variables, and of fields.
//!
//! A name is a guess. The value of a header that is taken for a credential is missing in errors; the
//! value of any other one may be shown in them. For fields the guess errs on the safe side: a form
//! cannot ask for a field with such a name, and a log shows `[redacted]`; the other mistake would show a
//! password to a model.

/// The ends of names of secrets, so that `apiKey` and `PGPASSWORD` count too.
const ENDINGS: [&str; 12] = [
    "accesskey",
    "apikey",
    "authorization",
    "credential",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];

/// Further ends of words in names of credentials.
const CREDENTIALS: [&str; 2] = ["authkey", "cookie"];

/// Further ends of names of fields, which may hold more than credentials.
const FIELDS: [&str; 6] = ["cardnumber", "credentials", "creditcard", "cvc", "cvv", "signingkey"];

/// Words of which the name of a credential has one, between `_`, `-` and other separators.
const WORDS: [&str; 16] = [
    "auth",
    "bearer",
    "cookies",
    "credentials",
    "jwt",
    "key",
    "keys",
    "pass",
    "passwords",
    "pat",
    "pwd",
    "sas",
    "secrets",
    "sig",
    "signature",
    "tokens",
];

/// Last words of names that tell something about a credential: where it is, or of which kind.
const ABOUT: [&str; 29] = [
    "algorithm",
    "audience",
    "count",
    "dir",
    "directory",
    "domain",
    "endpoint",
    "expiry",
    "file",
    "host",
    "id",
    "issuer",
    "length",
    "level",
    "limit",
    "method",
    "mode",
    "name",
    "path",
    "provider",
    "scheme",
    "scope",
    "sock",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "user",
];

/// First words of names of keys that are no secret, and of limits.
const PUBLIC: [&str; 4] = ["idempotency", "max", "public", "publishable"];

/// Whether the value of this header, query parameter or variable is a credential.
///
/// ```
/// use bowline_proto::secrets::names_a_credential;
///
/// for name in ["Authorization", "Cookie", "X-Api-Key", "GITHUB_PAT", "accessToken", "PGPASSWORD"] {
///     assert!(names_a_credential(name), "{name}");
/// }
/// for name in ["HOME", "PATH", "PROJECT", "LOG_LEVEL", "MAX_TOKENS", "TOKEN_URL", "SSH_AUTH_SOCK"] {
///     assert!(!names_a_credential(name), "{name}");
/// }
/// ```
pub fn names_a_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.map(|word| word.trim_end_matches(|letter: char| letter.is_ascii_digit()));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let endings = ENDINGS.iter().chain(&CREDENTIALS);
    let is_credential =
        |word: &&str| WORDS.contains(word) || endings.clone().any(|ending| word.ends_with(ending));
    let is_named = match name.as_str() {
        // Functions of Azure take their key as `code`.
        "code" => true,
        // The working directory.
        "pwd" => false,
        _ => words.iter().any(is_credential),
    };
    is_named && !ABOUT.contains(last) && !PUBLIC.contains(first)
}

/// Whether a field with this name holds a secret, however it is spelled: `apiKey`, `db_password`.
///
/// ```
/// use bowline_proto::secrets::names_a_secret;
///
/// assert!(names_a_secret("dbPassword") && names_a_secret("cardNumber"));
/// assert!(!names_a_secret("tokens"));
/// ```
pub fn names_a_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    ENDINGS.iter().chain(&FIELDS).any(|ending| plain.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_known_by_a_word_of_its_name() {
        for name in [
            "authorization",
            "Proxy-Authorization",
            "cookie",
            "Private-Token",
            "DD-APPLICATION-KEY",
            "Ocp-Apim-Subscription-Key",
            "key",
            "api_key",
            "apiKey",
            "access_token",
            "code",
            "sig",
            "KEY",
            "DB_PASS",
            "MYSQL_PWD",
            "OPENAI_API_KEY_2",
            "TOKEN1",
            "AWS_SECRET_ACCESS_KEY",
            "SECRET_KEY_BASE",
            "GOOGLE_CREDENTIALS_JSON",
            "BASIC_AUTH",
            "API_TOKENS",
            "AUTH_HEADER",
            "api_keys",
        ] {
            assert!(names_a_credential(name), "{name}");
        }
    }

    // spec: ELIC-8, LOG-12
    #[test]
    fn a_secret_is_known_by_the_end_of_its_name() {
        for name in ["password", "dbPassword", "API_KEY", "github-token", "cardNumber", "CVV"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["", "name", "tokens", "passwordless", "secretary", "monkey"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_and_names_about_a_credential_are_no_credentials() {
        for name in [
            "",
            "_",
            "HOME",
            "PATH",
            "PWD",
            "LOG_LEVEL",
            "PROJECT",
            "X-MCP-Toolsets",
            "MCP-Protocol-Version",
            "User-Agent",
            "GIT_AUTHOR_NAME",
            "KEYBOARD",
            "TOKENIZER",
            "COMPASS",
            "PATTERN",
            "MAX_TOKENS",
            "max_output_tokens",
            "PUBLIC_KEY",
            "Idempotency-Key",
            "AWS_ACCESS_KEY_ID",
            "PASSWORD_FILE",
            "AUTH_MODE",
            "LANG_CODE",
            "project",
        ] {
            assert!(!names_a_credential(name), "{name}");
        }
    }
}
