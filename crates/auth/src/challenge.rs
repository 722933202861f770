//! The `WWW-Authenticate` header: what a server asks of a client that may not pass.
//!
//! One header may hold several challenges, and an answer several headers. Commas separate both the
//! challenges and the parameters of a challenge; a word after a comma begins a challenge unless `=`
//! follows it.

mod read;

use std::fmt;

use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

/// The most bytes of all `WWW-Authenticate` headers of an answer. What comes later is not read.
pub const MOST_BYTES: usize = 16 * 1024;
/// The most challenges that are read.
pub const MOST_CHALLENGES: usize = 16;
/// The most parameters of a challenge that are read.
pub const MOST_PARAMETERS: usize = 32;

/// One challenge: a scheme and its parameters.
///
/// ```
/// use bowline_auth::challenge::Challenge;
///
/// let challenge = Challenge::new("Bearer").with("scope", "mcp admin");
/// assert_eq!(challenge.to_string(), r#"Bearer scope="mcp admin""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    scheme: String,
    /// Names in lower case.
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// A challenge without parameters. The scheme is a token: letters, digits and `-`.
    pub fn new(scheme: &str) -> Self {
        Self { scheme: scheme.to_owned(), parameters: Vec::new() }
    }

    /// Adds a parameter. The name is a token.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// Reads the challenges of an answer, in order. A challenge that is malformed or has a parameter
    /// twice is left out, and so is the rest of a header that cannot be read on.
    pub fn read(headers: &HeaderMap) -> Vec<Self> {
        let mut challenges = Vec::new();
        let mut left = MOST_BYTES;
        for value in headers.get_all(WWW_AUTHENTICATE) {
            let Some(rest) = left.checked_sub(value.len()) else { break };
            left = rest;
            read::header(value.as_bytes(), &mut challenges);
        }
        challenges
    }

    /// Whether this is the scheme. Schemes are case-insensitive.
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// The scheme as it was written.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The value of a parameter, whose name is given in lower case.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The challenge as the value of a header.
    pub fn to_header(&self) -> HeaderValue {
        HeaderValue::try_from(self.to_string()).expect("a challenge is printable ASCII")
    }
}

impl fmt::Display for Challenge {
    /// Values are quoted; what is not printable ASCII becomes `?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme)?;
        for (index, (name, value)) in self.parameters.iter().enumerate() {
            write!(f, "{} {name}=\"", if index == 0 { "" } else { "," })?;
            for character in value.chars() {
                match character {
                    '"' | '\\' => write!(f, "\\{character}")?,
                    ' '..='~' => write!(f, "{character}")?,
                    _ => f.write_str("?")?,
                }
            }
            f.write_str("\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod www_authenticate;
