//! Answers of many megabytes: directly, and through every command that stands between.

use serde_json::json;

use super::serving::Serving;
use super::*;

/// A server of both eras, whose tool answers with a text of 17 MB.
const DUMP: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
offers='"capabilities":{"tools":{}}'
while read -r line; do
    id=${line#*'"id":'}; id=${id%%,*}
    case "$line" in
        *'"initialize"'*) answer "{\"protocolVersion\":\"2025-11-25\",$offers,\"serverInfo\":{\"name\":\"dump\",\"version\":\"1\"}}";;
        *server/discover*) answer "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],$offers}";;
        *tools/list*) answer '{"resultType":"complete","tools":[{"name":"dump","inputSchema":{"type":"object"}}]}';;
        *tools/call*)
            printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":"' "$id"
            head -c 17000000 /dev/zero | tr '\0' x
            printf '"}]}}\n';;
    esac
done"#;

const LENGTH: usize = 17_000_000;

/// Expects that a call has printed the whole text.
#[track_caller]
fn is_whole(called: &Run, how: &str) {
    let end: String = called.stderr.chars().take(500).collect();
    assert_eq!((called.code, called.stdout.trim_end().len()), (Some(0), LENGTH), "{how}: {end}");
}

#[test]
fn a_text_of_17_mb_comes_through_call_and_connect() {
    for revision in BOTH {
        is_whole(&run(&["call", "dump", "--revision", revision, "--", "sh", "-c", DUMP]), revision);
        let connect = [bowline_path(), "connect", "--", "sh", "-c", DUMP];
        let call = ["call", "dump", "--revision", revision, "--"];
        is_whole(&run(&[&call[..], &connect[..]].concat()), revision);
    }
}

#[test]
fn a_text_of_17_mb_comes_through_serve_and_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({ "mcpServers": { "far": { "command": "sh", "args": ["-c", DUMP] } } });
    fs::write(folder.path().join("bowline.json"), config.to_string()).unwrap();
    let serve = ["serve", "--json", "--http", "127.0.0.1:0", "--", "sh", "-c", DUMP];
    let gateway = ["gateway", "bowline.json", "--json", "--http", "127.0.0.1:0"];
    for (words, tool) in [(&serve[..], "dump"), (&gateway[..], "far__dump")] {
        let serving = Serving::start_in(folder.path(), words);
        for revision in BOTH {
            let called = run(&["call", &serving.url, tool, "--revision", revision]);
            is_whole(&called, &format!("{tool} {revision}"));
        }
        serving.stop();
    }
}

/// A text twice, as most SDKs answer: as content and as structured content.
#[test]
fn text_and_structured_content_come_together_through_call_and_connect() {
    for length in [2_500_000, 16_000_000] {
        let long = format!("head -c {length} /dev/zero | tr '\\0' x");
        let middle = r#"printf '"}],"structuredContent":{"text":"'"#;
        let end = r#"printf '"}}}\n';;"#;
        let server = DUMP.replace("head -c 17000000 /dev/zero | tr '\\0' x", &long);
        let server = server.replace(r#"printf '"}]}}\n';;"#, &format!("{middle}; {long}; {end}"));
        assert!(server.contains("structuredContent"), "{server}");
        let connect = [bowline_path(), "connect", "--", "sh", "-c", &server];
        for (revision, server) in
            [(BOTH[0], &connect[..]), (BOTH[1], &connect), (BOTH[1], &connect[3..])]
        {
            let call = ["call", "dump", "--json", "--revision", revision, "--"];
            let called = run(&[&call[..], server].concat());
            assert_eq!(called.code, Some(0), "{length} {revision}: {}", called.stderr);
            let result: serde_json::Value = serde_json::from_str(&called.stdout).unwrap();
            let length_at = |place: &str| result.pointer(place).unwrap().as_str().unwrap().len();
            let lengths = [length_at("/content/0/text"), length_at("/structuredContent/text")];
            assert_eq!(lengths, [length; 2], "{revision}");
        }
    }
}

/// Half of the room that long messages have is the most that one of them takes.
#[test]
fn the_option_makes_room_for_a_message_that_the_usual_room_cannot_take() {
    const LONG: usize = 140_000_000;
    let server = DUMP.replace(&LENGTH.to_string(), &LONG.to_string());
    let connect = [bowline_path(), "connect", "--max-message", "1G", "--", "sh", "-c", &server];
    for server in [&["sh", "-c", &server][..], &connect] {
        let called = run(&[&["call", "dump", "--max-message", "1G", "--"], server].concat());
        let end: String = called.stderr.chars().take(500).collect();
        assert_eq!((called.code, called.stdout.trim_end().len()), (Some(0), LONG), "{end}");
    }
}

#[test]
fn an_answer_over_the_limit_names_the_limit_and_the_option_and_does_not_blame_the_server() {
    for revision in BOTH {
        let call = ["call", "dump", "--revision", revision];
        let server = ["sh", "-c", DUMP];
        let direct = [&call[..], &["--max-message", "1M", "--"], &server[..]].concat();
        let direct = run(&direct);
        assert_eq!(direct.code, Some(1), "{}", direct.stderr);
        let expected = "calling `dump`: the server's answer is longer than 1 MiB";
        assert!(direct.stderr.contains(expected), "{}", direct.stderr);
        assert!(direct.stderr.contains("--max-message"), "{}", direct.stderr);

        let connect = ["--", bowline_path(), "connect", "--max-message", "1M", "--"];
        let bridged = run(&[&call[..], &connect[..], &server[..]].concat());
        assert_eq!(bridged.code, Some(1), "{}", bridged.stderr);
        let reason = "gave an answer that is longer than 1 MiB";
        assert!(bridged.stderr.contains(reason), "{}", bridged.stderr);
    }
}

#[test]
fn a_gateway_reads_the_longest_message_from_its_file_and_the_option_counts_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bowline.json");
    let config = json!({
        "mcpServers": { "far": { "command": "sh", "args": ["-c", DUMP] } },
        "gateway": { "maxMessageMiB": 1 },
    });
    fs::write(&file, config.to_string()).unwrap();
    let gateway = ["call", "far__dump", "--", bowline_path(), "gateway", "--stdio"];
    let file = file.to_str().unwrap();
    let short = run(&[&gateway[..], &[file]].concat());
    assert!(short.stderr.contains("longer than 1 MiB"), "{}", short.stderr);
    is_whole(&run(&[&gateway[..], &["--max-message", "32M", file]].concat()), "the option");
}
