//! Sends the user to a web page, for what must not pass through the client.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::{Outbox, Outgoing};
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::{ElicitParams, UrlElicitationRequired, UrlParams};
use bowline_types::error::{ErrorObject, code};
use bowline_types::input::InputRequest;

use super::{Ask, AskError, Asking, Misread, Unsupported, form};
use crate::call::Call;
use crate::error::Error;
use crate::secret::is_secret;

impl Ask {
    /// Asks the user to visit a page, for what must not pass through the client: to sign in
    /// somewhere, to enter a key, to pay.
    ///
    /// The answer is the user's consent and no more. Whether anything was done on the page is for
    /// the page to find out, and so is whether the visitor is the user who was asked: put a
    /// [`ticket`](Self::ticket) into the URL. When it is done, a client of 2025-11-25 can be told by
    /// [`Visit::complete`].
    ///
    /// The URL is `https`, or `http` on this machine; it holds no secrets and signs nobody in.
    ///
    /// # Errors
    ///
    /// If the user declines, the client sends its user to no pages, or the URL breaks these rules.
    pub fn url(&self, message: impl Into<String>, url: impl Into<String>) -> Asking<Visit> {
        match Visit::new(self, message, url) {
            Ok(visit) => self
                .put(visit.question(), move |answer| form::accepted(answer).map(|_| visit.clone())),
            Err(error) => Asking::of(async { Err(error) }),
        }
    }
}

/// A page that the user is to visit, or agreed to.
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
    page: UrlParams,
    outbox: Outbox,
}

impl Visit {
    /// A page to visit, before anybody is asked. [`Ask::url`] asks at once.
    ///
    /// # Errors
    ///
    /// If the URL is none that a user may be sent to, or the operating system gives no randomness.
    pub fn new(
        ask: &Ask,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Self, AskError> {
        let mut page = UrlParams::new(message, url);
        check(&page).map_err(AskError::Unaskable)?;
        let parts = ask.0.parts();
        if parts.revision.has_elicitation_ids() {
            let mut id = [0; 16];
            getrandom::fill(&mut id).map_err(|error| AskError::Unaskable(error.to_string()))?;
            page = page.with_elicitation_id(URL_SAFE_NO_PAD.encode(id));
        }
        Ok(Self { page, outbox: parts.outbox.clone() })
    }

    /// The URL of the page.
    pub fn url(&self) -> &str {
        &self.page.url
    }

    /// Tells the client that was asked, and no other, that the user is done with the page. May be
    /// said after the call is over. Only 2025-11-25 has words for it; other clients hear nothing.
    pub async fn complete(&self) {
        if let Some(id) = self.page.elicitation_id.clone() {
            // A client that is gone needs not be told.
            _ = self.outbox.say(Outgoing::ElicitationComplete(id)).await;
        }
    }

    fn question(&self) -> InputRequest {
        ElicitParams::Url(self.page.clone()).into()
    }
}

/// What becomes of a call that cannot go on before the user has visited pages.
///
/// A client of 2025-11-25 is told by an error of its own. Since 2026-07-28 the call is answered with
/// the question, and waits here to be made again; a user who agreed is asked again until the page
/// was really visited.
pub(crate) async fn require(call: Call, visits: Vec<Visit>) -> Error {
    let required = ClientCapabilities::new().with_url_elicitation();
    if let Some(lack) = Unsupported::by(call.parts(), &required) {
        return AskError::Unsupported(Box::new(lack)).into();
    }
    if visits.is_empty() {
        let message = "a page must be visited first, but none is named".to_owned();
        return AskError::Unaskable(message).into();
    }
    if call.rounds().is_none() {
        return refusal(&visits);
    }
    let ask = Ask(call);
    let mut asking: Vec<_> = visits.iter().map(|visit| ask.insist(visit)).collect();
    let error = poll_fn(|cx| {
        let answers = asking.iter_mut().map(|asking| Pin::new(asking).poll(cx));
        let refused = |poll| match poll {
            Poll::Ready(Err(error)) => Some(error),
            Poll::Ready(Ok(())) | Poll::Pending => None,
        };
        // All of them are polled, so that all are asked.
        let refused: Vec<AskError> = answers.filter_map(refused).collect();
        refused.into_iter().next().map_or(Poll::Pending, Poll::Ready)
    });
    error.await.into()
}

impl Ask {
    /// Asks to visit a page for as long as the user agrees to.
    fn insist(&self, visit: &Visit) -> Asking<()> {
        self.put(visit.question(), |answer| {
            form::accepted(answer)?;
            Err(Misread::Unfit("the page was not visited yet".to_owned()))
        })
    }
}

/// The error of 2025-11-25.
fn refusal(visits: &[Visit]) -> Error {
    let messages: Vec<_> = visits.iter().map(|visit| visit.page.message.as_str()).collect();
    let pages = visits.iter().map(|visit| visit.page.clone()).collect();
    let message = format!("a page must be visited first: {}", messages.join("; "));
    let error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, message);
    Error::refusal(error.with_data(&UrlElicitationRequired::new(pages)))
}

/// Checks that a user may be sent to a page.
///
/// # Errors
///
/// Says what is wrong, without repeating what may be secret.
fn check(page: &UrlParams) -> Result<(), String> {
    page.check_url().map_err(|error| error.to_string())?;
    let (scheme, rest) = page.url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.len() < authority.len() {
        return Err("an elicitation URL names a user; it must sign nobody in".to_owned());
    }
    if !scheme.eq_ignore_ascii_case("https") && !is_here(host) {
        return Err(format!("the elicitation URL at `{host}` is not `https`"));
    }
    let query = rest.split_once([';', '?', '#']).map_or("", |(_, query)| query);
    let pairs = query.split(['&', ';', '#', '?']);
    let mut names = pairs.map(|pair| pair.split(['=', '/']).next().unwrap_or_default());
    // A bare `token` is what most pages call the number that leads back to their question.
    let is_token = |name: &str| name.eq_ignore_ascii_case("token");
    match names.find(|name| (is_secret(name) && !is_token(name)) || signs_in(name)) {
        Some(name) => Err(format!(
            "the elicitation URL at `{host}` holds a secret in `{name}`; the client and its model \
             could read it"
        )),
        None => Ok(()),
    }
}

/// Whether a parameter of this name signs in everybody who opens the URL, without being a secret of
/// the user's: the signatures of storage services, and the sessions of web frameworks.
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
    name.eq_ignore_ascii_case("localhost")
        || name == "[::1]"
        || name.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback())
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
