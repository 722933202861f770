//! Which values of a client are credentials: those of headers, and of parameters in its address, whose
//! names say so.

use bowline_proto::secrets::{Secrets, names_a_credential};
use http::header::{HeaderMap, HeaderValue};

use super::address::Address;

/// The credentials in headers and in the query of the address.
pub(super) fn of(address: &Address, headers: &HeaderMap) -> Secrets {
    let headers = headers.iter().filter(|(name, _)| names_a_credential(name.as_str()));
    let headers = headers.flat_map(|(_, value)| in_header(value));
    let query = address.uri().query().unwrap_or_default();
    let parameters = query.split('&').filter_map(|pair| pair.split_once('='));
    let parameters = parameters.filter(|(name, _)| names_a_credential(name));
    Secrets::new(headers.chain(parameters.map(|(_, value)| value.to_owned())))
}

/// The texts by which a header is recognized.
pub(super) fn in_header(value: &HeaderValue) -> impl Iterator<Item = String> {
    value.to_str().into_iter().flat_map(parts)
}

/// The whole, what follows the scheme of `Authorization`, and the values of cookies.
fn parts(value: &str) -> impl Iterator<Item = String> {
    let after_scheme = value.split_once(' ').map(|(_, rest)| rest.trim());
    let cookies = value.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim()));
    std::iter::once(value).chain(after_scheme).chain(cookies).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(header: &'static str, text: &str) -> String {
        let value = HeaderValue::from_static(header);
        let headers = HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]);
        let address = Address::parse("http://a.example/mcp?key=query-s3cret&x=1").unwrap();
        let mut text = text.to_owned();
        of(&address, &headers).replace(&mut text);
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
