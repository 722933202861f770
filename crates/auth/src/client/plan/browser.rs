//! Login of a user with a browser.

use std::future::Future;
use std::sync::Arc;

use serde::Serialize;

use super::{
    CodeGrant, Credential, DpopUse, Grant, Issuer, PageDelivery, Plan, Preregistered, SharedStore,
};
use crate::client::open::{BrowserUrl, open_in_browser};
use crate::client::store::Store;
use crate::error::{Error, Kind};
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::Url;

/// The path of the redirect URI on this machine.
pub(crate) const REDIRECT_PATH: &str = "/callback";

/// Logs a user in with a browser.
///
/// ```
/// use bowline_auth::client::plan::Browser;
/// use bowline_auth::client::store::FileStore;
///
/// # fn f(dir: std::path::PathBuf) -> Result<(), bowline_auth::error::Error> {
/// let browser = Browser::new("my app").store(FileStore::open(dir)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Browser {
    code: CodeGrant,
    account: String,
    scopes: Scopes,
    dpop: DpopUse,
    store: SharedStore,
}

impl Browser {
    /// The name is what the user reads at the authorization server. Tokens are kept in memory, unless
    /// there is a [`store`](Self::store).
    pub fn new(name: impl Into<String>) -> Self {
        let code = CodeGrant {
            name: name.into(),
            client: None,
            document: None,
            s256_known: Vec::new(),
            page: PageDelivery::Loopback(Arc::new(|page| {
                Box::pin(async move { open_and_print(&page) })
            })),
            port: None,
        };
        let (account, scopes, store) = Default::default();
        Self { code, account, scopes, dpop: DpopUse::WhenAsked, store }
    }

    /// Uses a client id that an authorization server knows already. At another authorization server
    /// the login fails.
    #[must_use]
    pub fn client(mut self, issuer: impl Into<Issuer>, id: impl Into<String>) -> Self {
        let (issuer, id, credential) = (issuer.into(), id.into(), Credential::None);
        self.code.client = Some(Preregistered { issuer, id, credential });
        self
    }

    /// Uses a client id with its secret that an authorization server knows already.
    #[must_use]
    pub fn client_with_secret(
        self,
        issuer: impl Into<Issuer>,
        id: impl Into<String>,
        secret: impl Into<Secret<String>>,
    ) -> Self {
        let mut browser = self.client(issuer, id);
        if let Some(client) = &mut browser.code.client {
            client.credential = Credential::Secret(secret.into());
        }
        browser
    }

    /// Names the `https` URL of a client id metadata document. The URL is the client id at every
    /// authorization server that supports such documents. [`document`](Self::document) writes it.
    #[must_use]
    pub fn metadata_document(mut self, url: impl Into<String>) -> Self {
        self.code.document = Some(url.into());
        self
    }

    /// The client id metadata document to serve at the URL that
    /// [`metadata_document`](Self::metadata_document) names, in JSON.
    ///
    /// # Errors
    ///
    /// If there is no such URL, or it is not an `https` URL with a path.
    pub fn document(&self) -> Result<String, Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            client_id: &'a str,
            client_name: &'a str,
            redirect_uris: [String; 2],
            grant_types: [&'a str; 2],
            response_types: [&'a str; 1],
            token_endpoint_auth_method: &'a str,
            application_type: &'a str,
        }

        let none = || Error::new(Kind::Login, "there is no URL of a metadata document");
        let url = self.code.document.as_deref().ok_or_else(none)?;
        check_document_url(url)?;
        let port = self.code.port.map(|port| format!(":{port}")).unwrap_or_default();
        let document = Document {
            client_id: url,
            client_name: &self.code.name,
            // The port of a redirect to this machine may differ (RFC 8252, section 7.3).
            redirect_uris: ["127.0.0.1", "localhost"]
                .map(|host| format!("http://{host}{port}{REDIRECT_PATH}")),
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            application_type: "native",
        };
        Ok(serde_json::to_string(&document).expect("texts can be written as JSON"))
    }

    /// Keeps records in a store.
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = SharedStore::new(store);
        self
    }

    /// Keeps apart the logins of several users of one program.
    #[must_use]
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.account = account.into();
        self
    }

    /// Receives the answer at this port of this machine. Without it, any free port is used.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.code.port = Some(port);
        self
    }

    /// Opens the page in a way of the program's own. Without it, the page is opened in the user's
    /// browser, and printed to stderr.
    #[must_use]
    pub fn open_with<F, R, E>(mut self, open: F) -> Self
    where
        F: Fn(BrowserUrl) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let failed = |error: E| Error::visit("the page cannot be opened").with_source(error);
        self.code.page = PageDelivery::Loopback(Arc::new(move |page| {
            let opening = open(page);
            Box::pin(async move { opening.await.map_err(failed) })
        }));
        self
    }

    /// Lets the user open the page on any machine. The last page cannot be loaded there; the user
    /// copies its address, and the function returns it, or `None` if the user gives up.
    #[must_use]
    pub fn paste<F, R>(mut self, ask: F) -> Self
    where
        F: Fn(BrowserUrl) -> R + Send + Sync + 'static,
        R: Future<Output = Option<String>> + Send + 'static,
    {
        self.code.page = PageDelivery::Paste(Arc::new(move |page| Box::pin(ask(page))));
        self
    }

    /// Uses stored tokens and renews them, and never begins a login: another program with the same
    /// name and [`store`](Self::store) does that. A call that needs a login fails; its error ends with
    /// the advice, if that is not empty.
    #[must_use]
    pub fn stored_only(mut self, advice: impl Into<String>) -> Self {
        self.code.page = PageDelivery::Never(advice.into());
        self
    }

    /// Asks for these scopes at every login, beside those that the server names.
    #[must_use]
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Insists on tokens that are bound to a key (DPoP). Without it, they are bound if the MCP server
    /// asks for it.
    #[must_use]
    pub fn dpop(mut self) -> Self {
        self.dpop = DpopUse::Always;
        self
    }

    /// Trusts that an authorization server supports PKCE with S256 although its metadata do not say
    /// so. Without that, the login fails.
    #[must_use]
    pub fn s256_known(mut self, issuer: impl Into<String>) -> Self {
        self.code.s256_known.push(issuer.into());
        self
    }
}

impl From<Browser> for Plan {
    fn from(browser: Browser) -> Self {
        let id = browser.code.client.as_ref().map(|client| &client.id);
        Self {
            // In quotes, so that the end of the name is not the beginning of an id.
            client: format!("browser {:?} {id:?}", browser.code.name),
            account: browser.account,
            grant: Grant::Code(Box::new(browser.code)),
            scopes: browser.scopes,
            dpop: browser.dpop,
            store: browser.store,
        }
    }
}

/// Checks the URL of a metadata document.
///
/// # Errors
///
/// If it is not `https`, or has no path.
pub(crate) fn check_document_url(text: &str) -> Result<(), Error> {
    let url = Url::parse(text)?;
    match url.is_https() && url.path() != "/" {
        true => Ok(()),
        false => {
            let text = format!("{url:?} cannot be a client id: it must be `https` and have a path");
            Err(Error::new(Kind::Login, text))
        }
    }
}

/// Opens a page, and prints it for the case that no browser appears.
fn open_and_print(page: &BrowserUrl) -> Result<(), Error> {
    eprintln!("To log in, open this page:\n\n  {page}\n");
    // The user can still open the page by hand.
    let _ = open_in_browser(page);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "https://app.example/client.json";

    // spec: CIMD-4, CIMD-5
    #[test]
    fn the_metadata_document_names_itself_the_client_and_its_redirects() {
        let document = Browser::new("my app").metadata_document(DOCUMENT).document().unwrap();
        let start =
            format!(r#"{{"client_id":"{DOCUMENT}","client_name":"my app","redirect_uris":["#);
        assert!(document.starts_with(&start), "{document}");
        assert!(document.contains(r#""http://127.0.0.1/callback","http://localhost/callback""#));
        assert!(document.contains(r#""application_type":"native""#));
    }

    #[test]
    fn records_of_different_clients_have_different_keys() {
        let plans: [Plan; 3] = [
            Browser::new("app id").into(),
            Browser::new("app").client("https://as.example", "id").into(),
            Browser::new("app").into(),
        ];
        assert_ne!(plans[0].client, plans[1].client);
        assert_ne!(plans[1].client, plans[2].client);
    }

    // spec: CIMD-2, CIMD-3
    #[test]
    fn the_url_of_a_metadata_document_is_https_and_has_a_path() {
        for url in ["http://app.example/x", "https://app.example", "https://app.example/", "x", ""]
        {
            assert!(Browser::new("x").metadata_document(url).document().is_err(), "{url}");
        }
        assert!(Browser::new("x").document().is_err());
    }
}
