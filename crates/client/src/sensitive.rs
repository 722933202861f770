//! Guesses whether a text asks for a secret.
//!
//! Servers must not ask for secrets in a form, because its content passes through the client and may
//! reach the model. This is a guess, on which a user can be warned.

/// English words and phrases that name a secret.
const SECRETS: [&str; 24] = [
    "access key",
    "account number",
    "api key",
    "api token",
    "auth token",
    "card number",
    "credential",
    "credentials",
    "credit card",
    "cvc",
    "cvv",
    "one time code",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "private key",
    "secret",
    "social security",
    "ssn",
    "token",
];

/// Whether a text names a secret as a whole word, in any spelling: `apiKey`, `API_KEY`, `Your API
/// key`.
pub(crate) fn names_a_secret(text: &str) -> bool {
    let words = format!(" {} ", words(text).join(" "));
    SECRETS.iter().any(|secret| words.contains(&format!(" {secret} ")))
}

/// The words of a text or an identifier, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let humps_up = before.is_lowercase() && letter.is_uppercase();
        let acronym_ends = before.is_uppercase()
            && letter.is_uppercase()
            && letters.peek().is_some_and(|next| next.is_lowercase());
        if !letter.is_alphanumeric() || humps_up || acronym_ends {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_however_it_is_spelled() {
        for text in [
            "password",
            "Your password, please",
            "db_password",
            "apiKey",
            "APIKey",
            "API_KEY",
            "Enter the API key of your account.",
            "githubToken",
            "creditCardNumber",
            "CVV",
        ] {
            assert!(names_a_secret(text), "{text}");
        }
    }

    #[test]
    fn a_part_of_another_word_is_not_a_secret() {
        for text in ["", "tokenizer", "maxTokens", "pinned", "Secretary of the board", "keyboard"] {
            assert!(!names_a_secret(text), "{text}");
        }
    }
}
