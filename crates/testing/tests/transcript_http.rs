//! Transcripts over HTTP, in virtual time: a play passes if the server sends the expected messages as
//! its revision defines, and names the line where it does not.

use std::time::Duration;

use bowline::{Progress, Server, tool, tools};
use bowline_testing::ServerUnderTest;
use bowline_testing::transcript::{Setup, Transcript};

/// Say it again
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Say twice how far it is
#[tool]
async fn advance(progress: Progress) -> &'static str {
    for step in 1..=2 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        progress.report(step, None, "on the way");
    }
    "arrived"
}

/// Take a second
#[tool]
async fn wait() -> &'static str {
    tokio::time::sleep(Duration::from_secs(1)).await;
    "waited"
}

/// Plays in every revision of the file; returns the first failure.
fn play(text: &str, patience: Duration) -> Result<(), String> {
    let transcript = Transcript::parse("a.mcp", text).unwrap();
    for revision in transcript.revisions() {
        let server = Server::new("s", "1").tools(tools![echo, advance, wait]);
        let server = ServerUnderTest::build(&server).unwrap();
        let played = transcript.play(*revision, &server, Setup::Http { patience });
        played.map_err(|failure| failure.to_string())?;
    }
    Ok(())
}

fn passes(text: &str) {
    assert_eq!(play(text, Duration::from_secs(30)), Ok(()));
}

fn fails(text: &str) -> String {
    play(text, Duration::from_millis(100)).unwrap_err()
}

fn modern(lines: &str) -> String {
    format!("# A.\nrevision: 2026-07-28\n{lines}")
}

fn call(id: u32, name: &str) -> String {
    format!(
        "> {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"_meta\":@client{{progress:7}}}}}}\n"
    )
}

fn answer(id: u32) -> String {
    format!("< {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":@any}}\n")
}

fn progress(count: u32) -> String {
    format!(
        "< {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":7,\"progress\":{count},\"message\":\"on the way\"}}}}\n"
    )
}

#[test]
fn a_play_uses_http_as_its_revision_defines_it() {
    let ping = "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    passes(&format!("# A.\nrevision: legacy\n@initialize\n{ping}{}", answer(1)));
    let list = "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":@client}}\n";
    passes(&modern(&format!("{list}{}", answer(1))));
}

#[test]
fn an_answer_that_differs_fails_in_its_line() {
    let failure = fails(&modern(&format!("{}< {{\"id\":2}}\n", call(1, "nope"))));
    let expected = "a.mcp:4: expected\n  < {\"id\":2}\ngot\n  <http 200 {\"jsonrpc\"";
    assert!(failure.starts_with(expected), "{failure}");
}

#[test]
fn an_expected_message_that_does_not_come_fails() {
    let failure = fails(&modern(&format!("{}{}", call(1, "wait"), answer(1))));
    assert!(failure.ends_with("but nothing came"), "{failure}");
}

#[test]
fn an_unexpected_message_fails() {
    let failure = fails(&modern(&call(1, "nope")));
    assert!(failure.starts_with("a.mcp:3: unexpected output at the end\n"), "{failure}");
    let failure = fails(&modern(&format!("{}.. 2s\n.. 1s\n", call(1, "wait"))));
    assert!(failure.starts_with("a.mcp:5: unexpected output\n"), "{failure}");
}

#[test]
fn messages_of_one_stream_must_come_in_their_order() {
    let (first, second) = (progress(1), progress(2));
    let sent = format!("{}.. 2s\n", call(1, "advance"));
    passes(&modern(&format!("{sent}{first}{second}{}", answer(1))));
    let failure = fails(&modern(&format!("{sent}{second}{first}{}", answer(1))));
    assert!(failure.starts_with("a.mcp:5: expected\n  < "), "{failure}");
}

#[test]
fn messages_of_two_streams_may_come_in_any_order() {
    let calls = format!("{}{}.. 1s\n", call(1, "wait"), call(2, "wait"));
    passes(&modern(&format!("{calls}{}{}", answer(1), answer(2))));
    passes(&modern(&format!("{calls}{}{}", answer(2), answer(1))));
}

#[test]
fn a_line_for_http_replaces_the_expected_message_of_other_transports() {
    let ping = "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let early = |status: u16| {
        let refusal = "{\"jsonrpc\":\"2.0\",\"error\":@any}";
        format!("# A.\nrevision: 2025-06-18\n{ping}{}<http {status} {refusal}\n", answer(1))
    };
    passes(&early(400));
    let failure = fails(&early(404));
    assert!(failure.starts_with("a.mcp:5: expected\n  <http 404 {"), "{failure}");
}

#[test]
fn a_cancellation_closes_its_post() {
    let cancelled = "> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
    passes(&modern(&format!("{}{cancelled}.. 2s\n", call(1, "wait"))));
}
