//! The client over TLS, with nginx as the server: HTTP versions, and trusted certificates.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::caller::{CallerProcess, ERAS};
use crate::nginx::{Logged, Nginx};
use crate::test_server::TestServer;

/// A self-signed certificate for `localhost` and `server.invalid`.
pub(crate) struct Certificate(TempDir);

impl Certificate {
    pub(crate) fn new() -> Self {
        Self::issued_by("test")
    }

    fn issued_by(name: &str) -> Self {
        let files = tempfile::tempdir().unwrap();
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-noenc",
                "-config",
                "/dev/null",
                "-subj",
                &format!("/CN={name}"),
            ])
            .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-addext", "subjectAltName=DNS:localhost,DNS:server.invalid"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-keyout", "key.pem", "-out", "certificate.pem"])
            .current_dir(files.path())
            .output()
            .expect("openssl starts; `tests/peers/install.sh` installs it");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self(files)
    }

    /// The value of `SSL_CERT_FILE` with which a client trusts it.
    pub(crate) fn file(&self) -> PathBuf {
        self.0.path().join("certificate.pem")
    }

    /// Starts a server with it that speaks HTTP/1.1.
    pub(crate) async fn http1(&self, server: SocketAddr) -> Nginx {
        Nginx::start(server, "ssl", &self.settings()).await
    }

    /// Starts a server with it that speaks HTTP/2 too.
    pub(crate) async fn http2(&self, server: SocketAddr) -> Nginx {
        Nginx::start(server, "ssl http2", &self.settings()).await
    }

    fn settings(&self) -> String {
        let files = self.0.path().display();
        format!("ssl_certificate {files}/certificate.pem; ssl_certificate_key {files}/key.pem;")
    }
}

/// A listening socket that no client may connect to.
pub(crate) struct UnusedListener(TcpListener);

impl UnusedListener {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    /// Asserts that no client has connected; a connection would be pending here.
    pub(crate) fn assert_unused(&self) {
        let error = self.0.accept().expect_err("no client connects");
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
}

/// Asserts that all requests of a client look like this.
pub(crate) fn all_are(requests: &[Logged], target_and_version: &str, host: &str) {
    assert!(requests.len() > 1, "{requests:#?}");
    for request in requests {
        let (_, line) = request.line.split_once(' ').unwrap();
        assert_eq!((line, &*request.host), (target_and_version, host), "{request:?}");
    }
}

/// Calls a server behind nginx by a client that trusts the certificate; checks the HTTP version of all
/// requests and returns them.
async fn called(nginx: Nginx, certificate: &Certificate, era: &str, version: &str) -> Vec<Logged> {
    let host = format!("localhost:{}", nginx.address.port());
    let caller = CallerProcess::speaking(era, &format!("https://{host}/mcp"));
    caller.with("SSL_CERT_FILE", certificate.file()).succeeds().await;
    let requests = nginx.requests();
    all_are(&requests, &format!("/mcp {version}"), &host);
    requests
}

#[tokio::test]
async fn the_client_calls_a_tls_server_over_http_1() {
    let (server, certificate) = (TestServer::open().await, Certificate::new());
    for era in ERAS {
        let nginx = certificate.http1(server.address).await;
        called(nginx, &certificate, era, "HTTP/1.1").await;
    }
}

#[tokio::test]
async fn the_client_sends_all_requests_over_one_http_2_connection() {
    let (server, certificate) = (TestServer::open().await, Certificate::new());
    for era in ERAS {
        let nginx = certificate.http2(server.address).await;
        let requests = called(nginx, &certificate, era, "HTTP/2.0").await;
        let first = &requests[0].connection;
        assert!(requests.iter().all(|it| it.connection == *first), "{requests:#?}");
    }
}

#[tokio::test]
async fn the_client_sends_no_request_to_a_server_with_an_untrusted_certificate() {
    let (server, certificate) = (TestServer::open().await, Certificate::new());
    let nginx = certificate.http2(server.address).await;
    let port = nginx.address.port();
    let (stranger, namesake) = (Certificate::issued_by("stranger"), Certificate::new());
    for (host, trusted, expected) in [
        ("localhost", &stranger, "UnknownIssuer"),
        ("localhost", &namesake, "BadSignature"),
        ("127.0.0.1", &certificate, "not valid for name"),
    ] {
        let caller = CallerProcess::of(&format!("https://{host}:{port}/mcp"));
        let error = caller.with("SSL_CERT_FILE", trusted.file()).cannot_connect().await;
        assert!(error.contains("certificate") && error.contains(expected), "{error}");
    }
    assert!(nginx.requests().is_empty());
}

#[tokio::test]
async fn the_client_sends_nothing_if_it_has_no_trusted_certificates() {
    let (server, empty) = (UnusedListener::new(), tempfile::tempdir().unwrap());
    for file in ["/dev/null", "/there/is/no/such/file"] {
        let error = CallerProcess::of(&format!("https://{}/mcp", server.address()))
            .with("SSL_CERT_FILE", file)
            .with("SSL_CERT_DIR", empty.path())
            .cannot_connect()
            .await;
        assert!(error.contains("no certificate to trust was found"), "{error}");
        assert!(error.contains("ca-certificates") && error.contains("SSL_CERT_FILE"), "{error}");
    }
    server.assert_unused();
}
