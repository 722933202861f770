//! nginx, which passes requests to the replicas in turn.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::{HeldPort, not_started};

const PATIENCE: Duration = Duration::from_secs(20);

/// nginx in front of the replicas.
pub(super) struct Nginx {
    pub(super) address: SocketAddr,
    _port: HeldPort,
    _child: Child,
}

impl Nginx {
    pub(super) async fn start(
        folder: &Path,
        replicas: &[SocketAddr],
        keep_alive: Duration,
    ) -> Result<Self> {
        let port = HeldPort::new()?;
        let address = port.address;
        let settings = settings(folder, address, &upstream(replicas, keep_alive));
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings)?;
        let child = Command::new("nginx")
            .env("PATH", "/usr/sbin:/usr/bin:/usr/local/bin:/sbin:/bin")
            .arg("-p")
            .arg(folder)
            .arg("-c")
            .arg(&file)
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| not_started(Path::new("nginx")))?;
        let serving = async {
            while TcpStream::connect(address).await.is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, serving).await.context("nginx does not serve")?;
        Ok(Self { address, _port: port, _child: child })
    }
}

/// The replicas. A replica that refuses connections gets no requests for a second.
fn upstream(replicas: &[SocketAddr], keep_alive: Duration) -> String {
    let mut text = String::new();
    for replica in replicas {
        let _ = writeln!(text, "server {replica} max_fails=1 fail_timeout=1s;");
    }
    let _ = writeln!(text, "keepalive 64; keepalive_timeout {}ms;", keep_alive.as_millis());
    text
}

/// Requests that a replica may have got are not passed to another one: that is nginx's default, and
/// `proxy_next_upstream non_idempotent` would run calls twice.
fn settings(folder: &Path, address: SocketAddr, upstream: &str) -> String {
    let folder = folder.display();
    format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors warn;
        worker_rlimit_nofile 16384;
        events {{ worker_connections 8192; }}
        http {{
            access_log off;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
            scgi_temp_path {folder}/scgi;
            upstream replicas {{ {upstream} }}
            server {{
                listen {address} backlog=4096;
                location /mcp {{
                    proxy_pass http://replicas;
                    proxy_http_version 1.1;
                    proxy_set_header Connection \"\";
                    proxy_set_header Host localhost;
                }}
            }}
        }}"
    )
}
