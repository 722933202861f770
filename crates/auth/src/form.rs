//! Names and values as `application/x-www-form-urlencoded`: queries, and bodies for a token endpoint.

use std::fmt;

use crate::error::{Error, Kind};
use crate::secret::Secret;

/// The most bytes of an encoded form.
pub const MOST_FORM: usize = 64 * 1024;
/// The most members of a form that is read.
pub const MOST_MEMBERS: usize = 100;

/// The media type of an encoded form.
pub const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";

/// Names and values in order. Values may be secrets, so they are never printed, and they are erased
/// when the form is dropped.
#[derive(Clone, Default)]
pub struct Form(Vec<(String, Secret<String>)>);

impl Form {
    /// A form without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), Secret::from(value)));
        self
    }

    /// Adds a member if there is a value.
    #[must_use]
    pub fn with_optional(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Reads an encoded form, such as the query of a redirect.
    ///
    /// # Errors
    ///
    /// If it is too long, has too many members, or a value is not UTF-8.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MOST_FORM {
            return Err(Error::too_large("a form", MOST_FORM, "bytes"));
        }
        let mut form = Self::new();
        for member in text.split('&').filter(|member| !member.is_empty()) {
            if form.0.len() == MOST_MEMBERS {
                return Err(Error::too_large("a form", MOST_MEMBERS, "members"));
            }
            let (name, value) = member.split_once('=').unwrap_or((member, ""));
            form.0.push((decode(name)?, Secret::from(decode(value)?)));
        }
        Ok(form)
    }

    /// The value of a member.
    ///
    /// # Errors
    ///
    /// If the form has the member twice: two readers might take different ones.
    pub fn value(&self, name: &str) -> Result<Option<&str>, Error> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let first = values.next();
        match values.next() {
            Some(_) => Err(Error::new(Kind::Form, format!("the form has `{name}` more than once"))),
            None => Ok(first.map(|(_, value)| value.expose().as_str())),
        }
    }

    /// Whether the form has a member.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The encoded form.
    pub fn encode(&self) -> Secret<String> {
        let mut text = String::new();
        for (index, (name, value)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push('&');
            }
            encode(name, &mut text);
            text.push('=');
            encode(value.expose(), &mut text);
        }
        Secret::new(text)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Appends a text in encoded form. HTTP basic authentication needs it too.
pub(crate) fn encode(text: &str, to: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => {
                to.push(byte.into());
            }
            b' ' => to.push('+'),
            _ => {
                to.push('%');
                to.push(HEX[usize::from(byte >> 4)].into());
                to.push(HEX[usize::from(byte & 15)].into());
            }
        }
    }
}

/// Reads an encoded text. A `%` without two hexadecimal digits stands for itself, as in browsers.
fn decode(text: &str) -> Result<String, Error> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match (byte, digit(bytes.get(at)), digit(bytes.get(at + 1))) {
            (b'+', ..) => decoded.push(b' '),
            (b'%', Some(high), Some(low)) => {
                decoded.push(
                    u8::try_from(high * 16 + low).expect("two hexadecimal digits are a byte"),
                );
                at += 2;
            }
            _ => decoded.push(*byte),
        }
    }
    String::from_utf8(decoded)
        .map_err(|_| Error::new(Kind::Form, "a member of the form is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_are_written_and_read_back() {
        let form = Form::new().with("scope", "a b").with("x", "é&=+%").with_optional("y", None);
        assert_eq!(form.encode().expose(), "scope=a+b&x=%C3%A9%26%3D%2B%25");
        let read = Form::parse(form.encode().expose()).unwrap();
        assert_eq!(
            (read.value("scope").unwrap(), read.value("x").unwrap()),
            (Some("a b"), Some("é&=+%"))
        );
        assert_eq!((read.value("y").unwrap(), read.has("y"), read.has("x")), (None, false, true));
    }

    #[test]
    fn a_member_that_stands_twice_has_no_value() {
        let form = Form::parse("state=a&code=x&state=a").unwrap();
        assert_eq!(form.value("code").unwrap(), Some("x"));
        assert!(form.value("state").unwrap_err().to_string().contains("`state` more than once"));
    }

    #[test]
    fn forms_are_bounded() {
        assert!(Form::parse(&"a".repeat(MOST_FORM)).is_ok());
        assert!(Form::parse(&"a".repeat(MOST_FORM + 1)).unwrap_err().is_too_large());
        assert!(Form::parse(&"a&".repeat(MOST_MEMBERS)).is_ok());
        assert!(Form::parse(&"a&".repeat(MOST_MEMBERS + 1)).unwrap_err().is_too_large());
        assert!(Form::parse("a=%ff").is_err());
    }

    #[test]
    fn debug_shows_names_only() {
        assert_eq!(format!("{:?}", Form::new().with("code", "canary")), r#"["code"]"#);
    }

    proptest! {
        #[test]
        fn every_text_survives(name in ".*", value in ".*") {
            let form = Form::parse(Form::new().with(&name, &value).encode().expose()).unwrap();
            prop_assert_eq!(form.value(&name).unwrap(), Some(value.as_str()));
        }

        #[test]
        fn forms_read_like_those_of_the_crate_url(text in "[a-z%0-9fF+&=é]{0,24}") {
            let theirs: Vec<_> = ::url::form_urlencoded::parse(text.as_bytes()).into_owned().collect();
            match Form::parse(&text) {
                Ok(ours) => {
                    let ours = ours.0.iter().map(|(name, value)| (name.clone(), value.expose().clone()));
                    prop_assert_eq!(ours.collect::<Vec<_>>(), theirs);
                }
                // The other one replaces what is not UTF-8.
                Err(_) => {
                    let is_replaced = |text: &String| text.contains(char::REPLACEMENT_CHARACTER);
                    let has_replaced = theirs.iter().any(|(name, value)| is_replaced(name) || is_replaced(value));
                    prop_assert!(has_replaced);
                }
            }
        }
    }
}
