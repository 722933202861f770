//! nginx in front of the server, with its default settings: streams still arrive event by event.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command};

use bowline_types::revision::Revision;
use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::{TcpSocket, TcpStream};

use crate::test_server::{TestServer, call, listen, text_of, within};
use crate::wire::Wire;

/// nginx in front of a server; stopped on drop.
pub(crate) struct Nginx {
    pub(crate) address: SocketAddr,
    process: Child,
    files: TempDir,
    /// Bound and never listened on, so that no other process but nginx gets the port.
    _port: TcpSocket,
}

/// A request in nginx's log.
#[derive(Debug, Deserialize)]
pub(crate) struct Logged {
    /// Method, target and version, such as `POST /mcp HTTP/1.1`.
    pub(crate) line: String,
    pub(crate) host: String,
    /// The number of its connection.
    pub(crate) connection: String,
    pub(crate) proxy_authorization: String,
}

impl Nginx {
    /// Starts nginx with plain HTTP.
    pub(crate) async fn before(server: SocketAddr) -> Self {
        Self::start(server, "", "").await
    }

    /// Starts nginx with other `listen` parameters and more settings.
    pub(crate) async fn start(server: SocketAddr, listening: &str, more: &str) -> Self {
        let files = tempfile::tempdir().unwrap();
        let port = TcpSocket::new_v4().unwrap();
        port.set_reuseaddr(true).unwrap();
        port.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = port.local_addr().unwrap();
        let own = format!(
            "listen {address} {listening}; {more}
            location /mcp {{ proxy_pass http://{server}; }}"
        );
        std::fs::write(files.path().join("nginx.conf"), settings(files.path(), &own)).unwrap();
        let process = nginx(files.path())
            .spawn()
            .expect("nginx starts; `tests/peers/install.sh` installs it");
        within(async { while TcpStream::connect(address).await.is_err() {} }).await;
        Self { address, process, files, _port: port }
    }

    /// Stops nginx and returns its requests. A request that had not ended is not among them.
    pub(crate) fn requests(mut self) -> Vec<Logged> {
        // Unlike `kill`, this lets nginx finish its log.
        let quit = nginx(self.files.path()).args(["-s", "quit"]).output().unwrap();
        assert!(quit.status.success(), "{quit:?}");
        self.process.wait().unwrap();
        let log = std::fs::read_to_string(self.files.path().join("log")).unwrap();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn nginx(files: &Path) -> Command {
    let mut command = Command::new("nginx");
    command.env("PATH", "/usr/sbin:/usr/bin:/usr/local/bin:/sbin:/bin");
    command.arg("-p").arg(files).arg("-c").arg(files.join("nginx.conf"));
    command
}

/// Sets nothing about buffering, versions or timeouts: those are nginx's defaults.
fn settings(files: &Path, server: &str) -> String {
    let files = files.display();
    format!(
        r#"daemon off; master_process off; pid {files}/pid; error_log stderr warn;
        events {{}}
        http {{
            log_format json escape=json '{{"line": "$request", "host": "$http_host", '
                '"connection": "$connection", "proxy_authorization": "$http_proxy_authorization"}}';
            access_log {files}/log json;
            client_body_temp_path {files}/body; proxy_temp_path {files}/proxy;
            fastcgi_temp_path {files}/fastcgi; uwsgi_temp_path {files}/uwsgi;
            scgi_temp_path {files}/scgi;
            server {{ {server} }}
        }}"#
    )
}

async fn stream(proxy: &Nginx, request: &crate::wire::Request) -> Wire {
    let mut wire = Wire::send(proxy.address, request).await;
    let head = within(wire.head()).await;
    assert!(head.status == 200 && head.is_stream(), "{head:?}");
    wire
}

// spec: HTTP-33
#[tokio::test]
async fn events_pass_a_buffering_proxy_at_once() {
    let server = TestServer::open().await;
    let proxy = Nginx::before(server.address).await;
    server.handlers.step(1);
    let mut told = stream(&proxy, &call("tell", json!({ "count": 3 }))).await;
    for number in 1..=3 {
        let event = within(told.message()).await.unwrap();
        assert_eq!(event.json()["params"]["data"], number.to_string());
        // Only now does the handler go on.
        server.handlers.step(1);
    }
    assert_eq!(text_of(&within(told.messages()).await[0].json()), "told 3");
    let mut changes = stream(&proxy, &listen(json!({ "toolsListChanged": true }))).await;
    within(changes.message()).await.unwrap();
    for _ in 0..3 {
        server.notify.tools_changed();
        let told = within(changes.message()).await.unwrap().json();
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
}

// spec: CANC-16
#[tokio::test]
async fn a_client_that_disconnects_behind_a_proxy_cancels_its_call() {
    let server = TestServer::open().await;
    let proxy = Nginx::before(server.address).await;
    let wire = Wire::send(proxy.address, &call("forever", json!({}))).await;
    server.handlers.running(1).await;
    drop(wire);
    server.handlers.running(0).await;
}

// spec: RESUME-5
#[tokio::test]
async fn a_client_resumes_a_stream_through_a_proxy() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let proxy = Nginx::before(server.address).await;
    server.handlers.step(1);
    let mut wire = stream(&proxy, &session.call("tell", json!({ "count": 2 }))).await;
    let first = within(wire.message()).await.unwrap().id.unwrap();
    drop(wire);
    server.handlers.step(2);
    let mut wire = stream(&proxy, &session.resume(&first)).await;
    let rest = within(wire.messages()).await;
    assert_eq!(text_of(&rest[1].json()), "told 2");
}
