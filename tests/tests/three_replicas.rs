//! `cargo xtask replicas`: three processes behind nginx with one Redis, as its user sees them.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use bowline::Client;
use bowline_types::revision::Revision;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// The program, and what it has printed about itself.
struct Launcher {
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
    url: String,
    /// Names and ids of the processes that it has started.
    programs: Vec<(String, Pid)>,
}

impl Launcher {
    async fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_three_replicas"));
        command.args(["--port", "0"]).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let (mut url, mut programs) = (None, Vec::new());
        loop {
            let line = output.next_line().await.unwrap().expect("it goes on");
            if let Some(found) = line.strip_prefix("  http") {
                url = Some(format!("http{found}"));
            } else if let Some((name, id)) = line.split_once(" process ") {
                programs.push((name.trim().to_owned(), Pid::from_raw(id.parse().unwrap())));
            } else if line.starts_with("Ctrl-C") {
                return Self { process, output, url: url.unwrap(), programs };
            }
        }
    }

    async fn client(&self, revision: Revision) -> Client {
        let builder = Client::builder("test", "1.0.0").revisions([revision]);
        let builder = builder.on_ask(|question| async move { question.accept("Ada") });
        builder.http(&self.url).connect().await.unwrap()
    }

    fn signal(&self, name: &str, signal: Signal) {
        let (_, id) = self.programs.iter().find(|(program, _)| program == name).unwrap();
        kill(*id, signal).unwrap();
    }

    /// Ends it as Ctrl-C does.
    async fn end(&mut self) {
        let id = self.process.id().unwrap().cast_signed();
        kill(Pid::from_raw(id), Signal::SIGINT).unwrap();
        assert!(self.process.wait().await.unwrap().success());
    }
}

/// After a failed assertion no process may be left.
impl Drop for Launcher {
    fn drop(&mut self) {
        if let Some(id) = self.process.id() {
            let _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
            for (_, id) in &self.programs {
                let _ = kill(*id, Signal::SIGKILL);
            }
        }
    }
}

/// The replicas that answer some calls, one after the other.
async fn replicas(client: &Client, calls: usize) -> BTreeSet<String> {
    let mut replicas = BTreeSet::new();
    for _ in 0..calls {
        replicas.insert(client.call("replica", ()).await.unwrap().text());
    }
    replicas
}

#[tokio::test]
async fn one_session_is_served_by_three_replicas_and_goes_on_when_one_of_them_stops() {
    let whole = async {
        let mut launcher = Launcher::start().await;
        let client = launcher.client(Revision::LATEST_LEGACY).await;
        assert_eq!(replicas(&client, 9).await.len(), 3);
        launcher.signal("replica 2", Signal::SIGTERM);
        loop {
            // It serves on for a while, then nginx turns to the others: no call fails.
            replicas(&client, 1).await;
            let line = tokio::time::timeout(Duration::from_millis(1), launcher.output.next_line());
            if let Ok(line) = line.await
                && line.unwrap().unwrap().starts_with("replica 2 has ended (exit status: 0)")
            {
                break;
            }
        }
        assert_eq!(replicas(&client, 9).await.len(), 2, "in the same session");
        client.close().await;
        launcher.end().await;
    };
    tokio::time::timeout(Duration::from_secs(60), whole).await.unwrap();
}

#[tokio::test]
async fn a_question_and_its_answer_may_pass_through_different_replicas() {
    let whole = async {
        let mut launcher = Launcher::start().await;
        for revision in BOTH {
            let client = launcher.client(revision).await;
            for _ in 0..4 {
                let greeting = client.call("greet", json!({})).await.unwrap();
                assert_eq!(greeting.text(), "Hello, Ada!");
            }
            client.close().await;
        }
        launcher.end().await;
    };
    tokio::time::timeout(Duration::from_secs(60), whole).await.unwrap();
}

#[tokio::test]
async fn no_process_is_left_after_ctrl_c() {
    let whole = async {
        let mut launcher = Launcher::start().await;
        let client = launcher.client(Revision::LATEST_LEGACY).await;
        replicas(&client, 3).await;
        launcher.end().await;
        assert_eq!(launcher.programs.len(), 5);
        for (name, id) in &launcher.programs {
            assert!(kill(*id, None).is_err(), "{name} still runs");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), whole).await.unwrap();
}

#[test]
fn the_manual_shows_the_configuration_of_nginx() {
    let file = include_str!("../../examples/replicas/nginx.conf");
    let (_, settings) = file.split_once("\n\n").expect("a comment comes first");
    let chapter = include_str!("../../crates/bowline/src/manual/_32_behind_nginx.md");
    assert!(chapter.contains(&format!("```nginx\n{settings}```")));
}
