//! The cookies of one server, as the user's browser keeps them for a login.

use bytes::Bytes;
use http::Response;
use http::header::{HeaderValue, SET_COOKIE};

/// Cookies by name. Their paths and ages are not read: a login is over in a moment.
#[derive(Default)]
pub(super) struct CookieJar(Vec<(String, String)>);

impl CookieJar {
    /// Takes the cookies of an answer. A cookie without a value removes an earlier one.
    pub(super) fn keep(&mut self, answer: &Response<Bytes>) {
        for cookie in answer.headers().get_all(SET_COOKIE) {
            let text = cookie.to_str().unwrap_or_default();
            let pair = text.split(';').next().unwrap_or_default();
            let Some((name, value)) = pair.split_once('=') else { continue };
            self.0.retain(|(known, _)| known != name.trim());
            if !value.is_empty() {
                self.0.push((name.trim().to_owned(), value.to_owned()));
            }
        }
    }

    /// The value of the `Cookie` header, if there are any.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let pairs: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        HeaderValue::try_from(pairs.join("; ")).ok().filter(|_| !pairs.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_kept_replaced_and_removed() {
        let mut jar = CookieJar::default();
        assert_eq!(jar.header(), None);
        let mut answer = |cookies: &[&str]| {
            let builder = Response::builder();
            let builder = cookies.iter().fold(builder, |it, cookie| it.header(SET_COOKIE, *cookie));
            jar.keep(&builder.body(Bytes::new()).unwrap());
            jar.header().map(|header| header.to_str().unwrap().to_owned())
        };
        assert_eq!(answer(&["a=1; Path=/", "b=2"]).as_deref(), Some("a=1; b=2"));
        assert_eq!(answer(&["a=3; HttpOnly", "b=; Max-Age=0"]).as_deref(), Some("a=3"));
    }
}
