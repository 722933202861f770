//! `bowline watch`.

use std::io::Read as _;

use super::*;

#[test]
fn changes_are_printed_as_they_happen_in_both_eras() {
    for revision in BOTH {
        let http = HttpExhibit::start();
        for (options, expected) in [
            (&["--uri", "exhibit://clock"][..], "exhibit://clock changed\n"),
            (
                &["--uri", "exhibit://clock", "--json"][..],
                "{\"kind\":\"resource\",\"uri\":\"exhibit://clock\"}\n",
            ),
        ] {
            let mut command = bowline();
            command.args(["watch", &http.url, "--count", "1", "--revision", revision]);
            command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut note = String::new();
            let mut stderr = BufReader::new(child.stderr.take().unwrap());
            stderr.read_line(&mut note).unwrap();
            assert_eq!(note, "watching; Ctrl-C ends\n");
            assert_eq!(run(&["call", &http.url, "change"]).stdout, "changed\n");
            let mut stdout = String::new();
            child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
            assert_eq!((stdout.as_str(), child.wait().unwrap().code()), (expected, Some(0)));
        }
    }
}

/// A server of 2025-11-25 with these capabilities. It answers `logging/setLevel` and logs a line
/// then. It ends when its argument, a pipe, is opened.
fn small_server(capabilities: &str) -> String {
    let answer =
        |result: &str| format!(r#"printf '{{"jsonrpc":"2.0","id":%s,"result":{result}}}\n' "$id""#);
    let info = format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{{"name":"a","version":"1"}}}}"#
    );
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ahoy"}}"#;
    format!(
        r#"while read -r line; do
            id=${{line#*'"id":'}}; id=${{id%%[,\}}]*}}
            case $line in
                *'"initialize"'*) {} ;;
                *'"logging/setLevel"'*) {}; printf '%s\n' '{log}' ;;
                *notifications/initialized*) [ -z "$1" ] || {{ read -r end <"$1"; exit; }} ;;
            esac
        done"#,
        answer(&info),
        answer("{}"),
    )
}

#[test]
fn a_server_that_only_logs_is_watched() {
    let server = small_server(r#"{"logging":{}}"#);
    let options = ["watch", "--count", "1", "--revision", "2025-11-25", "--", "sh", "-c", &server];
    let watched = run(&options);
    assert_eq!((watched.code, watched.stdout.as_str()), (Some(0), "info: ahoy\n"), "{watched:?}");
}

#[test]
fn a_watch_ends_with_3_when_a_server_that_reports_no_changes_ends() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("end");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for capabilities in [r#"{"tools":{}}"#, "{}"] {
        let mut command = bowline();
        command.args(["watch", "--revision", "2025-11-25", "--", "sh", "-c"]);
        command.args([&small_server(capabilities), "sh", pipe.to_str().unwrap()]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut note = String::new();
        stderr.read_line(&mut note).unwrap();
        assert_eq!(note, "watching; Ctrl-C ends\n");
        fs::write(&pipe, "end\n").unwrap();
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "error: the server ended the connection\n");
        assert_eq!(child.wait().unwrap().code(), Some(3));
    }
}
