//! Servers as child processes: how they start, talk, fail and end.

#![cfg(all(unix, feature = "child"))]

mod support;

use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_transport::child::{Child, ChildReader, ChildWriter, Command, Stderr};
use bowline_transport::error::Error;
use bowline_transport::transport::{Reader, Transport, Writer};

use self::support::{Directory, PATIENCE, eventually, is_alive, next, queue, runtime};

/// A grace period: long enough for a shell to act, short enough for a test.
const GRACE: Duration = Duration::from_millis(300);

fn shell(script: &str) -> Command {
    Command::new("/bin/sh").args(["-c", script]).grace(GRACE)
}

fn split(child: Child) -> (ChildReader, ChildWriter) {
    child.split(&Limits::default())
}

async fn failure(child: Child) -> Error {
    let (mut reader, _writer) = split(child);
    let error = loop {
        match tokio::time::timeout(PATIENCE, reader.read()).await.unwrap() {
            Ok(unit) => assert!(unit.is_some(), "it ended without an error"),
            Err(error) => break error,
        }
    };
    assert_eq!(reader.read().await.unwrap(), None, "an end is reported once");
    error
}

async fn process_id(reader: &mut ChildReader) -> i32 {
    next(reader).await.parse().unwrap()
}

// spec: STDIO-1, STDIO-3, STDIO-5
#[tokio::test]
async fn a_client_talks_to_a_server_that_it_starts() {
    let (mut reader, mut writer) = split(Command::new("cat").spawn().unwrap());
    writer.write(&mut queue(["{\"a\":1}", "{\"b\":2}"])).await.unwrap();
    assert_eq!(next(&mut reader).await, "{\"a\":1}");
    assert_eq!(next(&mut reader).await, "{\"b\":2}");
    writer.close().await;
    assert_eq!(reader.read().await.unwrap(), None);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let error = Command::new("no-such-program").spawn().unwrap_err();
    assert!(error.is_start());
    assert_eq!(
        error.to_string(),
        "cannot start `no-such-program`: No such file or directory (is it installed and on PATH?)"
    );
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let error = Command::new("cat").current_dir("/no/such").spawn().unwrap_err();
    assert_eq!(error.to_string(), "cannot start `cat`: `/no/such` is no directory");
}

#[tokio::test]
async fn a_file_that_is_no_program_is_named() {
    let error = Command::new("/etc/passwd").spawn().unwrap_err();
    assert!(error.to_string().contains("`/etc/passwd`: Permission denied"), "{error}");
}

#[test]
fn starting_without_a_runtime_is_an_error_and_starts_nothing() {
    let error = Command::new("cat").spawn().unwrap_err();
    assert_eq!(error.to_string(), "cannot start `cat`: this is no Tokio runtime");
}

#[tokio::test]
async fn a_server_that_exits_at_once_is_quoted() {
    let script = "echo 'Starting up'; echo 'no module named mcp' >&2; exit 3";
    let error = failure(shell(script).spawn().unwrap()).await;
    assert!(error.is_exited() && error.is_closed());
    assert_eq!(
        error.to_string(),
        "the server `/bin/sh` exited with status 3 before it answered; standard error: \
         no module named mcp"
    );
}

/// The next lines that a child writes.
async fn read(reader: &mut ChildReader, lines: &[String]) -> Vec<String> {
    let mut read = Vec::new();
    for _ in lines {
        read.push(next(reader).await);
    }
    read
}

/// A script that prints these lines.
fn printing(lines: &[String]) -> String {
    lines.iter().map(|line| format!("printf '%s\\n' '{line}'\n")).collect()
}

/// A credential in the environment of a server goes where its errors go, unless it is taken out.
#[tokio::test]
async fn a_server_that_repeats_a_credential_in_an_error_does_not_leak_it() {
    let secret = format!("canary+/{}", "x".repeat(600));
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no $1","data":"$2"}}"#;
    let failed =
        r#"{"type":"text","text":"$1 $2"}],"structuredContent":{"key":"$1"},"isError":true"#;
    let failed = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{failed}}}}}"#);
    let log = r#""method":"notifications\/message","params":{"level":"error","data":["$2"]}"#;
    let log = format!(r#"{{"jsonrpc":"2.0",{log}}}"#);
    let batch = format!("[{error},{log}]");
    let success = r#"{"jsonrpc":"2.0","id":3,"result":{"isError":false,"content":["$1"]}}"#;
    let escaped = secret.replace('/', r"\/").replace('+', r"\u002b");
    let filled = |line: &str| line.replace("$1", &secret).replace("$2", &escaped);
    let lines = [error, &failed, &log, &batch, "starting with $1", success].map(filled);
    let script = printing(&lines) + r#"echo "bad key: $TOKEN" >&2; exit 1"#;
    let (mut reader, _writer) = split(shell(&script).env("TOKEN", &secret).spawn().unwrap());
    let read = read(&mut reader, &lines).await;
    let (success, failures) = read.split_last().unwrap();
    assert!(success.contains(&secret), "{success}");
    for failure in failures {
        assert!(failure.contains("[redacted]") && !failure.contains("canary"), "{failure}");
    }
    let end = tokio::time::timeout(PATIENCE, reader.read()).await.unwrap().unwrap_err();
    assert!(end.to_string().ends_with("; standard error: bad key: [redacted]"), "{end}");
}

#[tokio::test]
async fn variables_that_are_no_credentials_stay_in_errors() {
    let text = "information: /home/user-4711/customer-portal (12345678)";
    let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}"#);
    let error = format!(r#"{{"code":1,"message":"{text}","data":{{"id":12345678}}}}"#);
    let lines = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":2,"error":{error}}}"#),
    ];
    let command = shell(&printing(&lines)).env("PROJECT", "customer-portal");
    let command = command.env("HOME", "/home/user-4711").env("LOG_LEVEL", "information");
    let (mut reader, _writer) = split(command.env("PORTAL_ID", "12345678").spawn().unwrap());
    assert_eq!(read(&mut reader, &lines).await, lines);
}

#[tokio::test]
async fn a_credential_within_a_variable_is_recognized() {
    let error = r#"{"code":1,"message":"cannot log in as portal with canary-4711 at db.example"}"#;
    let lines = [format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#)];
    let expected = lines[0].replace("canary-4711", "[redacted]");
    for (name, value) in [
        ("DATABASE_URL", "postgres://portal:canary-4711@db.example/customer-portal"),
        ("AUTH_HEADER", "Bearer canary-4711"),
        ("HEADERS", r#"{"Authorization":"Bearer canary-4711","Project":"portal"}"#),
    ] {
        let child = shell(&printing(&lines)).env(name, value).spawn().unwrap();
        let (mut reader, _writer) = split(child);
        assert_eq!(read(&mut reader, &lines).await, [expected.as_str()], "{name}");
    }
}

#[tokio::test]
async fn a_banner_in_brackets_is_no_answer() {
    let script = "echo '[INFO] listening on 3000'; echo '{ level: 3 }'; exit 3";
    let error = failure(shell(script).spawn().unwrap()).await.to_string();
    assert!(error.contains("exited with status 3 before it answered"), "{error}");
}

#[tokio::test]
async fn a_server_that_exits_successfully_without_a_message_has_failed() {
    let error = failure(shell("exit 0").spawn().unwrap()).await;
    assert_eq!(
        error.to_string(),
        "the server `/bin/sh` exited with status 0 before it answered and wrote nothing to \
         standard error"
    );
}

#[tokio::test]
async fn a_server_that_crashes_later_is_quoted() {
    let child = shell("echo '{}'; echo oops >&2; kill -SEGV $$").stderr(Stderr::Null);
    let error = failure(child.spawn().unwrap()).await.to_string();
    assert!(error.starts_with("the server `/bin/sh` was ended by signal: 11"), "{error}");
    assert!(!error.contains("before it answered") && !error.contains("oops"), "{error}");
}

/// What the server started holds its output open, and is ended too.
#[tokio::test]
async fn a_server_that_is_killed_is_noticed_although_its_output_is_open() {
    let child = shell("sleep 1000 & echo $!; echo '{}'; kill -9 $$").spawn().unwrap();
    let (mut reader, _writer) = split(child);
    let started = process_id(&mut reader).await;
    assert_eq!(next(&mut reader).await, "{}");
    let end = tokio::time::timeout(PATIENCE, reader.read()).await.expect("it is noticed");
    assert!(end.unwrap_err().to_string().contains("was ended by signal: 9"));
    assert_eq!(reader.read().await.unwrap(), None, "an end is reported once");
    eventually("what it started is gone", || !is_alive(started));
}

#[tokio::test]
async fn a_server_that_is_killed_is_noticed_although_its_output_goes_on() {
    for pause in ["sleep 0.02", ":"] {
        let script = format!("(while {pause}; do echo '{{}}'; done) & echo '{{}}'; kill -9 $$");
        let ended = failure(shell(&script).spawn().unwrap());
        let error = tokio::time::timeout(PATIENCE, ended).await.expect("it is noticed");
        assert!(error.to_string().contains("was ended by signal: 9"), "{pause}: {error}");
    }
}

#[tokio::test]
async fn the_error_of_a_write_to_a_dead_server_says_how_it_died() {
    let (_reader, mut writer) = split(shell("echo broken >&2; exit 1").spawn().unwrap());
    let error = loop {
        if let Err(error) = writer.write(&mut queue(["{}"])).await {
            break error;
        }
        tokio::task::yield_now().await;
    };
    assert!(error.to_string().ends_with("standard error: broken"), "{error}");
}

// spec: LIFE-23
#[tokio::test]
async fn a_server_may_end_by_itself() {
    let (mut reader, _writer) = split(shell("echo '{}'").spawn().unwrap());
    assert_eq!(next(&mut reader).await, "{}");
    assert_eq!(reader.read().await.unwrap(), None);
}

// spec: LIFE-20, STDIO-12, STDIO-13
#[tokio::test]
async fn a_server_that_ends_with_its_input_gets_no_signal() {
    let script = "trap 'echo signal >&2' TERM; echo '{}'; cat; sleep 0.1; echo bye >&2";
    let child = shell(script).grace(PATIENCE).spawn().unwrap();
    let (id, stderr) = (child.id().cast_signed(), child.stderr().unwrap());
    let (mut reader, mut writer) = split(child);
    next(&mut reader).await;
    writer.close().await;
    assert!(!is_alive(id));
    assert_eq!(stderr.text(), "bye\n");
}

// spec: LIFE-21, STDIO-14
#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_gets_a_signal() {
    let script = "trap 'echo signal >&2; exit' TERM; echo '{}'; while :; do sleep 0.01; done";
    let child = shell(script).spawn().unwrap();
    let (id, stderr) = (child.id().cast_signed(), child.stderr().unwrap());
    let (mut reader, mut writer) = split(child);
    next(&mut reader).await;
    writer.close().await;
    assert!(!is_alive(id));
    assert!(stderr.text().ends_with("signal\n"), "{}", stderr.text());
}

// spec: LIFE-22, STDIO-14
#[tokio::test]
async fn a_server_that_ignores_signals_is_killed() {
    let script = "trap '' TERM; echo '{}'; while :; do sleep 1; done";
    let child = shell(script).spawn().unwrap();
    let id = child.id().cast_signed();
    let (mut reader, mut writer) = split(child);
    next(&mut reader).await;
    writer.close().await;
    assert!(!is_alive(id));
    writer.close().await;
}

// spec: STDIO-14
#[tokio::test]
async fn the_children_of_a_server_end_with_it() {
    let stubborn = "(trap '' TERM; exec sleep 100) & echo $!;";
    for script in [
        format!("{stubborn} {stubborn} cat >/dev/null"),
        format!("{stubborn} {stubborn} trap '' TERM; while :; do sleep 1; done"),
        format!("{stubborn} {stubborn} exit 0"),
    ] {
        let child = shell(&script).spawn().unwrap();
        let leader = child.id().cast_signed();
        let (mut reader, mut writer) = split(child);
        let grandchildren = [process_id(&mut reader).await, process_id(&mut reader).await];
        assert!(grandchildren.map(is_alive).iter().all(|alive| *alive), "{script}");
        writer.close().await;
        for id in [leader, grandchildren[0], grandchildren[1]] {
            assert!(!is_alive(id), "{script}");
        }
    }
}

#[tokio::test]
async fn a_wrapper_that_exits_does_not_end_the_server_behind_it() {
    let script = "cat <&0 & exit 0";
    // A shell gives background jobs an empty input, so its own is passed as another descriptor.
    let script = format!("exec 3<&0; {}", script.replace("<&0", "<&3"));
    let (mut reader, mut writer) = split(shell(&script).spawn().unwrap());
    for n in 0..3 {
        writer.write(&mut queue([format!("{{\"n\":{n}}}")])).await.unwrap();
        assert_eq!(next(&mut reader).await, format!("{{\"n\":{n}}}"));
    }
    writer.close().await;
}

#[tokio::test]
async fn dropping_a_server_ends_and_reaps_it() {
    let script = "trap '' TERM; echo $$; while :; do sleep 1; done";
    for halves in ["unsplit", "split"] {
        let child = shell(script).spawn().unwrap();
        let id = child.id().cast_signed();
        if halves == "split" {
            let (mut reader, writer) = split(child);
            assert_eq!(process_id(&mut reader).await, id);
            drop((reader, writer));
        } else {
            drop(child);
        }
        eventually("it is reaped", || !exists(id));
    }
}

#[tokio::test]
async fn dropping_a_close_does_not_stop_the_shutdown() {
    let child = shell("trap '' TERM; while :; do sleep 1; done").spawn().unwrap();
    let id = child.id().cast_signed();
    let (_reader, mut writer) = split(child);
    let closed = tokio::time::timeout(Duration::ZERO, writer.close()).await;
    assert!(closed.is_err());
    eventually("it is reaped", || !exists(id));
}

#[test]
fn drop_outside_runtime() {
    let runtime = runtime();
    let script = "trap '' TERM; while :; do sleep 1; done";
    let child = runtime.block_on(async { shell(script).spawn().unwrap() });
    let id = child.id().cast_signed();
    drop(runtime);
    assert!(is_alive(id));
    drop(child);
    eventually("it is reaped", || !exists(id));
}

// spec: STDIO-7, STDIO-8
#[tokio::test]
async fn a_server_may_log_as_much_as_it_likes() {
    let noise = "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2";
    let child = shell(&format!("{noise}; cat")).spawn().unwrap();
    let stderr = child.stderr().unwrap();
    let (mut reader, mut writer) = split(child);
    writer.write(&mut queue(["{}"])).await.unwrap();
    assert_eq!(next(&mut reader).await, "{}");
    writer.close().await;
    assert!(stderr.text().ends_with("xend\n"));
    assert_eq!(stderr.text().len(), 64 * 1024);
}

#[tokio::test]
async fn a_server_gets_no_variable_that_it_does_not_need() {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo sets it");
    let script = r#"echo "${CARGO_MANIFEST_DIR-none} ${TOKEN-none} ${PATH:+path}""#;
    let command = shell(script).env("TOKEN", "sesame");
    let (mut reader, _writer) = split(command.clone().spawn().unwrap());
    assert_eq!(next(&mut reader).await, "none sesame path");
    let (mut reader, _writer) = split(command.inherit_env().spawn().unwrap());
    let expected = format!("{} sesame path", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(next(&mut reader).await, expected);
}

#[test]
fn the_value_of_a_variable_is_not_shown() {
    let shown = format!("{:?}", Command::new("cat").env("TOKEN", "sesame"));
    assert!(shown.contains("TOKEN") && !shown.contains("sesame"), "{shown}");
}

// spec: LOCAL-2
#[test]
fn a_command_is_shown_with_all_of_its_arguments_and_none_cut() {
    let long = "x".repeat(100_000);
    let command = Command::new("/usr/bin/uvx").args(["--from=a", "", "a b", "\u{202e}\n\"$(id)\""]);
    let shown = command.arg(&long).env("TOKEN", "sesame").to_string();
    let expected = r#"/usr/bin/uvx --from=a "" "a b" "\u{202e}\n\"$(id)\"" "#;
    assert_eq!(shown, format!("{expected}{long}"));
    let one = Command::new("sh").arg("a b").to_string();
    assert_ne!(one, Command::new("sh").args(["a", "b"]).to_string());
}

#[tokio::test]
async fn arguments_are_not_read_by_a_shell() {
    let argument = r#"$HOME; `id` "* $(id) &"#;
    let child = Command::new("printf").arg("%s\n").arg(argument).spawn().unwrap();
    let (mut reader, _writer) = split(child);
    assert_eq!(next(&mut reader).await, argument);
}

#[tokio::test]
async fn a_server_starts_in_its_directory() {
    let directory = Directory::new();
    let place = directory.0.canonicalize().unwrap();
    let (mut reader, _writer) = split(Command::new("pwd").current_dir(&place).spawn().unwrap());
    assert_eq!(next(&mut reader).await, place.to_str().unwrap());
}

#[tokio::test]
async fn many_large_messages_pass_both_ways_though_the_reader_stalls() {
    let frame = |n: usize| format!("{{\"n\":{n},\"text\":\"{}\"}}", "x".repeat(64 * 1024));
    let (mut reader, mut writer) = split(Command::new("cat").spawn().unwrap());
    let mut frames = queue((0..200).map(frame));
    let stalled = tokio::time::timeout(Duration::from_millis(100), writer.write(&mut frames)).await;
    assert!(stalled.is_err() && !frames.is_empty(), "the peer does not read yet");
    let receive = async {
        for n in 0..200 {
            assert!(next(&mut reader).await == frame(n), "{n}");
        }
    };
    let (sent, ()) = tokio::join!(writer.write(&mut frames), receive);
    sent.unwrap();
    writer.close().await;
    assert_eq!(reader.read().await.unwrap(), None);
}

/// Whether the process exists; a zombie counts.
fn exists(id: i32) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), None).is_ok()
}
