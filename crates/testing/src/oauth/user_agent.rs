//! The user at the browser: opens the page of the authorization server and decides.

use std::fmt;

use bowline_auth::form::Form;
use bowline_auth::url::Url;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::Response;
use http::header::LOCATION;

use super::cookie_jar::CookieJar;
use super::loopback_http::{self, VisitError};

/// The most redirects of an authorization server to itself.
const MOST_REDIRECTS: usize = 10;

/// A user that approves or denies every login, and the browser that the user sits at.
///
/// It works with other authorization servers too, if they are on this machine and sign the user in
/// without a page: it keeps their cookies, and follows their redirects until one leads elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UserAgent {
    /// The user approves.
    Approves,
    /// The user denies.
    Denies,
}

impl UserAgent {
    /// Opens the page of a login, decides, and goes back to the client.
    ///
    /// # Errors
    ///
    /// If the page is an error or is not on this machine, or the client does not listen.
    pub async fn open(self, page: &str) -> Result<(), VisitError> {
        let back = self.decide(page).await?;
        let back = Url::parse(&back)
            .map_err(|_| VisitError::new("the server redirected to something else than a URL"))?;
        loopback_http::get(&back, &mut CookieJar::default()).await.map(drop)
    }

    /// Opens the page of a login, decides, and gives the URL that the browser would go back to, as a
    /// user can copy it. Nothing is sent to the client.
    ///
    /// # Errors
    ///
    /// If the page is an error or is not on this machine.
    pub async fn decide(self, page: &str) -> Result<String, VisitError> {
        let mut jar = CookieJar::default();
        let mut page = Url::parse(page).map_err(|_| VisitError::new("the page is no URL"))?;
        let mut answer = loopback_http::get(&page, &mut jar).await?;
        for _ in 0..MOST_REDIRECTS {
            let Some(next) = location(&answer, &page) else { break };
            match Url::parse(&next) {
                Ok(url) if url.is_same_origin(&page) => page = url,
                _ => return Ok(next),
            }
            answer = loopback_http::get(&page, &mut jar).await?;
        }
        let (action, ticket) = form_of(&answer).ok_or_else(|| {
            let status = answer.status();
            VisitError::new(format!("the page of the authorization server has status {status}"))
        })?;
        let decision = match self {
            Self::Approves => "approve",
            Self::Denies => "deny",
        };
        let form = Form::new().with("ticket", &ticket).with("decision", decision);
        let answer = loopback_http::post(&action, &form, &mut jar).await?;
        location(&answer, &action).ok_or_else(|| VisitError::new("the decision was refused"))
    }

    /// The same as a function, for a client that wants to be given an opener of pages.
    pub(super) fn opener<P: fmt::Display>(
        self,
    ) -> impl Fn(P) -> BoxFuture<'static, Result<(), VisitError>> + Clone + Send + Sync + 'static
    {
        move |page: P| {
            let page = page.to_string();
            Box::pin(async move { self.open(&page).await })
        }
    }
}

/// Where an answer redirects to, as an absolute URL.
fn location(answer: &Response<Bytes>, page: &Url) -> Option<String> {
    let url = answer.headers().get(LOCATION)?.to_str().ok()?;
    let origin = if url.starts_with('/') { page.origin() } else { String::new() };
    answer.status().is_redirection().then(|| format!("{origin}{url}"))
}

/// The address and the ticket of the form on a page.
fn form_of(answer: &Response<Bytes>) -> Option<(Url, String)> {
    let page = std::str::from_utf8(answer.body()).ok()?;
    let after = |mark: &str| {
        let (_, rest) = page.split_once(mark)?;
        rest.split('"').next()
    };
    let action = Url::parse(after("action=\"")?).ok()?;
    Some((action, after("name=ticket value=\"")?.to_owned()))
}
