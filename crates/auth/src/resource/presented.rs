//! Takes the token out of the head of a request.

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;

use super::verify::Presented;
use crate::jose::jws::MOST_TOKEN;

/// How a request presents its token.
#[derive(Debug)]
pub(super) enum Credential {
    /// Not at all.
    Absent,
    /// The token alone.
    Bearer(Presented),
    /// The token with a proof that the caller has a key.
    Bound(Presented),
}

/// A request that presents a token in a wrong way. The text is for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidRequest(pub(super) &'static str);

/// Finds the token of a request.
///
/// # Errors
///
/// If there are two, it is too long or malformed, or the URL holds one.
pub(super) fn credential(head: &Parts) -> Result<Credential, InvalidRequest> {
    if head.uri.query().is_some_and(has_token) {
        return Err(InvalidRequest("a token must not be part of the URL"));
    }
    let Some(value) = one(&head.headers)? else { return Ok(Credential::Absent) };
    let malformed = InvalidRequest("the Authorization header is malformed");
    let text = value.to_str().map_err(|_| malformed)?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
    // Another scheme, such as Basic, is no token.
    if !is_bearer && !scheme.eq_ignore_ascii_case("DPoP") {
        return Ok(Credential::Absent);
    }
    let token = token.trim_start_matches(' ');
    if token.len() > MOST_TOKEN {
        return Err(InvalidRequest("the access token is too long"));
    }
    if !is_token68(token) {
        return Err(malformed);
    }
    let token = Presented::new(token);
    Ok(if is_bearer { Credential::Bearer(token) } else { Credential::Bound(token) })
}

/// The one `Authorization` header.
fn one(headers: &HeaderMap) -> Result<Option<&HeaderValue>, InvalidRequest> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        _ => Err(InvalidRequest("there is more than one Authorization header")),
    }
}

/// The characters that a token may have in a header, with `=` only at its end.
fn is_token68(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    !body.is_empty() && body.bytes().all(|byte| TOKEN68[usize::from(byte)])
}

/// For each byte, whether it may be in a token. A table, because every byte of every request's token
/// is looked up.
const TOKEN68: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let is_mark = matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
        table[byte as usize] = byte.is_ascii_alphanumeric() || is_mark;
        byte += 1;
    }
    table
};

/// Whether a query holds a token, as OAuth once allowed.
fn has_token(query: &str) -> bool {
    let mut names = query.split('&').map(|member| member.split('=').next().unwrap_or_default());
    names.any(|name| name == "access_token")
}
