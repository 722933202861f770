//! A server that speaks TLS.

use std::process::Command;
use std::time::Duration;

use bowline_store::backend::{Backend as _, Expect, Key};
use bowline_store_redis::Redis;
use tempfile::TempDir;

use crate::redis_server::{RedisServer, free_port};

/// A certificate for `localhost`, which signs itself.
fn certificate() -> TempDir {
    let files = tempfile::tempdir().unwrap();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-noenc", "-config", "/dev/null", "-subj", "/CN=test"])
        .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(files.path())
        .output()
        .expect("openssl starts; `tests/peers/install.sh` installs it");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    files
}

#[tokio::test]
async fn tls_is_used_and_checked() {
    let files = certificate();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let (port, certificate) = (free_port().to_string(), file("certificate.pem"));
    let _server = RedisServer::start_with(&[
        "--tls-port",
        &port,
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &file("key.pem"),
        "--tls-auth-clients",
        "no",
        "--save",
        "",
    ]);
    let url = format!("rediss://localhost:{port}");
    let store = Redis::options(&url).ca_file(&certificate).connect().await.unwrap();
    let key = Key::new(["key"]);
    store.put(&key, "x".into(), Duration::from_secs(60), Expect::Anything).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap().unwrap().value, "x");
    let mut listener = store.listen(&key).await.unwrap();
    store.publish(&key, "news".into()).await.unwrap();
    let message = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx)).await;
    assert_eq!(message, Some("news".into()));

    let untrusted = Redis::connect(&url).await.unwrap_err().to_string();
    assert!(untrusted.contains("certificate") && untrusted.contains("`ca_file`"), "{untrusted}");
    let plain = Redis::connect(&format!("redis://localhost:{port}")).await;
    assert!(plain.is_err(), "a server that speaks TLS is not reached without");
}
