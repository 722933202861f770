//! Logins that all commands and all instances of this program share.
//!
//! Tokens are in files that only the user can read, in the user's data folder, or in the keyring of
//! the system. `bowline login` writes them; every other command uses and renews them, and never
//! opens a page by itself.
//!
//! * `target_login`: the login of one target;
//! * `known`: the list of the servers, with how to log in at each;
//! * `store`: tokens in files;
//! * `keyring`: tokens in the keyring of the system, a cargo feature.

#[cfg(feature = "keyring")]
mod keyring;
pub(crate) mod known;
pub(crate) mod store;
mod target_login;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once};

use bowline::auth::{Browser, Issuer, LoginStatus, Machine, Scopes, Secret, ServerLogin, Store};
use bowline_gateway::ServerCredential;
use bowline_ops::folders;
use bowline_types::text::shown_url;

use self::known::{KnownServer, LoginMethod, RegisteredClient};
use self::store::{LoginStore, TokenPlace};
pub(crate) use self::target_login::TargetLogin;
use crate::exit::{Exit, Failure};
use crate::print::{self, TerminalText, line, text};

/// The name that the user reads at authorization servers. It is part of the keys of stored tokens.
pub(crate) const CLIENT_NAME: &str = "bowline";

/// What authorizes the requests to a server.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// The tokens of a login, renewed when they expire.
    Login(ServerLogin),
    /// A token that another program keeps in a file.
    Token(Secret<String>),
}

impl Credential {
    /// What a client needs to connect.
    pub(crate) fn for_client(&self) -> ServerCredential {
        match self {
            Self::Login(login) => ServerCredential::Login(Arc::new(login.clone())),
            Self::Token(token) => ServerCredential::Header(bearer(token)),
        }
    }
}

/// What a command does with the login at a server.
pub(crate) enum LoginMode {
    /// Uses stored tokens, and opens no page. If there are none, the error contains this advice.
    StoredOnly(String),
    /// Logs in if necessary: with this browser, and for these scopes.
    Interactive(Box<dyn FnOnce(Browser) -> Browser + Send>, Scopes),
    /// Ends the login.
    LogOut,
}

impl LoginMode {
    fn scopes(&self) -> Scopes {
        match self {
            Self::StoredOnly(_) | Self::LogOut => Scopes::new(),
            Self::Interactive(_, scopes) => scopes.clone(),
        }
    }

    /// The secret of a client. Without it a login can still end: the tokens are deleted here, but
    /// hardly any authorization server revokes them.
    fn secret(&self, read: Result<Secret<String>, Failure>) -> Result<Secret<String>, Failure> {
        match (self, read) {
            (Self::LogOut, Err(failure)) => {
                let text = "the tokens are deleted here, but may stay valid at their server";
                print::note(text!("note: {text}: {failure}"));
                Ok(Secret::from(""))
            }
            (_, read) => read,
        }
    }

    fn allow(self, browser: Browser) -> Browser {
        match self {
            Self::StoredOnly(advice) => browser.stored_only(advice),
            Self::LogOut => browser.stored_only(""),
            Self::Interactive(change, _) => change(browser),
        }
    }
}

/// The server of this URL, also if the user has not logged in there.
///
/// # Errors
///
/// Why the list of logins cannot be read. The user has read it then.
fn known_server(url: &str) -> Result<KnownServer, TerminalText> {
    static NOTED: Once = Once::new();
    match known::find(url) {
        Ok(server) => Ok(server.unwrap_or_else(|| KnownServer::new(url))),
        Err(failure) => {
            NOTED.call_once(|| print::note(TerminalText::from("note: ") + failure.text()));
            Err(failure.text().clone())
        }
    }
}

/// The same for the servers of a gateway. What the user can do is part of its errors, because they
/// go to the clients of the gateway; the operator reads it once for each server. Neither of them reads
/// the query of a URL.
#[derive(Debug, Default)]
pub(crate) struct GatewayLogins {
    /// What the operator has read.
    notes: Mutex<HashSet<String>>,
}

impl GatewayLogins {
    fn note_once(&self, text: &str) {
        let is_new = self.notes.lock().is_ok_and(|mut notes| notes.insert(text.to_owned()));
        if is_new {
            print::note(line(text));
        }
    }
}

impl bowline_gateway::Logins for GatewayLogins {
    fn login(&self, url: &str) -> Option<ServerCredential> {
        let server = known_server(url).ok()?;
        let shown = shown_url(url);
        let advice = format!("`bowline login {}` logs in", quoted(&shown));
        match credential(&server, LoginMode::StoredOnly(advice)) {
            Ok(credential) => Some(credential.for_client()),
            Err(failure) => {
                self.note_once(&format!("the login at {shown} is not used: {failure}"));
                None
            }
        }
    }

    fn refused(&self, url: &str) {
        let shown = shown_url(url);
        let login = format!("bowline login {}", quoted(&shown));
        self.note_once(&format!("{shown} demands a login: {login}"));
    }
}

/// A word of a command line.
pub(crate) fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

/// What authorizes the requests to a known server.
///
/// # Errors
///
/// If a file that the server's entry names cannot be read, or the entry is wrong.
pub(crate) fn credential(server: &KnownServer, mode: LoginMode) -> Result<Credential, Failure> {
    let folder = folder()?;
    match server.tokens {
        TokenPlace::Files => credential_in(LoginStore::new(folder), server, mode),
        #[cfg(feature = "keyring")]
        TokenPlace::Keyring => credential_in(keyring::open(folder)?, server, mode),
        #[cfg(not(feature = "keyring"))]
        TokenPlace::Keyring => Err(Failure::new(
            Exit::Unauthorized,
            text!(
                "this `bowline` cannot use the keyring, where the login at {} is",
                shown_url(&server.url)
            ),
        )
        .hint("cargo install --locked --path crates/cli --features keyring")),
    }
}

fn credential_in(
    store: impl Store,
    server: &KnownServer,
    mode: LoginMode,
) -> Result<Credential, Failure> {
    let login = match &server.method {
        LoginMethod::TokenFile { path } => return Ok(Credential::Token(secret(path)?)),
        LoginMethod::Machine { client } => {
            let secret = mode.secret(needed_secret(client))?;
            let machine = Machine::secret(issuer(client), &client.id, secret);
            let machine = machine.scopes(mode.scopes()).store(store);
            ServerLogin::new(machine, &server.url, &server.networks)
        }
        LoginMethod::Browser { client, port } => {
            let mut browser = Browser::new(CLIENT_NAME).scopes(mode.scopes()).store(store);
            if let Some(client) = client {
                browser = match &client.secret_file {
                    Some(path) => {
                        let secret = mode.secret(secret(path))?;
                        browser.client_with_secret(issuer(client), &client.id, secret)
                    }
                    None => browser.client(issuer(client), &client.id),
                };
            }
            browser = port.iter().fold(browser, |it, port| it.port(*port));
            ServerLogin::new(mode.allow(browser), &server.url, &server.networks)
        }
    };
    login.map(Credential::Login).map_err(|error| Failure::usage(line(error)))
}

/// The header of a token.
pub(crate) fn bearer(token: &Secret<String>) -> String {
    format!("Bearer {}", token.expose())
}

/// The state of a login.
///
/// # Errors
///
/// If the store cannot be read.
pub(crate) async fn status(login: &ServerLogin) -> Result<Option<LoginStatus>, Failure> {
    login.status().await.map_err(|error| unusable(&error))
}

/// The failure of the store.
pub(crate) fn unusable(error: &bowline::auth::Error) -> Failure {
    Failure::new(Exit::Unauthorized, text!("the stored logins cannot be used: {error}"))
}

/// The folder of logins in the user's data folder.
///
/// # Errors
///
/// If the user has no home.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let none = || Failure::new(Exit::Unauthorized, "there is no home folder to keep logins in");
    Ok(folders::data().ok_or_else(none)?.join("bowline").join("logins"))
}

fn issuer(client: &RegisteredClient) -> Issuer {
    client.issuer.as_deref().map_or_else(Issuer::first_seen, Issuer::from)
}

fn needed_secret(client: &RegisteredClient) -> Result<Secret<String>, Failure> {
    match &client.secret_file {
        Some(path) => secret(path),
        None => Err(Failure::usage("a program needs a secret: `--client-secret-file`")),
    }
}

/// Reads a secret from a file, without the line end.
fn secret(path: &Path) -> Result<Secret<String>, Failure> {
    let failed = |error| {
        let text = text!("the secret in {} cannot be read: {error}", path.display());
        Failure::new(Exit::Unauthorized, text)
    };
    let text = Secret::new(std::fs::read_to_string(path).map_err(failed)?);
    Ok(Secret::from(text.expose().trim()))
}
