//! Reads one `WWW-Authenticate` header.
//!
//! Servers write it by hand, so this reader is lenient where the meaning is clear: values need no
//! quotes, and a space may stand where a comma should.

use super::{Challenge, MOST_CHALLENGES, MOST_PARAMETERS};

/// Appends the challenges of a header.
pub(super) fn header(bytes: &[u8], to: &mut Vec<Challenge>) {
    let mut reader = Reader { bytes, at: 0 };
    while to.len() < MOST_CHALLENGES {
        reader.skip_separators();
        let Some(scheme) = reader.token() else { return };
        if !matches!(reader.peek(), None | Some(b' ' | b'\t' | b',')) {
            return;
        }
        match reader.parameters() {
            Some(parameters) if has_names_once(&parameters) => {
                to.push(Challenge { scheme: scheme.to_owned(), parameters });
            }
            Some(_) => {}
            None => return,
        }
    }
}

fn has_names_once(parameters: &[(String, String)]) -> bool {
    let mut names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).all(|pair| pair[0] != pair[1])
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The parameters up to the next challenge. `None` if the header cannot be read on.
    fn parameters(&mut self) -> Option<Vec<(String, String)>> {
        let mut parameters = Vec::new();
        self.skip_spaces();
        // Some schemes have one value without a name instead; no scheme of OAuth does.
        if self.token68() {
            return Some(parameters);
        }
        loop {
            self.skip_separators();
            let Some(name) = self.name() else { return Some(parameters) };
            let value = self.value()?;
            if parameters.len() == MOST_PARAMETERS {
                return None;
            }
            parameters.push((name, value));
        }
    }

    /// A token and the `=` after it. Reads nothing if there is no `=`: the token is a scheme.
    fn name(&mut self) -> Option<String> {
        let start = self.at;
        let name = self.token().map(str::to_ascii_lowercase);
        self.skip_spaces();
        if name.is_some() && self.peek() == Some(b'=') {
            self.at += 1;
            self.skip_spaces();
            return name;
        }
        self.at = start;
        None
    }

    fn value(&mut self) -> Option<String> {
        if self.peek() == Some(b'"') {
            self.at += 1;
            return self.quoted();
        }
        let value = self.take_while(|byte| byte.is_ascii_graphic() && byte != b',' && byte != b'"');
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The rest of a quoted text. `None` if its end is missing or it is not UTF-8.
    fn quoted(&mut self) -> Option<String> {
        let mut value = Vec::new();
        loop {
            let byte = self.next()?;
            match byte {
                b'"' => return String::from_utf8(value).ok(),
                b'\\' => value.push(self.next()?),
                _ => value.push(byte),
            }
        }
    }

    /// Skips one value without a name, if that is all that follows up to a comma or the end.
    fn token68(&mut self) -> bool {
        let start = self.at;
        let is_body = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
        let body = self.take_while(is_body);
        self.take_while(|byte| byte == b'=');
        self.skip_spaces();
        let is_alone = !body.is_empty() && matches!(self.peek(), None | Some(b','));
        if !is_alone {
            self.at = start;
        }
        is_alone
    }

    fn token(&mut self) -> Option<&'a str> {
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        Some(self.take_while(is_token)).filter(|token| !token.is_empty())
    }

    fn skip_spaces(&mut self) {
        self.take_while(|byte| byte == b' ' || byte == b'\t');
    }

    fn skip_separators(&mut self) {
        self.take_while(|byte| byte == b' ' || byte == b'\t' || byte == b',');
    }

    /// Bytes that fulfil a condition which only ASCII can fulfil.
    fn take_while(&mut self, is_wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_wanted(**byte)).count();
        self.at += length;
        std::str::from_utf8(&rest[..length]).unwrap_or_default()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}
