//! The user at the browser: opens the page of the authorization server and decides.

use std::fmt;

use bowline_auth::form::Form;
use bowline_auth::url::Url;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::Response;
use http::header::LOCATION;

use super::loopback_http::{self, VisitError};

/// A user that approves or denies every login, and the browser that the user sits at.
///
/// It gets pages of this machine only, and follows redirects only within it.
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
        loopback_http::get(&back).await.map(drop)
    }

    /// Opens the page of a login, decides, and gives the URL that the browser would go back to, as a
    /// user can copy it. Nothing is sent to the client.
    ///
    /// # Errors
    ///
    /// If the page is an error or is not on this machine.
    pub async fn decide(self, page: &str) -> Result<String, VisitError> {
        let page = Url::parse(page).map_err(|_| VisitError::new("the page is no URL"))?;
        let answer = loopback_http::get(&page).await?;
        if let Some(back) = location(&answer) {
            return Ok(back);
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
        let answer = loopback_http::post(&action, &form).await?;
        location(&answer).ok_or_else(|| VisitError::new("the decision was refused"))
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

fn location(answer: &Response<Bytes>) -> Option<String> {
    let url = answer.headers().get(LOCATION)?.to_str().ok()?;
    answer.status().is_redirection().then(|| url.to_owned())
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
