//! The client behind a proxy of its environment: nginx, or one that the test plays.
//!
//! The servers have a host name without DNS entry, so that only a proxy leads to them.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;

use crate::caller::{CallerProcess, ERAS};
use crate::nginx::{Logged, Nginx};
use crate::test_server::TestServer;
use crate::tls::{Certificate, UnusedListener, all_are};

/// `user` and `pass:word`, as in a URL and as in a header.
const USER: &str = "user:pass%3Aword";
const CREDENTIALS: &str = "Basic dXNlcjpwYXNzOndvcmQ=";

/// A proxy that gives every request the same response.
struct Proxy {
    address: SocketAddr,
    /// The heads of its requests.
    heads: mpsc::UnboundedReceiver<String>,
}

impl Proxy {
    /// Opens tunnels to a server, whatever host a request names.
    async fn to(server: SocketAddr) -> Self {
        Self::answering("HTTP/1.1 200 Connection established\r\n\r\n", Some(server)).await
    }

    /// Refuses every tunnel.
    async fn refusing(answer: &'static str) -> Self {
        Self::answering(answer, None).await
    }

    async fn answering(answer: &'static str, server: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (got, heads) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, got.clone(), answer, server));
            }
        });
        Self { address, heads }
    }

    fn heads(mut self) -> Vec<String> {
        std::iter::from_fn(|| self.heads.try_recv().ok()).collect()
    }
}

/// Reads a head, answers it, and forwards what follows.
async fn pass(
    mut client: TcpStream,
    got: mpsc::UnboundedSender<String>,
    answer: &'static str,
    server: Option<SocketAddr>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let _ = got.send(String::from_utf8_lossy(&head).into_owned());
    client.write_all(answer.as_bytes()).await?;
    if let Some(server) = server {
        copy_bidirectional(&mut client, &mut TcpStream::connect(server).await?).await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_client_forwards_http_through_the_proxy_of_the_environment() {
    let server = TestServer::open().await;
    for (era, variable) in ERAS.into_iter().zip(["HTTP_PROXY", "http_proxy"]) {
        let nginx = Nginx::before(server.address).await;
        let caller = CallerProcess::speaking(era, "http://server.invalid/mcp");
        caller.with(variable, format!("http://{USER}@{}", nginx.address)).succeeds().await;
        let requests = nginx.requests();
        all_are(&requests, "http://server.invalid/mcp HTTP/1.1", "server.invalid");
        assert!(requests.iter().all(|it| it.proxy_authorization == CREDENTIALS), "{requests:#?}");
    }
}

#[tokio::test]
async fn the_client_tunnels_https_through_the_proxy_of_the_environment() {
    let (server, certificate) = (TestServer::open().await, Certificate::new());
    for (era, variable) in ERAS.into_iter().zip(["HTTPS_PROXY", "ALL_PROXY"]) {
        let nginx = certificate.http2(server.address).await;
        let proxy = Proxy::to(nginx.address).await;
        CallerProcess::speaking(era, "https://server.invalid/mcp")
            .with("SSL_CERT_FILE", certificate.file())
            .with(variable, format!("http://{USER}@{}", proxy.address))
            .succeeds()
            .await;
        let [head] = &*proxy.heads() else { panic!("one tunnel is enough for HTTP/2") };
        assert!(head.starts_with("CONNECT server.invalid:443 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("Proxy-Authorization: {CREDENTIALS}\r\n")), "{head}");
        let requests = nginx.requests();
        all_are(&requests, "/mcp HTTP/2.0", "server.invalid");
        none_has_credentials(&requests);
    }
}

/// Asserts that no request carries the credentials for a proxy.
fn none_has_credentials(requests: &[Logged]) {
    assert!(requests.iter().all(|it| it.proxy_authorization.is_empty()), "{requests:#?}");
}

/// A URL to this machine that the client does not count as loopback.
fn here(address: SocketAddr) -> String {
    format!("http://0.0.0.0:{}/mcp", address.port())
}

#[tokio::test]
async fn the_client_calls_servers_in_no_proxy_directly() {
    let (server, proxy) = (TestServer::open().await, UnusedListener::new());
    let nginx = Nginx::before(server.address).await;
    CallerProcess::of(&here(nginx.address))
        .with("ALL_PROXY", format!("http://{USER}@{}", proxy.address()))
        .with("NO_PROXY", "example.com, 0.0.0.0/8, localhost")
        .succeeds()
        .await;
    proxy.assert_unused();
    none_has_credentials(&nginx.requests());
}

/// A proxy on another machine cannot reach them, and would see their secrets.
#[tokio::test]
async fn the_client_calls_loopback_servers_directly() {
    let (server, certificate) = (TestServer::open().await, Certificate::new());
    let (proxy, nginx) = (UnusedListener::new(), certificate.http1(server.address).await);
    let port = server.address.port();
    for url in [
        format!("http://127.0.0.1:{port}/mcp"),
        format!("http://LOCALHOST:{port}/mcp"),
        format!("https://localhost:{}/mcp", nginx.address.port()),
    ] {
        for proxy in [format!("http://{USER}@{}", proxy.address()), "no proxy".to_owned()] {
            CallerProcess::of(&url)
                .with("SSL_CERT_FILE", certificate.file())
                .with("HTTP_PROXY", &proxy)
                .with("HTTPS_PROXY", &proxy)
                .with("ALL_PROXY", &proxy)
                .succeeds()
                .await;
        }
    }
    proxy.assert_unused();
    none_has_credentials(&nginx.requests());
}

#[tokio::test]
async fn the_error_for_a_refused_tunnel_names_the_proxy_and_its_reason() {
    let certificate = Certificate::new();
    for (answer, expected) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "authorization required"),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "unsuccessful"),
        ("", "end of file"),
    ] {
        let proxy = Proxy::refusing(answer).await;
        let error = CallerProcess::of("https://server.invalid/mcp")
            .with("SSL_CERT_FILE", certificate.file())
            .with("HTTPS_PROXY", format!("http://{USER}@{}", proxy.address))
            .cannot_connect()
            .await;
        let named = format!("the proxy http://{}/ of the environment", proxy.address);
        assert!(error.contains(&named) && error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn the_error_for_an_unreachable_proxy_names_the_proxy() {
    let certificate = Certificate::new();
    // The port is bound, but no process listens.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    for url in ["http://server.invalid/mcp", "https://server.invalid/mcp"] {
        let error = CallerProcess::of(url)
            .with("SSL_CERT_FILE", certificate.file())
            .with("ALL_PROXY", format!("http://{USER}@{address}"))
            .cannot_connect()
            .await;
        assert!(error.contains(&format!("the proxy http://{address}/")), "{error}");
        assert!(error.contains("refused") && !error.contains("word"), "{error}");
    }
}

#[tokio::test]
async fn the_client_refuses_a_proxy_of_an_unknown_scheme() {
    let (server, proxy, certificate) =
        (UnusedListener::new(), UnusedListener::new(), Certificate::new());
    for kind in ["https", "socks5"] {
        for scheme in ["http", "https"] {
            let error =
                CallerProcess::of(&format!("{scheme}://0.0.0.0:{}/mcp", server.address().port()))
                    .with("SSL_CERT_FILE", certificate.file())
                    .with("ALL_PROXY", format!("{kind}://{USER}@{}", proxy.address()))
                    .cannot_connect()
                    .await;
            assert!(error.contains(&format!("the proxy {kind}://{}/", proxy.address())), "{error}");
            assert!(error.contains("not an `http` one") && !error.contains("word"), "{error}");
        }
    }
    server.assert_unused();
    proxy.assert_unused();
}

#[tokio::test]
async fn the_client_refuses_a_proxy_url_that_is_not_valid() {
    let (server, unused) = (TestServer::open().await, UnusedListener::new());
    let nginx = Nginx::before(server.address).await;
    for (variable, value) in [
        ("HTTP_PROXY", "ftp://127.0.0.1:21"),
        ("http_proxy", "http://two words:1"),
        ("ALL_PROXY", ":::"),
    ] {
        let error = CallerProcess::of(&here(unused.address()))
            .with(variable, value)
            .with("NO_PROXY", "example.com")
            .cannot_connect()
            .await;
        assert!(error.contains(&format!("`{variable}`")) && !error.contains(value), "{error}");
        let excepted = CallerProcess::of(&here(nginx.address));
        excepted.with(variable, value).with("NO_PROXY", "0.0.0.0").succeeds().await;
    }
    unused.assert_unused();
}
