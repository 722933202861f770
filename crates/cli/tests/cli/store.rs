//! `--store` and `--state-keys` of the commands that serve: what a user reads if they are wrong.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

use super::redis_server::RedisServer;
use super::*;

const SECRET: &str = "canary4711";

/// `bowline serve` of the exhibit, which is to fail.
#[track_caller]
fn refused(options: &[&str], code: i32) -> String {
    let mut command = bowline();
    command.args(["serve", "--http", "127.0.0.1:0"]).args(options).arg("--").arg(exhibit());
    let run: Run = command.output().unwrap().into();
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    assert!(!run.stderr.contains(SECRET) && run.stdout.is_empty(), "{run:?}");
    run.stderr
}

#[test]
fn a_url_that_names_no_store_is_wrong_usage() {
    for url in ["canary4711", "http://:canary4711@localhost", "redis:canary4711", "redis"] {
        let error = refused(&["--store", url], 2);
        assert!(error.contains("names no store that is known"), "{error}");
        assert!(error.contains("hint: a store is `redis://HOST:6379`"), "{error}");
    }
    let error = refused(&["--store", "redis://:canary4711@localhost:many"], 3);
    assert!(error.contains("the URL of the Redis store is wrong"), "{error}");
}

#[test]
fn a_store_that_cannot_be_reached_is_reported_before_anything_is_served() {
    // Bound and never listened on: it refuses, and no other program gets it.
    let held = TcpSocket::new_v4().unwrap();
    held.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = held.local_addr().unwrap().port();
    let url = format!("redis://:{SECRET}@127.0.0.1:{port}");
    let error = refused(&["--store", &url], 3);
    assert!(error.contains(&format!("in Redis at 127.0.0.1:{port}")), "{error}");
    assert!(error.contains("is the database running, and the port right?"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_file_that_cannot_be_opened_is_reported_before_anything_is_served() {
    let error = refused(&["--store", "sqlite:/missing/folder/sessions.db"], 3);
    assert!(error.contains("/missing/folder/sessions.db"), "{error}");
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn a_file_as_a_store_names_the_feature_that_is_missing() {
    let error = refused(&["--store", "sqlite:/missing/folder/sessions.db"], 2);
    assert!(error.contains("--features sqlite"), "{error}");
}

#[test]
fn a_wrong_password_is_reported_without_the_password() {
    let server = RedisServer::start_with(&["--requirepass", "right", "--save", ""]);
    let url = format!("redis://:{SECRET}@{}", server.address());
    let error = refused(&["--store", &url], 3);
    assert!(error.contains("check the user and the password"), "{error}");
}

#[test]
fn a_file_with_a_password_that_other_users_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, SECRET).unwrap();
    for (mode, is_refused) in [(0o644, true), (0o660, true), (0o600, false), (0o640, false)] {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        let mut command = bowline();
        command.env("BOWLINE_STORE_PASSWORD_FILE", file.path());
        // Nothing listens on port 1.
        command.args(["serve", "--http", "127.0.0.1:0", "--store", "redis://127.0.0.1:1", "--"]);
        let run: Run = command.arg("cat").output().unwrap().into();
        assert_eq!(run.code, Some(if is_refused { 2 } else { 3 }), "{mode:o} {run:?}");
        assert_eq!(run.stderr.contains("`chmod 600` it"), is_refused, "{mode:o} {run:?}");
        assert!(!run.stderr.contains(SECRET), "{run:?}");
    }
}

#[test]
fn a_redis_that_drops_keys_is_reported_with_what_to_set() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "allkeys-lru", "--save", ""]);
    let error = refused(&["--store", &server.url()], 3);
    assert!(error.contains("set `maxmemory-policy noeviction`"), "{error}");
}

#[test]
fn a_file_without_keys_is_wrong_usage() {
    let error = refused(&["--state-keys", "/missing"], 2);
    assert!(error.contains("cannot read the state keys in /missing: No such file"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, SECRET).unwrap();
    let error = refused(&["--state-keys", file.path().to_str().unwrap()], 2);
    assert!(error.contains("line 1: no key of 32 bytes in base64"), "{error}");
}

#[test]
fn a_durability_that_redis_does_not_have_is_wrong_usage() {
    for word in ["disk", "replicated", "replicated:0", "replicated:many", "memory:1"] {
        let error = refused(&["--store", "redis://localhost", "--store-durability", word], 2);
        assert!(error.contains("--store-durability"), "{error}");
    }
}

#[test]
fn certificates_that_cannot_be_read_are_named() {
    let error = refused(&["--store", "rediss://127.0.0.1:1", "--store-ca", "/missing/ca.pem"], 3);
    assert!(error.contains("/missing/ca.pem"), "{error}");
}

/// What `bowline serve` of the built-in server writes to standard error with these options.
fn started(options: &[&str]) -> String {
    let mut command = bowline();
    command.args(["serve", "--json", "--http", "127.0.0.1:0"]).args(options);
    command.args(["--", bowline_path(), "demo", "--stdio"]);
    super::serving::Serving::start(&mut command).stop()
}

#[test]
fn tasks_on_a_redis_that_may_lose_them_are_noted_at_the_start() {
    let server = RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let note = "a failure of Redis may lose tasks; `--store-durability replicated:1`";
    let url = server.url();
    assert!(started(&["--store", &url]).contains(note));
    for word in ["memory", "fsync"] {
        let written = started(&["--store", &url, "--store-durability", word]);
        assert!(!written.contains(note), "{written}");
    }
    assert!(!started(&[]).contains(note));
}
