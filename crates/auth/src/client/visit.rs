//! How the user reaches a page of the authorization server, and how the answer comes back.

use futures_core::future::BoxFuture;

use super::open::BrowserUrl;
use super::plan::{Opener, Paster, REDIRECT_PATH};
use crate::error::Error;
use crate::secret::Secret;
use crate::url::Url;

/// Brings the user to pages.
pub trait Visitor: Send + Sync + 'static {
    /// Prepares to receive an answer, at this port if one is given and it is free.
    ///
    /// # Errors
    ///
    /// If no answer can be received.
    fn prepare(&self, port: Option<u16>) -> BoxFuture<'_, Result<Box<dyn PageVisit>, Error>>;
}

/// One visit of the user.
pub trait PageVisit: Send {
    /// Where the authorization server must send the browser with its answer.
    fn redirect(&self) -> &Url;

    /// Shows the page. The redirect URI is [`redirect`](Self::redirect), perhaps with the host
    /// `localhost` instead.
    ///
    /// # Errors
    ///
    /// If the page cannot be shown.
    fn show<'a>(
        &'a mut self,
        page: &'a BrowserUrl,
        redirect: &'a Url,
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Waits for the next answer: the query with which the browser came back, or `None` if the user
    /// gave up. An answer may be a forgery; then this is called again.
    ///
    /// # Errors
    ///
    /// If no answer can be received any more.
    fn answer(&mut self) -> BoxFuture<'_, Result<Option<Secret<String>>, Error>>;
}

/// The way in which a plan opens pages, for a [`Visitor`] that listens on this machine.
#[derive(Clone)]
pub struct PageOpener(pub(crate) Opener);

impl PageOpener {
    /// Opens a page.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(&self, page: BrowserUrl) -> BoxFuture<'static, Result<(), Error>> {
        (self.0)(page)
    }
}

impl std::fmt::Debug for PageOpener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PageOpener")
    }
}

/// Lets the user paste the address of the last page.
pub(crate) struct PasteVisitor(pub(crate) Paster);

struct PasteVisit {
    paster: Paster,
    redirect: Url,
    page: Option<BrowserUrl>,
}

impl Visitor for PasteVisitor {
    fn prepare(&self, port: Option<u16>) -> BoxFuture<'_, Result<Box<dyn PageVisit>, Error>> {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let redirect = Url::parse(&format!("http://127.0.0.1{port}{REDIRECT_PATH}"));
        let paster = self.0.clone();
        Box::pin(async move {
            let visit = PasteVisit { paster, redirect: redirect?, page: None };
            Ok(Box::new(visit) as Box<dyn PageVisit>)
        })
    }
}

impl PageVisit for PasteVisit {
    fn redirect(&self) -> &Url {
        &self.redirect
    }

    fn show<'a>(
        &'a mut self,
        page: &'a BrowserUrl,
        _redirect: &'a Url,
    ) -> BoxFuture<'a, Result<(), Error>> {
        self.page = Some(page.clone());
        Box::pin(async { Ok(()) })
    }

    fn answer(&mut self) -> BoxFuture<'_, Result<Option<Secret<String>>, Error>> {
        Box::pin(async move {
            let Some(page) = &self.page else { return Ok(None) };
            let pasted = (self.paster)(page.clone()).await.map(Secret::new);
            Ok(pasted.map(|pasted| Secret::from(query_of(pasted.expose()))))
        })
    }
}

/// The query of an address, or the whole text if it is a query alone.
fn query_of(text: &str) -> &str {
    let text = text.trim();
    let query = text.split_once('?').map_or(text, |(_, query)| query);
    query.split('#').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_query_can_be_pasted() {
        for text in [
            "http://127.0.0.1/callback?code=a&state=b",
            " http://127.0.0.1/callback?code=a&state=b#_=_\n",
            "code=a&state=b",
            "?code=a&state=b",
        ] {
            assert_eq!(query_of(text), "code=a&state=b");
        }
    }
}
