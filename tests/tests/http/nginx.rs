//! nginx in front of the server, with its default settings: streams still arrive piece by piece.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bowline::types::revision::Revision;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use crate::stage::{Stage, call, listen, text_of, within};
use crate::wire::Wire;

/// A proxy; it ends with this.
struct Proxy {
    address: SocketAddr,
    process: Child,
    _files: TempDir,
}

impl Proxy {
    async fn before(server: SocketAddr) -> Self {
        let files = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let configuration = files.path().join("nginx.conf");
        std::fs::write(&configuration, settings(files.path(), address, server)).unwrap();
        let process = Command::new("nginx")
            .env("PATH", "/usr/sbin:/usr/bin:/usr/local/bin:/sbin:/bin")
            .arg("-p")
            .arg(files.path())
            .arg("-c")
            .arg(&configuration)
            .stderr(Stdio::inherit())
            .spawn()
            .expect("nginx starts; `tests/peers/install.sh` installs it");
        within(async { while TcpStream::connect(address).await.is_err() {} }).await;
        Self { address, process, _files: files }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Nothing about buffering, versions or time limits: those are nginx's own.
fn settings(files: &Path, address: SocketAddr, server: SocketAddr) -> String {
    let files = files.display();
    format!(
        "daemon off; master_process off; pid {files}/pid; error_log stderr warn;
        events {{}}
        http {{
            access_log off;
            client_body_temp_path {files}/body; proxy_temp_path {files}/proxy;
            fastcgi_temp_path {files}/fastcgi; uwsgi_temp_path {files}/uwsgi;
            scgi_temp_path {files}/scgi;
            server {{
                listen {address};
                location /mcp {{ proxy_pass http://{server}; }}
            }}
        }}"
    )
}

async fn stream(proxy: &Proxy, request: &crate::wire::Request) -> Wire {
    let mut wire = Wire::send(proxy.address, request).await;
    let head = within(wire.head()).await;
    assert!(head.status == 200 && head.is_stream(), "{head:?}");
    wire
}

// spec: HTTP-33
#[tokio::test]
async fn events_pass_a_buffering_proxy_as_soon_as_they_are_said() {
    let stage = Stage::open().await;
    let proxy = Proxy::before(stage.address).await;
    stage.play.step(1);
    let mut told = stream(&proxy, &call("tell", json!({ "count": 3 }))).await;
    for number in 1..=3 {
        let event = within(told.message()).await.unwrap();
        assert_eq!(event.json()["params"]["data"], number.to_string());
        // Only now is there more to say.
        stage.play.step(1);
    }
    assert_eq!(text_of(&within(told.messages()).await[0].json()), "told 3");
    let mut changes = stream(&proxy, &listen(json!({ "toolsListChanged": true }))).await;
    within(changes.message()).await.unwrap();
    for _ in 0..3 {
        stage.notify.tools_changed();
        let told = within(changes.message()).await.unwrap().json();
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
}

// spec: CANC-16
#[tokio::test]
async fn a_client_that_hangs_up_behind_a_proxy_cancels_too() {
    let stage = Stage::open().await;
    let proxy = Proxy::before(stage.address).await;
    let wire = Wire::send(proxy.address, &call("forever", json!({}))).await;
    stage.play.running(1).await;
    drop(wire);
    stage.play.running(0).await;
}

// spec: RESUME-5
#[tokio::test]
async fn a_stream_is_resumed_through_a_proxy() {
    let stage = Stage::open().await;
    let session = stage.session(Revision::V2025_11_25).await;
    let proxy = Proxy::before(stage.address).await;
    stage.play.step(1);
    let mut wire = stream(&proxy, &session.call("tell", json!({ "count": 2 }))).await;
    let first = within(wire.message()).await.unwrap().id.unwrap();
    drop(wire);
    stage.play.step(2);
    let mut wire = stream(&proxy, &session.resume(&first)).await;
    let rest = within(wire.messages()).await;
    assert_eq!(text_of(&rest[1].json()), "told 2");
}
