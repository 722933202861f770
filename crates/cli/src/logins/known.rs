//! The servers that the user has logged in at, and how: `servers.json` beside the tokens. It holds
//! no secret, only the names of files that do.

use std::path::{Path, PathBuf};
use std::{fs, io};

use bowline::auth::{FileStore, Url};
use bowline_auth::private_file;
use serde::{Deserialize, Serialize};

use super::store::TokenPlace;
use super::{folder, unusable};
use crate::exit::{Exit, Failure};
use crate::print::text;

/// A server, and how to log in there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownServer {
    pub(crate) url: String,
    #[serde(rename = "way")]
    pub(crate) method: LoginMethod,
    #[serde(default, skip_serializing_if = "TokenPlace::is_files")]
    pub(crate) tokens: TokenPlace,
    /// Where its authorization server may be, beside public addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) networks: Vec<String>,
}

/// How to log in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub(crate) enum LoginMethod {
    /// A user, with a browser.
    Browser {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<RegisteredClient>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
    /// A program, with credentials of its own.
    Machine { client: RegisteredClient },
    /// Not at all: another program keeps a token in a file.
    TokenFile { path: PathBuf },
}

impl LoginMethod {
    /// The client that was registered by hand, if there is one.
    fn client_id(&self) -> Option<&str> {
        match self {
            Self::Browser { client, .. } => client.as_ref().map(|client| client.id.as_str()),
            Self::Machine { client } => Some(&client.id),
            Self::TokenFile { .. } => None,
        }
    }
}

/// A client that was registered at the authorization server by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RegisteredClient {
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) issuer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret_file: Option<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Listed {
    servers: Vec<KnownServer>,
}

impl KnownServer {
    /// A server at which users log in with a browser.
    pub(crate) fn new(url: &str) -> Self {
        let method = LoginMethod::Browser { client: None, port: None };
        Self { url: url.to_owned(), method, tokens: TokenPlace::Files, networks: Vec::new() }
    }

    /// Whether an entry with the same URL has the same tokens as this one. A login that replaces the
    /// other one has replaced its tokens too, so the old login must not be ended. The name of the
    /// tokens in their store has neither the port, the issuer nor the file of the secret.
    pub(crate) fn has_tokens_of(&self, other: &Self) -> bool {
        (self.tokens, self.method_name(), self.method.client_id())
            == (other.tokens, other.method_name(), other.method.client_id())
    }

    /// The method, as `status` names it.
    pub(crate) fn method_name(&self) -> &'static str {
        match self.method {
            LoginMethod::Browser { .. } => "browser",
            LoginMethod::Machine { .. } => "machine",
            LoginMethod::TokenFile { .. } => "token-file",
        }
    }
}

/// All servers of the list.
///
/// # Errors
///
/// If the list cannot be read.
pub(crate) fn all() -> Result<Vec<KnownServer>, Failure> {
    Ok(read(&folder()?)?.servers)
}

/// The server with this URL. Without a home folder there is none.
///
/// # Errors
///
/// If the list cannot be read.
pub(crate) fn find(url: &str) -> Result<Option<KnownServer>, Failure> {
    let Ok(folder) = folder() else { return Ok(None) };
    Ok(read(&folder)?.servers.into_iter().find(|server| is_same(&server.url, url)))
}

/// Adds a server, in place of one with the same URL. Returns the old one.
///
/// # Errors
///
/// If the list cannot be written.
pub(crate) fn remember(server: KnownServer) -> Result<Option<KnownServer>, Failure> {
    change(|listed| {
        let old = take(listed, &server.url);
        listed.servers.push(server);
        old
    })
}

/// Removes a server, and returns it.
///
/// # Errors
///
/// If the list cannot be written.
pub(crate) fn forget(url: &str) -> Result<Option<KnownServer>, Failure> {
    if !folder()?.is_dir() {
        return Ok(None);
    }
    change(|listed| take(listed, url))
}

fn take(listed: &mut Listed, url: &str) -> Option<KnownServer> {
    let at = listed.servers.iter().position(|server| is_same(&server.url, url))?;
    Some(listed.servers.remove(at))
}

fn is_same(one: &str, other: &str) -> bool {
    let canonical = |url: &str| {
        let (url, _fragment) = url.split_once('#').unwrap_or((url, ""));
        Url::parse(url).ok().map(|url| url.canonical())
    };
    one == other || canonical(one).is_some_and(|one| canonical(other) == Some(one))
}

/// Reads, changes and replaces the list. Other instances wait meanwhile.
fn change<T>(change: impl FnOnce(&mut Listed) -> T) -> Result<T, Failure> {
    let folder = folder()?;
    // Creates the folder, and checks that no other user has access to it.
    FileStore::open(&folder).map_err(|error| unusable(&error))?;
    let failed = |error: io::Error| failed(&folder.join(NAME), &error);
    // The name of a guard as the store has them: what a killed process leaves is deleted by the store.
    let _guard = private_file::lock(&folder.join("servers.write")).map_err(failed)?;
    let mut listed = read(&folder)?;
    let outcome = change(&mut listed);
    let text = serde_json::to_vec_pretty(&listed).map_err(|error| failed(error.into()))?;
    private_file::replace(&folder.join(NAME), &text).map_err(failed)?;
    Ok(outcome)
}

const NAME: &str = "servers.json";

fn read(folder: &Path) -> Result<Listed, Failure> {
    let path = folder.join(NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listed::default()),
        Err(error) => return Err(failed(&path, &error)),
    };
    serde_json::from_str(&text).map_err(|error| failed(&path, &error))
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let text = text!("the list of logins, {}, cannot be used: {error}", path.display());
    Failure::new(Exit::Unauthorized, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_name_one_server_are_the_same() {
        assert!(is_same("https://A.example/mcp", "https://a.example:443/mcp#x"));
        assert!(!is_same("https://a.example/mcp", "https://a.example/mcp2"));
    }

    #[test]
    fn only_what_names_the_tokens_in_their_store_tells_them_apart() {
        let server = |method| KnownServer { method, ..KnownServer::new("https://a.example/mcp") };
        let client = |id: &str, issuer: Option<&str>, secret_file: Option<&str>| RegisteredClient {
            id: id.into(),
            issuer: issuer.map(str::to_owned),
            secret_file: secret_file.map(PathBuf::from),
        };
        let browser = |client, port| server(LoginMethod::Browser { client, port });
        let machine = |client| server(LoginMethod::Machine { client });
        let none = || browser(None, None);
        let plain = || client("ci", None, None);
        assert!(none().has_tokens_of(&browser(None, Some(8123))));
        let moved = client("ci", Some("https://as.example"), Some("/moved"));
        assert!(browser(Some(plain()), None).has_tokens_of(&browser(Some(moved.clone()), Some(1))));
        assert!(machine(plain()).has_tokens_of(&machine(moved)));

        assert!(!none().has_tokens_of(&browser(Some(plain()), None)));
        assert!(!machine(plain()).has_tokens_of(&machine(client("other", None, None))));
        assert!(!machine(plain()).has_tokens_of(&browser(Some(plain()), None)));
        let in_keyring = KnownServer { tokens: TokenPlace::Keyring, ..none() };
        assert!(!none().has_tokens_of(&in_keyring));
    }

    #[test]
    fn an_entry_survives_the_file() {
        let client = RegisteredClient { id: "ci".into(), issuer: None, secret_file: None };
        for method in [
            LoginMethod::Browser { client: None, port: Some(7) },
            LoginMethod::Machine { client },
            LoginMethod::TokenFile { path: "/run/token".into() },
        ] {
            let server = KnownServer { method, ..KnownServer::new("https://a.example/mcp") };
            let text = serde_json::to_string(&server).unwrap();
            assert_eq!(serde_json::from_str::<KnownServer>(&text).unwrap(), server, "{text}");
        }
    }
}
