//! Logins of a gateway, and what it says about them.

use std::process::{ChildStderr, ChildStdout};

use super::*;

/// A gateway in front of one server, `guarded`.
struct Gateway {
    child: Child,
    url: String,
    notes: BufReader<ChildStderr>,
    _folder: TempDir,
    _output: BufReader<ChildStdout>,
}

impl Gateway {
    fn start(protected: &Protected, server: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = format!(r#"{{ "mcpServers": {{ "guarded": {{ "url": "{server}" }} }} }}"#);
        fs::write(folder.path().join("bowline.json"), config).unwrap();
        let mut command =
            protected.bowline(&["gateway", "bowline.json", "--json", "--http", "127.0.0.1:0"]);
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut text = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        while !text.ends_with("}\n") {
            assert_ne!(output.read_line(&mut text).unwrap(), 0, "it ended: {text}");
        }
        let url = text.split('"').nth(3).unwrap().to_owned();
        let notes = BufReader::new(child.stderr.take().unwrap());
        Self { child, url, notes, _folder: folder, _output: output }
    }

    /// Calls the server through it, as a user with other logins.
    fn call(&self) -> Run {
        run(&["call", &self.url, "guarded__hello"])
    }

    /// What it says next to its operator.
    fn note(&mut self) -> String {
        let mut note = String::new();
        self.notes.read_line(&mut note).unwrap();
        note
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_gateway_names_the_login_that_a_server_needs_and_takes_it_over() {
    let protected = Protected::start();
    let mut gateway = Gateway::start(&protected, &protected.url);
    let refused = gateway.call();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let login = format!("{0} demands a login: bowline login {0}\n", protected.url);
    assert_eq!(gateway.note(), login);
    protected.log_in(&[&protected.url]);
    // The gateway pauses for a moment after a failure.
    let mut calls = (0..200).map(|_| gateway.call());
    let called = calls.find(|called| called.code == Some(0));
    assert_eq!(called.unwrap().stdout, "hello\n");
}

#[test]
fn a_gateway_says_why_a_login_is_not_used_and_shows_no_query_of_a_url() {
    let protected = Protected::start();
    let url = format!("{}?key=s3cr3t", protected.url);
    let way = r#"{ "by": "token-file", "path": "/absent" }"#;
    let listed = format!(r#"{{ "servers": [{{ "url": "{url}", "way": {way} }}] }}"#);
    fs::create_dir_all(protected.folder()).unwrap();
    fs::write(protected.folder().join("servers.json"), listed).unwrap();
    let mut gateway = Gateway::start(&protected, &url);
    let refused = gateway.call();
    let shown = format!("{}?…", protected.url);
    let reason =
        format!("the login at {shown} is not used: the secret in /absent cannot be read: ");
    let (first, second) = (gateway.note(), gateway.note());
    assert!(first.starts_with(&reason), "{first}");
    assert!(second.starts_with(&format!("{shown} demands a login: ")), "{second}");
    let output = format!("{first}{second}{}{}", refused.stdout, refused.stderr);
    assert!(!output.contains("s3cr3t"), "{output}");
}
