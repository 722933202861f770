//! Restarts of servers that end by themselves.

#![cfg(unix)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_client::types::deprecated::logging::LoggingLevel;
use bowline_client::types::revision::Revision;
use bowline_client::{Change, Client, ClientBuilder, Command, Restart};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;

/// A server that writes each message into a file under `$1`, with the number of the process before
/// it, and answers the requests of every client.
const SERVER: &str = r#"
    echo >> "$1.starts"
    start=$(wc -l < "$1.starts" | tr -d ' ')
    answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
    text() { answer "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
    notify() { echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/$1\",\"params\":$2}"; }
    offers='{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}}'
    while read -r line; do
        echo "$start $line" >> "$1"
        id=${line#*'"id":'}; id=${id%%,*}
        case "$line" in
            *'"initialize"'*) answer "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":$offers,\"serverInfo\":{\"name\":\"mortal\",\"version\":\"1\"}}";;
            *server/discover*) answer "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":$offers}";;
            *subscriptions/listen*)
                meta="\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$id}"
                notify subscriptions/acknowledged "{$meta,\"notifications\":{\"toolsListChanged\":true}}";;
            *resources/subscribe*) answer '{}';;
            *logging/setLevel*) answer '{}'; notify message '{"level":"warning","data":"set"}';;
            *'"change"'*) notify tools/list_changed "{$meta}"; text changed;;
            *'"die"'*) echo 'out of memory' >&2; exit 9;;
            *'"leave"'*) exit 0;;
            *'"start"'*) text "$start";;
        esac
    done
"#;

struct Mortal {
    directory: TempDir,
    diagnostics: Arc<Mutex<Vec<String>>>,
}

impl Mortal {
    fn new() -> Self {
        Self { directory: TempDir::new().unwrap(), diagnostics: Arc::default() }
    }

    fn command(&self, restart: Restart) -> Command {
        let file = self.directory.path().join("log");
        Command::new("sh").args(["-c", SERVER, "server"]).arg(file).restart(restart)
    }

    fn client(&self, revision: Revision) -> ClientBuilder {
        let diagnostics = self.diagnostics.clone();
        let builder = Client::builder("test", "1").revisions([revision]);
        builder.on_diagnostic(move |what| diagnostics.lock().unwrap().push(what.to_owned()))
    }

    async fn connect(&self, revision: Revision) -> Client {
        self.client(revision).connect(self.command(soon())).await.unwrap()
    }

    /// The methods that each process read, in order.
    fn heard(&self, process: usize) -> Vec<String> {
        let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap();
        let own = log.lines().filter_map(|line| line.strip_prefix(&format!("{process} ")));
        let method = |line: &str| {
            let message: Value = serde_json::from_str(line).unwrap();
            message["method"].as_str().unwrap().to_owned()
        };
        own.map(method).collect()
    }

    fn starts(&self) -> usize {
        let starts = std::fs::read_to_string(self.directory.path().join("log.starts")).unwrap();
        starts.lines().count()
    }
}

fn soon() -> Restart {
    Restart::default().pause(Duration::from_millis(1))
}

const BOTH: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

// spec: STDIO-16
#[tokio::test]
async fn a_server_that_dies_is_restarted_and_the_call_is_not_repeated() {
    for revision in BOTH {
        let mortal = Mortal::new();
        let client = mortal.connect(revision).await;
        assert_eq!(client.call("start", ()).await.unwrap().text(), "1");
        let error = client.call("die", ()).await.unwrap_err();
        assert!(!error.is_closed() && !error.may_retry());
        let expected = "calling `die`: the server `sh` exited with status 9; standard error: out of \
                        memory; it is started again (attempt 1 of 5); the call may have run, so it \
                        is not made again";
        assert_eq!(error.to_string(), expected);
        assert_eq!(client.call("start", ()).await.unwrap().text(), "2");
        let first = match revision.is_modern() {
            true => vec!["server/discover"],
            false => vec!["initialize", "notifications/initialized"],
        };
        assert_eq!(mortal.heard(2), [first, vec!["tools/call"]].concat());
        client.close().await;
        assert_eq!(mortal.starts(), 2);
        assert!(
            mortal.diagnostics.lock().unwrap()[0].ends_with("it is started again (attempt 1 of 5)")
        );
    }
}

#[tokio::test]
async fn a_call_during_a_long_pause_before_the_restart_times_out_after_its_own_time() {
    let mortal = Mortal::new();
    let restart = Restart::default().pause(Duration::from_secs(600));
    let builder = mortal.client(Revision::V2026_07_28);
    let client = builder.connect(mortal.command(restart)).await.unwrap();
    client.call("die", ()).await.unwrap_err();
    let call = client.call("start", ()).timeout(Duration::from_millis(50));
    let outcome = tokio::time::timeout(Duration::from_secs(60), call.into_future()).await;
    assert!(outcome.expect("the call has a timeout").unwrap_err().is_timeout());
    assert_eq!(mortal.starts(), 1);
}

// spec: STDIO-16
#[tokio::test]
async fn a_server_that_exits_successfully_is_restarted_too() {
    for revision in BOTH {
        let mortal = Mortal::new();
        let client = mortal.connect(revision).await;
        let error = client.call("leave", ()).await.unwrap_err();
        assert!(
            error.to_string().contains("the channel is closed; it is started again"),
            "{error}"
        );
        assert_eq!(client.call("start", ()).await.unwrap().text(), "2");
    }
}

#[tokio::test]
async fn a_server_is_not_restarted_by_default() {
    let mortal = Mortal::new();
    let command = Command::new("sh").args(["-c", SERVER, "server"]);
    let command = command.arg(mortal.directory.path().join("log"));
    let client = mortal.client(Revision::V2025_11_25).connect(command).await.unwrap();
    assert!(client.call("die", ()).await.unwrap_err().is_closed());
    assert!(client.call("start", ()).await.unwrap_err().is_closed());
    assert_eq!(mortal.starts(), 1);
}

// spec: STDIO-16
#[tokio::test]
async fn after_a_restart_a_session_sets_its_log_level_and_subscribes_again() {
    let mortal = Mortal::new();
    let (logs, mut logged) = unbounded_channel();
    let builder = mortal.client(Revision::V2025_11_25);
    let builder = builder.on_log(LoggingLevel::Warning, move |_| _ = logs.send(()));
    let client = builder.connect(mortal.command(soon())).await.unwrap();
    let mut changes = client.subscribe().tools().resource("board://1").open().await.unwrap();
    logged.recv().await.unwrap();
    client.call("die", ()).await.unwrap_err();
    // Changes during the restart are unknown, so everything is reported as changed.
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Resource("board://1".into()));
    logged.recv().await.unwrap();
    let heard = mortal.heard(2);
    let expected =
        ["initialize", "notifications/initialized", "resources/subscribe", "logging/setLevel"];
    assert_eq!(heard, expected);
}

// spec: STDIO-16, SUB-17
#[tokio::test]
async fn after_a_restart_a_modern_subscription_is_opened_again() {
    let mortal = Mortal::new();
    let client = mortal.connect(Revision::V2026_07_28).await;
    let mut changes = client.subscribe().tools().open().await.unwrap();
    client.call("die", ()).await.unwrap_err();
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    assert_eq!(client.call("change", ()).await.unwrap().text(), "changed");
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    assert_eq!(mortal.heard(2), ["server/discover", "subscriptions/listen", "tools/call"]);
}

// spec: STDIO-16
#[tokio::test]
async fn a_server_that_keeps_dying_is_given_up() {
    for revision in BOTH {
        let mortal = Mortal::new();
        let command = mortal.command(soon().attempts(2));
        let client = mortal.client(revision).connect(command).await.unwrap();
        for _ in 0..2 {
            assert!(!client.call("die", ()).await.unwrap_err().is_closed());
        }
        let error = client.call("die", ()).await.unwrap_err();
        assert!(error.is_closed() && !error.may_retry());
        let text = error.to_string();
        assert!(text.ends_with("out of memory; it was started again 2 times in a row"), "{text}");
        assert_eq!(mortal.starts(), 3);
        let error = client.call("start", ()).await.unwrap_err();
        assert!(error.is_closed() && error.may_retry(), "{error}");
    }
}

// spec: STDIO-16
#[tokio::test]
async fn a_server_that_cannot_be_restarted_is_given_up() {
    let mortal = Mortal::new();
    let program = mortal.directory.path().join("server");
    std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
    let command = Command::new(&program).args(["-c", SERVER, "server"]);
    let command = command.arg(mortal.directory.path().join("log")).restart(soon().attempts(2));
    let client = mortal.client(Revision::V2025_11_25).connect(command).await.unwrap();
    std::fs::remove_file(&program).unwrap();
    client.call("die", ()).await.unwrap_err();
    let error = client.call("start", ()).await.unwrap_err();
    assert!(error.may_retry(), "{error}");
    assert!(client.is_closed());
    let error = client.call("start", ()).await.unwrap_err();
    assert!(error.to_string().contains("cannot start"), "{error}");
}

// spec: STDIO-16
#[tokio::test]
async fn closing_a_client_does_not_wait_for_a_restart() {
    for revision in BOTH {
        let mortal = Mortal::new();
        let command = mortal.command(Restart::default().pause(Duration::from_secs(30)));
        let client = mortal.client(revision).connect(command).await.unwrap();
        client.call("die", ()).await.unwrap_err();
        let waiting = client.clone();
        let waiting = tokio::spawn(async move { waiting.call("start", ()).await });
        tokio::task::yield_now().await;
        client.close().await;
        let error = waiting.await.unwrap().unwrap_err();
        assert!(error.may_retry(), "{error}");
        assert_eq!(mortal.starts(), 1);
    }
}
