//! Many processes with many tasks each renew one token, at a server that revokes the login if a
//! refresh token is used twice.

use std::process::{Command, Stdio};
use std::time::Duration;

use bowline_auth::client::plan::Browser;
use bowline_auth::client::store::FileStore;
use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint};
use http::header::AUTHORIZATION;

use crate::{MCP, client, count, log_in};

const PROCESSES: usize = 8;
const TASKS: usize = 32;
/// The messages of each task, one after the other.
const MESSAGES: usize = 4;

/// Names the issuer and the folder to a process of the herd.
const ISSUER: &str = "BOWLINE_HERD_ISSUER";
const FOLDER: &str = "BOWLINE_HERD_FOLDER";

#[tokio::test]
async fn a_herd_of_processes_keeps_its_login() {
    if let (Ok(issuer), Ok(folder)) = (std::env::var(ISSUER), std::env::var(FOLDER)) {
        return run(&issuer, &folder).await;
    }
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("auth");
    // Every token is due as soon as it is issued.
    let server = AuthorizationServer::start().resource(MCP).scopes(["mcp"]);
    let authority = server.lifetime(Duration::ZERO).await;
    let browser = Browser::new("app").open_with(authority.approve());
    let browser = browser.store(FileStore::open(&folder).unwrap());
    log_in(&client(browser, authority.issuer()), "Bearer").await.unwrap();
    let name = "refresh_herd::a_herd_of_processes_keeps_its_login";
    let processes: Vec<_> = (0..PROCESSES)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", name]).env(ISSUER, authority.issuer()).env(FOLDER, &folder);
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut process in processes {
        let status = tokio::task::spawn_blocking(move || process.wait().unwrap());
        assert!(status.await.unwrap().success());
    }
    assert_eq!((authority.reuses(), count(&authority, OAuthEndpoint::Authorize)), (0, 1));
    assert!(count(&authority, OAuthEndpoint::Token) > PROCESSES);
}

/// One process of the herd.
async fn run(issuer: &str, folder: &str) {
    let give_up = |_| async { Err::<(), _>("the herd must not log in again") };
    let browser = Browser::new("app").open_with(give_up);
    let client = client(browser.store(FileStore::open(folder).unwrap()), issuer);
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..MESSAGES {
                    let headers = log_in(&client, "Bearer").await.unwrap();
                    assert!(headers.contains_key(AUTHORIZATION));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
