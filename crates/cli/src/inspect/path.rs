//! The way to a server over the network: its name, the connection, TLS.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bowline_http::client::Address;
use bowline_ops::hints;
use bowline_types::host::is_this_machine;
use hyper_rustls::ConfigBuilderExt as _;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;

use crate::exit::{Exit, Failure};
use crate::print::{TerminalText, line, text};

/// Variables that send the requests of a client through a proxy.
const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// The way to a server, and how far it was walked.
pub(super) struct Path {
    host: String,
    port: u16,
    has_tls: bool,
    /// The client goes through a proxy, so the direct way says nothing.
    proxy: Option<&'static str>,
    walked: Walked,
}

enum Walked {
    Nothing,
    Resolved(Vec<SocketAddr>),
    Connected(TcpStream),
    Everything,
}

impl Path {
    /// # Errors
    ///
    /// If the URL is no address of a server.
    pub(super) fn new(url: &str) -> Result<Self, Failure> {
        let address = Address::parse(url).map_err(|error| Failure::usage(line(error)))?;
        let host = address.host().trim_matches(['[', ']']).to_owned();
        let (port, has_tls) = (address.port(), address.is_secure());
        let is_local = is_this_machine(&host);
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let proxy = PROXIES.into_iter().find(is_set).filter(|_| !is_local);
        Ok(Self { host, port, has_tls, proxy, walked: Walked::Nothing })
    }

    /// The name of the next step, until TLS is established.
    pub(super) fn next_step(&self) -> Option<&'static str> {
        match self.walked {
            Walked::Nothing => Some("resolve"),
            Walked::Resolved(_) => Some("connect"),
            Walked::Connected(_) => Some("tls"),
            Walked::Everything => None,
        }
    }

    /// Takes the next step, and says what it found.
    ///
    /// # Errors
    ///
    /// If the step fails.
    pub(super) async fn take_step(&mut self) -> Result<String, Failure> {
        match std::mem::replace(&mut self.walked, Walked::Everything) {
            Walked::Nothing => match self.proxy {
                Some(variable) => Ok(format!("left to the proxy that `{variable}` names")),
                None => self.resolve().await,
            },
            Walked::Resolved(addresses) => self.connect(&addresses).await,
            Walked::Connected(stream) => self.secure(stream).await,
            Walked::Everything => Ok(String::new()),
        }
    }

    async fn resolve(&mut self) -> Result<String, Failure> {
        let found = lookup_host((self.host.as_str(), self.port)).await.map_err(|error| {
            unreachable(text!("cannot resolve `{}`: {error}", self.host)).hint(hints::NAME)
        })?;
        let addresses: Vec<SocketAddr> = found.collect();
        let mut shown: Vec<String> = addresses.iter().map(|it| it.ip().to_string()).collect();
        shown.dedup();
        shown.truncate(4);
        self.walked = Walked::Resolved(addresses);
        Ok(shown.join(", "))
    }

    async fn connect(&mut self, addresses: &[SocketAddr]) -> Result<String, Failure> {
        let stream = TcpStream::connect(addresses).await.map_err(|error| {
            unreachable(text!("cannot connect to {}:{}: {error}", self.host, self.port))
                .hint(hints::PORT)
        })?;
        let peer = stream.peer_addr().map(|it| it.to_string()).unwrap_or_default();
        if self.has_tls {
            self.walked = Walked::Connected(stream);
        }
        Ok(peer)
    }

    async fn secure(&mut self, stream: TcpStream) -> Result<String, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            unreachable(line(format!("no TLS with `https://{}`: {error}", self.host)))
                .hint(hints::CERTIFICATE)
        };
        let name = ServerName::try_from(self.host.clone()).map_err(|error| failed(&error))?;
        let connector = TlsConnector::from(Arc::new(trusting().map_err(|error| failed(&error))?));
        let stream =
            connector.connect(name, stream).await.map_err(|error| match is_no_tls(&error) {
                true => failed(&error).hint(hints::NO_TLS),
                false => failed(&error),
            })?;
        let version = stream.get_ref().1.protocol_version();
        Ok(version.map(|version| format!("{version:?}").replace('_', ".")).unwrap_or_default())
    }
}

/// Whether the server answered the handshake with something else than TLS.
fn is_no_tls(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    error.kind() == io::ErrorKind::UnexpectedEof
        || matches!(tls, Some(rustls::Error::InvalidMessage(_)))
}

/// Trusts what the system trusts, as the client does.
fn trusting() -> std::io::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(std::io::Error::other)?;
    Ok(builder.with_native_roots()?.with_no_client_auth())
}

fn unreachable(text: TerminalText) -> Failure {
    Failure::new(Exit::Unreachable, text)
}
