//! `bowline login`, `logout` and `status`, and what stored logins do to the other commands: against
//! a protected server and an authorization server of this repository.

mod gateway;
#[cfg(all(feature = "keyring", target_os = "linux"))]
mod keyring;

use std::io::Read as _;
use std::sync::Arc;

use bowline::auth::Jwt;
use bowline::http::{Admit, Authorization};
use bowline::{Server, Tool};
use bowline_testing::oauth::{
    AuthorizationServer, AuthorizationServerBuilder, OAuthEndpoint, RegisteredClient, UserAgent,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::http_script::HttpScript;
use super::*;

/// A protected server, its authorization server, and a home for tokens.
struct Protected {
    runtime: Runtime,
    authority: AuthorizationServer,
    url: String,
    home: TempDir,
}

impl Protected {
    fn start() -> Self {
        Self::with(AuthorizationServer::start())
    }

    fn with(authority: AuthorizationServerBuilder) -> Self {
        let runtime = Runtime::new().unwrap();
        let authority = runtime.block_on(async { authority.scopes(["mcp", "export"]).await });
        let url = runtime.block_on(serve(authority.issuer().to_owned()));
        Self { runtime, authority, url, home: tempfile::tempdir().unwrap() }
    }

    /// The command with the tokens of this home.
    fn bowline(&self, arguments: &[&str]) -> Command {
        let mut command = bowline();
        command.args(arguments).env("XDG_DATA_HOME", self.home.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.bowline(arguments).output().unwrap().into()
    }

    /// Logs in, with a user who opens the printed page and approves.
    fn log_in(&self, arguments: &[&str]) -> Run {
        self.log_in_as(UserAgent::Approves, arguments)
    }

    fn log_in_as(&self, user: UserAgent, arguments: &[&str]) -> Run {
        let mut command = self.bowline(&[&["login", "--no-browser"], arguments].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while notes.read_line(&mut said).unwrap() > 0 {
            if let Some(page) = said.lines().last().unwrap().trim().strip_prefix("http") {
                let page = format!("http{page}");
                self.runtime.block_on(user.open(&page)).unwrap();
                break;
            }
        }
        let mut rest = String::new();
        notes.read_to_string(&mut rest).unwrap();
        let mut run = Run::from(child.wait_with_output().unwrap());
        run.stderr = said + &rest;
        run
    }

    fn count(&self, endpoint: OAuthEndpoint) -> usize {
        self.authority.requests_to(endpoint).len()
    }

    /// Six processes call the server at once, and all succeed.
    fn call_at_once(&self) {
        let running: Vec<Child> = (0..6)
            .map(|_| {
                let mut command = self.bowline(&["call", &self.url, "hello"]);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in running {
            let run = Run::from(child.wait_with_output().unwrap());
            assert_eq!((run.code, &*run.stdout), (Some(0), "hello\n"), "{run:?}");
        }
    }

    /// How often a refresh token was spent.
    fn refreshes(&self) -> usize {
        let requests = self.authority.requests_to(OAuthEndpoint::Token);
        requests.iter().filter(|it| it.value("grant_type") == Some("refresh_token")).count()
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("bowline/logins")
    }

    /// All stored records, as texts.
    fn records(&self) -> Vec<(PathBuf, String)> {
        let Ok(entries) = fs::read_dir(self.folder()) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        let records = paths.filter(|path| path.extension().is_some_and(|it| it == "record"));
        records.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    }

    /// Makes the stored access token look as if it had expired long ago.
    fn expire(&self) {
        self.rewrite("\"issued\":", |c| c.is_ascii_digit(), "1000");
    }

    /// Replaces a value in the stored records.
    fn rewrite(&self, name: &str, is_value: fn(char) -> bool, value: &str) {
        for (path, text) in self.records() {
            if let Some((before, after)) = text.split_once(name) {
                let rest = after.trim_start_matches(is_value);
                fs::write(path, format!("{before}{name}{value}{rest}")).unwrap();
            }
        }
    }

    /// The tokens in the files.
    fn secrets(&self) -> Vec<String> {
        let value = |text: &str, name: &str| {
            let (_, rest) = text.split_once(&format!("\"{name}\":\""))?;
            rest.split('"').next().map(str::to_owned)
        };
        let texts = self.records();
        let secrets = texts
            .iter()
            .flat_map(|(_, text)| ["access", "refresh", "secret"].map(|name| value(text, name)));
        secrets.flatten().collect()
    }
}

/// Verifies tokens for the URL at which the server listens.
struct TokensOf(String);

impl Authorization for TokensOf {
    fn admit_to(self: Arc<Self>, resource: &str) -> Result<Arc<dyn Admit>, String> {
        Arc::new(Jwt::issuer(&*self.0).audience(resource).require_scope("mcp")).admit_to(resource)
    }
}

/// Serves two tools, of which one needs a scope of its own; returns the URL.
async fn serve(issuer: String) -> String {
    let server = Server::new("protected", "1.0.0")
        .tool(Tool::new("hello", async || "hello").read_only())
        .tool(Tool::new("export", async || "exported").step_up_scope("export"));
    let bound = server.http().auth(TokensOf(issuer)).listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    tokio::spawn(bound.serve_until(std::future::pending()));
    url
}

#[test]
fn a_command_without_a_login_opens_no_page_and_ends_with_4() {
    let protected = Protected::start();
    for words in [
        &["list", &protected.url][..],
        &["call", &protected.url, "hello"],
        &["inspect", &protected.url],
        &["connect", &protected.url],
    ] {
        for revision in BOTH {
            let run = protected.run(&[words, &["--revision", revision]].concat());
            assert_eq!(run.code, Some(4), "{words:?} {run:?}");
            let hint = format!("hint: bowline login {}\n", protected.url);
            assert!(run.stderr.ends_with(&hint), "{run:?}");
        }
    }
    // The authorization server got no request, and nothing was written.
    assert!(protected.authority.requests().is_empty());
    assert!(!protected.folder().exists());
}

#[test]
fn a_list_of_logins_that_cannot_be_read_stops_only_commands_that_need_a_login() {
    let http = HttpExhibit::start();
    // Below a file there can be no list.
    let run = |words: &[&str]| -> Run {
        bowline().args(words).env("XDG_DATA_HOME", "/dev/null").output().unwrap().into()
    };
    for words in [
        &["call", &http.url, "echo", "message=hi"][..],
        &["inspect", &http.url],
        &["check", &http.url],
    ] {
        let called = run(words);
        assert_eq!(called.code, Some(0), "{words:?} {called:?}");
        assert_eq!(called.stderr.matches("note: the list of logins").count(), 1, "{called:?}");
    }
    let protected = Protected::start();
    let refused = run(&["list", &protected.url]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    let (before, hint) = refused.stderr.rsplit_once("hint: ").unwrap();
    assert!(before.contains("error: "), "{refused:?}");
    assert!(hint.contains("the list of logins, /dev/null/"), "{refused:?}");
}

/// Otherwise each working folder would have logins of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_relative_folder_for_data_is_ignored() {
    let open = HttpExhibit::start();
    let (home, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = home.path().join("token");
    fs::write(&token, "x").unwrap();
    let mut command = bowline();
    command.args(["login", &open.url, "--token-file"]).arg(token).current_dir(here.path());
    command.env("HOME", home.path()).env("XDG_DATA_HOME", "data");
    let login = Run::from(command.output().unwrap());
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(home.path().join(".local/share/bowline/logins/servers.json").is_file());
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}

#[test]
fn a_login_is_used_by_every_command_in_both_eras() {
    let protected = Protected::start();
    let login = protected.log_in(&[&protected.url]);
    assert_eq!(login.code, Some(0), "{login:?}");
    let (issuer, url) = (protected.authority.issuer(), &protected.url);
    let said = format!("logged in at {issuer} for {url}, scopes mcp; expires in ");
    assert!(login.stdout.starts_with(&said), "{login:?}");
    for revision in BOTH {
        let words = ["--revision", revision];
        let called = protected.run(&[&["call", url, "hello"][..], &words].concat());
        assert_eq!((called.code, &*called.stdout), (Some(0), "hello\n"), "{called:?}");
        let listed = protected.run(&[&["list", url][..], &words].concat());
        assert!(listed.code == Some(0) && listed.stdout.contains("export"), "{listed:?}");
        let inspected = protected.run(&[&["inspect", url][..], &words].concat());
        assert!(inspected.stdout.contains("the login was accepted"), "{inspected:?}");
        let home = format!("XDG_DATA_HOME={}", protected.home.path().display());
        let bridge = [env!("CARGO_BIN_EXE_bowline"), "connect", url];
        let call = ["call", "hello", "--env", &home, "--revision", revision, "--"];
        let bridged = protected.run(&[&call[..], &bridge].concat());
        assert_eq!((bridged.code, &*bridged.stdout), (Some(0), "hello\n"), "{bridged:?}");
    }
    let checked = protected.run(&["check", url, "--revision", "2026-07-28"]);
    assert_ne!(checked.code, Some(4), "{checked:?}");
    assert_eq!(protected.count(OAuthEndpoint::Authorize), 1);
}

#[test]
fn a_server_that_refuses_with_403_beside_one_with_a_login_is_no_matter_of_a_login() {
    let protected = Protected::start();
    assert_eq!(protected.log_in(&[&protected.url]).code, Some(0));
    let closed = HttpScript::always("403 Forbidden", "text/plain", "not from this network");
    let servers = serde_json::json!({
        "closed": { "url": closed.url },
        "open": { "url": protected.url },
    });
    let file = protected.home.path().join("servers.json");
    fs::write(&file, serde_json::json!({ "mcpServers": servers }).to_string()).unwrap();
    let looked = protected.run(&["inspect", "--json", "--config", file.to_str().unwrap()]);
    let overview: serde_json::Value = serde_json::from_str(&looked.stdout).unwrap();
    let [closed, open] = &overview["servers"].as_array().unwrap()[..] else {
        panic!("{overview:#}");
    };
    assert_eq!(open["authorization"], "accepted", "{overview:#}");
    assert_eq!(closed["authorization"], "unknown", "{overview:#}");
    let notes = closed["notes"].to_string();
    assert!(notes.contains("403 Forbidden: not from this network"), "{notes}");
    assert!(!notes.contains("login"), "{notes}");
}

#[cfg(unix)]
#[test]
fn tokens_are_in_files_of_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let protected = Protected::start();
    assert_eq!(protected.log_in(&[&protected.url]).code, Some(0));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&protected.folder()), 0o700);
    for entry in fs::read_dir(protected.folder()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    // Tokens that others could read are not used.
    fs::set_permissions(protected.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    let open = protected.run(&["list", &protected.url]);
    assert_eq!(open.code, Some(4), "{open:?}");
    assert!(open.stderr.contains("`chmod 700`"), "{open:?}");
}

// spec: REFR-1, TOK-14
#[test]
fn no_output_shows_a_token() {
    let protected = Protected::start();
    let login = protected.log_in(&[&protected.url, "--json"]);
    let secrets = protected.secrets();
    assert!(secrets.len() >= 2, "{secrets:?}");
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["inspect", &protected.url, "--json"],
        &["call", &protected.url, "export"],
        &["logout", &protected.url, "--json"],
    ] {
        let run = protected.run(words);
        let output = format!("{}{}{}{}", login.stdout, login.stderr, run.stdout, run.stderr);
        for secret in &secrets {
            assert!(!output.contains(secret.as_str()), "{words:?}: {output}");
        }
    }
}

#[test]
fn the_status_names_server_issuer_scopes_and_how_long_it_lasts() {
    let protected = Protected::start();
    let none = protected.run(&["status"]);
    assert_eq!(none.stderr, "there are no logins; `bowline login URL` makes one\n");
    protected.log_in(&[&protected.url]);
    let text = |run: Run| {
        let text = run.stdout.replace(protected.authority.issuer(), "ISSUER");
        text.replace(&protected.url, "URL")
    };
    let status = text(protected.run(&["status"]));
    assert!(status.starts_with("URL\n  issuer   ISSUER\n  scopes   mcp\n"), "{status}");
    assert!(status.contains("expires  in 4 minutes; then renewed without you"), "{status}");
    protected.expire();
    let status = text(protected.run(&["status"]));
    assert!(status.contains(" days ago; renewed by the next command"), "{status}");
    let json = text(protected.run(&["status", "--json"]));
    for part in [r#""server": "URL""#, r#""issuer": "ISSUER""#, r#""canRenew": true"#] {
        assert!(json.contains(part), "{json}");
    }
}

#[test]
fn the_status_shows_a_login_that_cannot_be_read_beside_the_others() {
    let protected = Protected::start();
    protected.log_in(&[&protected.url]);
    let list = protected.folder().join("servers.json");
    let text = fs::read_to_string(&list).unwrap();
    let other = r#"{ "servers": [{ "url": "https://a.example/mcp", "tokens": "keyring",
        "way": { "by": "machine", "client": { "id": "a", "secret_file": "/absent" } } }, "#;
    let (_, rest) = text.split_once("\"servers\": [").unwrap();
    fs::write(&list, format!("{other}{rest}")).unwrap();
    let status = protected.run(&["status"]);
    assert_eq!(status.code, Some(4), "{status:?}");
    let rows = "https://a.example/mcp\n  login  cannot be read: ";
    assert!(status.stdout.starts_with(rows), "{status:?}");
    assert!(status.stdout.contains(&format!("{}\n  issuer ", protected.url)), "{status:?}");
    let json = protected.run(&["status", "--json"]).stdout;
    assert!(json.contains(r#""state": "unreadable""#) && json.contains(r#""error": ""#), "{json}");
    assert!(json.contains(r#""state": "ready""#), "{json}");
}

// spec: REFR-4
#[test]
fn processes_that_renew_at_once_spend_the_refresh_token_once() {
    let protected = Protected::start();
    protected.log_in(&[&protected.url]);
    for round in 1..=3 {
        protected.expire();
        protected.call_at_once();
        assert_eq!((protected.refreshes(), protected.authority.reuses()), (round, 0));
    }
}

#[test]
fn a_logout_revokes_the_tokens_and_deletes_them() {
    let protected = Protected::start();
    protected.log_in(&[&protected.url]);
    assert!(!protected.secrets().is_empty());
    let out = protected.run(&["logout", &protected.url]);
    assert_eq!(out.stdout, format!("logged out of {}\n", protected.url), "{out:?}");
    assert_eq!(protected.count(OAuthEndpoint::Revoke), 2);
    assert!(protected.secrets().is_empty());
    assert_eq!(protected.run(&["list", &protected.url]).code, Some(4));
    let again = protected.run(&["logout", &protected.url]);
    assert_eq!(again.code, Some(0));
    assert!(again.stderr.starts_with("there was no login at "), "{again:?}");
    assert!(protected.run(&["status", "--json"]).stdout.contains("\"logins\": []"));
}

#[test]
fn a_login_that_is_repeated_with_another_port_or_another_secret_file_stays() {
    let free_port = || std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let protected = Protected::start();
    assert_eq!(protected.log_in(&[&protected.url]).code, Some(0));
    let port = free_port().port().to_string();
    let again = protected.log_in(&["--port", &port, &protected.url]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(protected.count(OAuthEndpoint::Revoke), 0);
    assert_eq!(protected.run(&["call", &protected.url, "hello"]).stdout, "hello\n");

    let client = RegisteredClient::with_secret("ci", "geheim");
    let protected = Protected::with(AuthorizationServer::start().client(client));
    for name in ["secret", "moved"] {
        let secret = protected.home.path().join(name);
        fs::write(&secret, "geheim\n").unwrap();
        let words = ["login", &protected.url, "--machine", "--client-id", "ci"];
        let file = ["--client-secret-file", secret.to_str().unwrap()];
        let login = protected.run(&[&words[..], &file].concat());
        assert_eq!(login.code, Some(0), "{login:?}");
        assert_eq!(protected.run(&["call", &protected.url, "hello"]).stdout, "hello\n");
        assert_eq!(protected.count(OAuthEndpoint::Revoke), 0);
    }
}

#[test]
fn a_login_that_has_ended_at_its_server_is_named_and_can_be_repeated() {
    let protected = Protected::with(AuthorizationServer::start().without_refresh_tokens());
    protected.log_in(&[&protected.url]);
    let status = protected.run(&["status"]).stdout;
    assert!(status.contains("then you log in again"), "{status}");
    protected.rewrite("\"access\":\"", |c| c != '"', "wrong");
    let refused = protected.run(&["list", &protected.url]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("could not be renewed"), "{refused:?}");
    assert_eq!(protected.log_in(&[&protected.url]).code, Some(0));
    assert_eq!(protected.count(OAuthEndpoint::Authorize), 2);
    assert_eq!(protected.run(&["list", &protected.url]).code, Some(0));
}

// spec: SCOPE-17
#[test]
fn a_call_that_lacks_a_scope_names_it_and_the_login_that_asks_for_it() {
    let protected = Protected::start();
    protected.log_in(&[&protected.url]);
    for revision in BOTH {
        let words = ["call", &protected.url, "export", "--revision", revision];
        let refused = protected.run(&words);
        assert_eq!(refused.code, Some(4), "{refused:?}");
        assert!(refused.stderr.contains("the scopes `mcp export`"), "{refused:?}");
        let hint = format!("hint: bowline login {} --scope 'mcp export'\n", protected.url);
        assert!(refused.stderr.ends_with(&hint), "{refused:?}");
    }
    assert_eq!(protected.count(OAuthEndpoint::Authorize), 1);
    let login = protected.log_in(&[&protected.url, "--scope", "mcp export"]);
    assert_eq!(login.code, Some(0), "{login:?}");
    for revision in BOTH {
        let words = ["call", &protected.url, "export", "--revision", revision];
        assert_eq!(protected.run(&words).stdout, "exported\n");
    }
    // There is nothing left to ask for.
    assert_eq!(protected.run(&["login", &protected.url, "--scope", "export"]).code, Some(0));
    assert_eq!(protected.count(OAuthEndpoint::Authorize), 2);
}

#[test]
fn a_user_who_denies_is_not_logged_in() {
    let protected = Protected::start();
    let denied = protected.log_in_as(UserAgent::Denies, &[&protected.url]);
    assert_eq!(denied.code, Some(4), "{denied:?}");
    assert!(denied.stderr.contains("access_denied"), "{denied:?}");
    assert!(protected.run(&["status", "--json"]).stdout.contains("\"logins\": []"));
}

/// The program that opens pages writes its argument into a pipe.
#[cfg(target_os = "linux")]
#[test]
fn a_login_opens_the_browser() {
    use std::os::unix::fs::PermissionsExt as _;

    let protected = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let (program, pipe) = (folder.path().join("xdg-open"), folder.path().join("page"));
    fs::write(&program, format!("#!/bin/sh\nprintf %s \"$1\" > {}\n", pipe.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = protected.bowline(&["login", &protected.url]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.path().display()));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let page = fs::read_to_string(&pipe).unwrap();
    protected.runtime.block_on(UserAgent::Approves.open(&page)).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains(&page), "{run:?}");
}

#[test]
fn a_user_at_another_machine_pastes_the_last_address() {
    let protected = Protected::start();
    let mut command = protected.bowline(&["login", "--paste", &protected.url]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    let page = notes.find_map(|line| {
        line.unwrap().trim().strip_prefix("http").map(|rest| format!("http{rest}"))
    });
    let back = protected.runtime.block_on(UserAgent::Approves.decide(&page.unwrap())).unwrap();
    writeln!(child.stdin.take().unwrap(), "{back}").unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(protected.run(&["call", &protected.url, "hello"]).stdout, "hello\n");
}

// spec: OCC-2, OCC-3
#[test]
fn a_program_logs_in_with_its_secret_and_logs_in_again_by_itself() {
    let client = RegisteredClient::with_secret("ci", "geheim");
    let protected = Protected::with(AuthorizationServer::start().client(client));
    let secret = protected.home.path().join("secret");
    fs::write(&secret, "geheim\n").unwrap();
    let words = ["login", &protected.url, "--machine", "--client-id", "ci", "--json"];
    let file = ["--client-secret-file", secret.to_str().unwrap()];
    let login = protected.run(&[&words[..], &file].concat());
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(login.stdout.contains(r#""by": "machine""#), "{login:?}");
    protected.expire();
    assert_eq!(protected.run(&["call", &protected.url, "hello"]).stdout, "hello\n");
    assert_eq!(protected.count(OAuthEndpoint::Authorize), 0);
    // Only the name of the file is kept.
    for entry in fs::read_dir(protected.folder()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("geheim"), "{text}");
    }
    assert!(protected.run(&["logout", &protected.url]).stdout.starts_with("logged out"));
}

#[test]
fn a_logout_deletes_the_tokens_also_if_the_secret_of_the_client_is_gone() {
    let client = RegisteredClient::with_secret("ci", "geheim");
    let protected = Protected::with(AuthorizationServer::start().client(client));
    let secret = protected.home.path().join("secret");
    fs::write(&secret, "geheim\n").unwrap();
    let words = ["login", &protected.url, "--machine", "--client-id", "ci"];
    let file = ["--client-secret-file", secret.to_str().unwrap()];
    let login = protected.run(&[&words[..], &file].concat());
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(!protected.secrets().is_empty());
    fs::remove_file(&secret).unwrap();
    let out = protected.run(&["logout", &protected.url]);
    assert_eq!(out.stdout, format!("logged out of {}\n", protected.url), "{out:?}");
    assert!(out.stderr.contains("may stay valid at their server: the secret in "), "{out:?}");
    assert_eq!(protected.records(), []);
}

#[test]
fn a_token_of_another_program_is_read_from_its_file() {
    let protected = Protected::start();
    let token = protected.authority.token().audience(&protected.url).scopes(["mcp"]).build();
    let path = protected.home.path().join("token");
    fs::write(&path, format!("{token}\n")).unwrap();
    let file = ["--token-file", path.to_str().unwrap()];
    let login = protected.run(&[&["login", &protected.url][..], &file].concat());
    assert_eq!(login.code, Some(0), "{login:?}");
    assert_eq!(protected.run(&["call", &protected.url, "hello"]).stdout, "hello\n");
    assert!(protected.run(&["status"]).stdout.contains("kept by another program"));
    fs::write(&path, "wrong").unwrap();
    let refused = protected.run(&["call", &protected.url, "hello"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(protected.run(&["logout", &protected.url]).stdout.starts_with("logged out"));
    assert!(path.exists());
}

#[test]
fn a_server_that_demands_no_login_and_a_command_get_none() {
    let open = HttpExhibit::start();
    let home = tempfile::tempdir().unwrap();
    let at_home = |words: &[&str]| {
        Run::from(bowline().args(words).env("XDG_DATA_HOME", home.path()).output().unwrap())
    };
    let login = at_home(&["login", &open.url]);
    assert_eq!((login.code, login.stderr), (Some(0), format!("{} demands no login\n", open.url)));
    for words in [&["login", "./server"][..], &["login", "-H", "Authorization: x", &open.url]] {
        assert_eq!(at_home(words).code, Some(2));
    }
    let dead = at_home(&["login", "http://127.0.0.1:1/mcp"]);
    assert_eq!(dead.code, Some(3), "{dead:?}");
}

#[test]
fn a_configured_server_is_named_in_the_hint() {
    let protected = Protected::start();
    let folder = protected.home.path().join(".cursor");
    fs::create_dir(&folder).unwrap();
    let config =
        format!(r#"{{ "mcpServers": {{ "guarded": {{ "url": "{}" }} }} }}"#, protected.url);
    fs::write(folder.join("mcp.json"), config).unwrap();
    let at_home = |words: &[&str]| {
        Run::from(protected.bowline(words).env("HOME", protected.home.path()).output().unwrap())
    };
    let refused = at_home(&["list", "guarded"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.ends_with("hint: bowline login guarded\n"), "{refused:?}");
    protected.log_in(&[&protected.url]);
    assert_eq!(at_home(&["call", "guarded", "hello"]).stdout, "hello\n");
}
