//! A web page that the user is to visit, and which pages a user may be sent to.

use bowline_proto::request::{Outbox, Outgoing};
use bowline_proto::secrets::names_a_secret;
use bowline_types::elicitation::{ElicitParams, UrlParams};
use bowline_types::host::is_this_machine;
use bowline_types::input::InputRequest;

/// A page that the user is asked to visit, or has agreed to visit.
///
/// ```
/// use bowline_server::{Ask, Error, Result};
/// use bowline_server::extract::Visit;
///
/// # fn is_signed_in() -> bool { false }
/// async fn mail(ask: Ask) -> Result<&'static str> {
///     if !is_signed_in() {
///         let visit = Visit::new(&ask, "Sign in to your mail", "https://mail.example.com/login")?;
///         // Keep a clone to `complete` it from the page.
///         return Err(Error::url_elicitation_required([visit]));
///     }
///     Ok("no new mail")
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Visit {
    pub(crate) page: UrlParams,
    pub(crate) outbox: Outbox,
}

impl Visit {
    /// The URL of the page.
    pub fn url(&self) -> &str {
        &self.page.url
    }

    /// Notifies the client that was asked, and no other, that the user is done with the page. Works
    /// after the call is over, too. Only 2025-11-25 has a notification for it; for clients of other
    /// revisions this does nothing.
    pub async fn complete(&self) {
        if let Some(id) = self.page.elicitation_id.clone() {
            // If the client is gone, there is nothing to do.
            _ = self.outbox.send(Outgoing::ElicitationComplete(id)).await;
        }
    }

    pub(crate) fn question(&self) -> InputRequest {
        ElicitParams::Url(self.page.clone()).into()
    }
}

/// Checks that a user may be sent to a page.
///
/// # Errors
///
/// Says what is wrong, without repeating what may be secret.
pub(crate) fn check(page: &UrlParams) -> Result<(), String> {
    page.check_url().map_err(|error| error.to_string())?;
    let (scheme, rest) = page.url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.len() < authority.len() {
        return Err("an elicitation URL names a user; it must not sign the visitor in".to_owned());
    }
    if !scheme.eq_ignore_ascii_case("https") && !is_here(host) {
        return Err(format!("the elicitation URL at `{host}` is not `https`"));
    }
    let query = rest.split_once([';', '?', '#']).map_or("", |(_, query)| query);
    let pairs = query.split(['&', ';', '#', '?']);
    let mut names = pairs.map(|pair| pair.split(['=', '/']).next().unwrap_or_default());
    // A bare `token` is what most pages call the number that leads back to their question.
    let is_token = |name: &str| name.eq_ignore_ascii_case("token");
    match names.find(|name| (names_a_secret(name) && !is_token(name)) || signs_in(name)) {
        Some(name) => Err(format!(
            "the elicitation URL at `{host}` holds a secret in `{name}`; the client and its model \
             could read it"
        )),
        None => Ok(()),
    }
}

/// Whether a parameter of this name signs in every visitor who opens the URL, without being a secret
/// of the user: the signatures of storage services, and the sessions of web frameworks.
fn signs_in(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("signature")
        || ["sig", "jwt", "jsessionid", "phpsessid"].contains(&name.as_str())
}

/// Whether a host, with its port, is this machine.
fn is_here(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    is_this_machine(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: ELIC-25, ELIC-59, ELIC-60, ELIC-62
    #[test]
    fn users_are_sent_to_encrypted_pages_that_know_nothing_of_them_yet() {
        let checked = |url: &str| check(&UrlParams::new("Sign in", url));
        for url in [
            "https://example.com",
            "https://example.com/connect?token=one-time&state=x",
            "https://example.com/a;v=1/design?session=7#signatures",
            "http://localhost:3000/",
            "http://127.0.0.1/",
            "http://[::1]:8080/x",
        ] {
            assert_eq!(checked(url), Ok(()), "{url}");
        }
        for url in [
            "",
            "example.com",
            "javascript:alert(1)",
            "https://",
            "http://example.com/",
            "http://localhost.example.com/",
            "https://ann:hunter2@example.com/",
            "https://example.com/?access_token=x",
            "https://example.com/?a=1&API-Key=x",
            "https://example.com/#password=x",
            "https://example.com/#id_token=x",
            "https://example.com/?jwt=x",
            "https://example.com/;jsessionid=x/account",
            "https://store.example.com/a?X-Amz-Date=1&X-Amz-Signature=x",
            "https://store.example.com/a?se=2026-01-01&sig=x",
        ] {
            let reason = checked(url).unwrap_err();
            assert!(!reason.contains("hunter2"), "{reason}");
        }
    }
}
