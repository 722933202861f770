//! Servers as child processes: their era is detected and remembered, and they end with the client.

#![cfg(unix)]

use std::path::PathBuf;
use std::process::Stdio;

use bowline_client::types::revision::Revision;
use bowline_client::{Client, Command};
use tempfile::TempDir;

/// Answers the first message like a legacy server, and then one call.
const LEGACY: &str = r#"
    shake() {
        echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}'
        read -r initialized
    }
"#;

/// A shell script as a server. It adds a line to the file `$1` for the first message of each start.
struct Script {
    directory: TempDir,
    command: Command,
}

impl Script {
    fn new(text: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("log");
        let text = format!("{LEGACY}\nread -r first\necho \"$first\" >> \"$1\"\n{text}");
        let command = Command::new("sh").arg("-c").arg(text).arg("server").arg(&file);
        Self { directory, command }
    }

    async fn connect(&self) -> bowline_client::Result<Client> {
        Client::connect(self.command.clone()).await
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// The first method that each start received.
    fn starts(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.file()).unwrap();
        let method = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["method"].as_str().unwrap().to_owned()
        };
        log.lines().map(method).collect()
    }
}

// spec: ERA-5, ERA-11
#[tokio::test]
async fn a_server_that_exits_on_the_probe_is_started_again_and_remembered() {
    let script = Script::new(
        r#"case "$first" in *server/discover*) echo 'unknown method' >&2; exit 3;; esac
           shake
           cat > /dev/null"#,
    );
    let client = script.connect().await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_06_18);
    client.close().await;
    assert_eq!(script.starts(), ["server/discover", "initialize"]);

    script.connect().await.unwrap().close().await;
    assert_eq!(script.starts(), ["server/discover", "initialize", "initialize"]);
}

// spec: ERA-12
#[tokio::test]
async fn a_server_whose_remembered_era_is_wrong_is_probed_again() {
    let script = Script::new(
        r#"if [ "$(wc -l < "$1")" -le 2 ]; then
               case "$first" in *server/discover*) exit 3;; esac
               shake
               cat > /dev/null
           fi
           case "$first" in *'"initialize"'*)
               echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}'
               exit;;
           esac
           echo '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}'
           cat > /dev/null"#,
    );
    script.connect().await.unwrap().close().await;
    let client = script.connect().await.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    client.close().await;
    let expected = ["server/discover", "initialize", "initialize", "server/discover"];
    assert_eq!(script.starts(), expected);
    script.connect().await.unwrap().close().await;
    assert_eq!(script.starts().last().unwrap(), "server/discover", "it is not remembered any more");
}

#[tokio::test]
async fn a_server_that_always_dies_is_started_twice_and_quoted() {
    let script = Script::new("echo 'no licence key' >&2; exit 3");
    let error = script.connect().await.unwrap_err();
    assert!(error.is_connect() && error.is_closed());
    let text = error.to_string();
    assert!(text.contains("`sh` exited with status 3"), "{text}");
    assert!(text.ends_with("standard error: no licence key"), "{text}");
    assert_eq!(script.starts(), ["server/discover", "initialize"]);
}

#[tokio::test]
async fn the_error_for_a_missing_program_names_it() {
    let error = Client::connect(Command::new("bowline-no-such-program")).await.unwrap_err();
    assert!(error.is_connect() && !error.is_closed() && !error.may_retry());
    let expected = "connecting: cannot start `bowline-no-such-program`: \
                    No such file or directory (is it installed and on PATH?)";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_call_in_flight_when_the_server_dies_fails_with_its_last_words() {
    let script = Script::new(
        r#"case "$first" in *server/discover*) exit 3;; esac
           shake
           read -r call
           echo 'out of memory' >&2
           exit 9"#,
    );
    let client = script.connect().await.unwrap();
    let error = client.call("work", ()).await.unwrap_err();
    assert!(error.is_closed() && !error.may_retry());
    let expected = "calling `work`: the connection closed before the answer came: \
                    the server `sh` exited with status 9; standard error: out of memory";
    assert_eq!(error.to_string(), expected);

    let error = client.call("work", ()).await.unwrap_err();
    assert!(error.is_closed() && error.may_retry());
    assert!(error.to_string().ends_with("standard error: out of memory"), "{error}");
}

// spec: STDIO-12, STDIO-13
#[tokio::test]
async fn a_server_is_gone_when_its_client_is_closed() {
    let script = Script::new(
        r#"case "$first" in *server/discover*) exit 3;; esac
           echo $$ > "$1.pid"
           shake
           cat > /dev/null"#,
    );
    let client = script.connect().await.unwrap();
    let process = std::fs::read_to_string(script.file().with_extension("pid")).unwrap();
    assert!(is_running(process.trim()));
    client.close().await;
    assert!(!is_running(process.trim()));
}

fn is_running(process: &str) -> bool {
    let mut kill = std::process::Command::new("kill");
    kill.args(["-0", process]).stdout(Stdio::null()).stderr(Stdio::null());
    kill.status().unwrap().success()
}
