//! Logins that all commands and all instances of this program share.
//!
//! Tokens are in files that only the user can read, in the user's data folder, or in the keyring of
//! the system. `bowline login` writes them; every other command uses and renews them, and never
//! opens a page by itself.
//!
//! * `known`: the list of the servers, with how to log in at each;
//! * `store`: tokens in files;
//! * `keyring`: tokens in the keyring of the system, a cargo feature.

#[cfg(feature = "keyring")]
mod keyring;
pub(crate) mod known;
pub(crate) mod store;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once};

use bowline::auth::{
    Browser, Issuer, LoginStatus, Machine, Scopes, Secret, ServerLogin, Store, Url,
};
use bowline_gateway::ServerCredential;

use self::known::{KnownServer, RegisteredClient, Way};
use self::store::{LoginStore, TokenPlace};
use crate::demand::{self, LoginUse};
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

/// How a command may log in.
pub(crate) enum Permission {
    /// Not at all. The text says what the user can do, or is empty.
    StoredOnly(String),
    /// With these settings of `bowline login`.
    Login(Box<dyn FnOnce(Browser) -> Browser + Send>, Scopes),
    /// Not at all: the login ends.
    LogOut,
}

impl Permission {
    fn scopes(&self) -> Scopes {
        match self {
            Self::StoredOnly(_) | Self::LogOut => Scopes::new(),
            Self::Login(_, scopes) => scopes.clone(),
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
            Self::Login(change, _) => change(browser),
        }
    }
}

/// What authorizes the requests of this process to a server, if anything may: a target with a
/// header `Authorization` gets no other credential. If the list of logins cannot be read, there is
/// none: most servers demand no login.
///
/// # Errors
///
/// If a file that the server's entry names cannot be read.
pub(crate) fn stored(
    label: &str,
    url: &str,
    headers: &[(String, String)],
    login_use: &LoginUse,
) -> Result<Option<Credential>, Failure> {
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        return Ok(None);
    }
    let server = match known(url) {
        Ok(server) => server,
        Err(reason) => {
            login_use.note_unreadable(reason);
            return Ok(None);
        }
    };
    let credential = credential(&server, Permission::StoredOnly(String::new()))?;
    if let Credential::Login(login) = &credential {
        login_use.note(label, login);
    }
    Ok(Some(credential))
}

/// The server of this URL, also if the user has not logged in there.
///
/// # Errors
///
/// Why the list of logins cannot be read. The user has read it then.
fn known(url: &str) -> Result<KnownServer, TerminalText> {
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
        let server = known(url).ok()?;
        let shown = shown(url);
        let advice = format!("`bowline login {}` logs in", demand::quoted(&shown));
        match credential(&server, Permission::StoredOnly(advice)) {
            Ok(Credential::Login(login)) => Some(ServerCredential::Login(Arc::new(login))),
            Ok(Credential::Token(token)) => Some(ServerCredential::Header(bearer(&token))),
            Err(failure) => {
                self.note_once(&format!("the login at {shown} is not used: {failure}"));
                None
            }
        }
    }

    fn refused(&self, url: &str) {
        let shown = shown(url);
        let login = format!("bowline login {}", demand::quoted(&shown));
        self.note_once(&format!("{shown} demands a login: {login}"));
    }
}

/// A URL for logs and for other people: without its query, into which some services put tokens.
pub(crate) fn shown(url: &str) -> String {
    let (url, _fragment) = url.split_once('#').unwrap_or((url, ""));
    let Ok(url) = Url::parse(url) else { return "a server".to_owned() };
    let query = if url.query().is_some() { "?…" } else { "" };
    format!("{}{}{query}", url.origin(), url.path())
}

/// What authorizes the requests to a known server.
///
/// # Errors
///
/// If a file that the server's entry names cannot be read, or the entry is wrong.
pub(crate) fn credential(
    server: &KnownServer,
    permission: Permission,
) -> Result<Credential, Failure> {
    let folder = folder()?;
    match server.tokens {
        TokenPlace::Files => credential_in(LoginStore::new(folder), server, permission),
        #[cfg(feature = "keyring")]
        TokenPlace::Keyring => credential_in(keyring::open(folder)?, server, permission),
        #[cfg(not(feature = "keyring"))]
        TokenPlace::Keyring => Err(Failure::new(
            Exit::Unauthorized,
            text!(
                "this `bowline` cannot use the keyring, where the login at {} is",
                shown(&server.url)
            ),
        )
        .hint("cargo install --locked --path crates/cli --features keyring")),
    }
}

fn credential_in(
    store: impl Store,
    server: &KnownServer,
    permission: Permission,
) -> Result<Credential, Failure> {
    let login = match &server.way {
        Way::TokenFile { path } => return Ok(Credential::Token(secret(path)?)),
        Way::Machine { client } => {
            let secret = permission.secret(needed_secret(client))?;
            let machine = Machine::secret(issuer(client), &client.id, secret);
            let machine = machine.scopes(permission.scopes()).store(store);
            ServerLogin::new(machine, &server.url, &server.networks)
        }
        Way::Browser { client, port } => {
            let mut browser = Browser::new(CLIENT_NAME).scopes(permission.scopes()).store(store);
            if let Some(client) = client {
                browser = match &client.secret_file {
                    Some(path) => {
                        let secret = permission.secret(secret(path))?;
                        browser.client_with_secret(issuer(client), &client.id, secret)
                    }
                    None => browser.client(issuer(client), &client.id),
                };
            }
            browser = port.iter().fold(browser, |it, port| it.port(*port));
            ServerLogin::new(permission.allow(browser), &server.url, &server.networks)
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
    let variable = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let below_home = |name| std::env::home_dir().map(|home| home.join(name));
    let data = match std::env::consts::OS {
        "macos" => below_home("Library/Application Support"),
        "windows" => variable("LOCALAPPDATA"),
        _ => variable("XDG_DATA_HOME").or_else(|| below_home(".local/share")),
    };
    let none = || Failure::new(Exit::Unauthorized, "there is no home folder to keep logins in");
    Ok(data.ok_or_else(none)?.join("bowline").join("logins"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_url_is_not_shown() {
        for (url, expected) in [
            ("https://a.example/mcp?key=s3cr3t#part", "https://a.example/mcp?…"),
            ("http://127.0.0.1:1/mcp", "http://127.0.0.1:1/mcp"),
            ("https://ann:s3cr3t@a.example/mcp", "a server"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }
}
