//! Transcripts against a small server, in virtual time: a play passes if the server sends the expected
//! messages, and names the line where it does not.

use std::convert::Infallible;
use std::time::Duration;

use bowline_proto::request::{
    Outgoing, ProgressUpdate, ReportedChange, Request, Response, Success,
};
use bowline_proto::server::ServerConfig;
use bowline_testing::ServerUnderTest;
use bowline_testing::transcript::{Setup, Transcript};
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;
use futures_core::future::BoxFuture;

/// A server with two tools: `echo`, and `slow` which takes ten seconds.
async fn serve(request: Request) -> Response {
    let success = |body: &str| Ok(Success::raw(RawJson::from_text(body).unwrap(), Meta::new()));
    let name: Option<String> = request.params.parse("name").unwrap();
    match (request.parts.method, name.as_deref()) {
        (Method::ServerDiscover, _) => {
            success(r#"{"supportedVersions":[],"capabilities":{"tools":{}}}"#)
        }
        (Method::SubscriptionsListen, _) => {
            let acknowledged = ReportedChange::Acknowledged(SubscriptionFilter::default());
            request.parts.outbox.emit(Outgoing::Change(acknowledged)).unwrap();
            std::future::pending().await
        }
        (_, Some("echo")) => success(r#"{"content":[]}"#),
        (_, Some("slow")) => {
            for second in 1..=10_u8 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let advance =
                    ProgressUpdate { progress: second.into(), total: None, message: None };
                request.parts.outbox.emit(Outgoing::Progress(advance)).unwrap();
            }
            success(r#"{"content":[]}"#)
        }
        _ => Err(ErrorObject::invalid_params("no such tool")),
    }
}

/// A tower service that calls `serve`.
#[derive(Clone)]
struct Function;

impl tower_service::Service<Request> for Function {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Box::pin(async { Ok(serve(request).await) })
    }
}

fn server() -> ServerUnderTest {
    ServerUnderTest::new(Function, ServerConfig::new(Implementation::new("few-lines", "1.0.0")))
}

fn transcript(text: &str) -> Transcript {
    Transcript::parse("a.mcp", text).unwrap()
}

/// Plays in every setup that needs no process; returns the outcome, which must be the same in each.
fn play(text: &str) -> Result<(), String> {
    let transcript = transcript(text);
    let mut outcomes = Vec::new();
    for setup in [Setup::SansIo, Setup::Duplex, Setup::Socket] {
        let name = format!("{setup:?}");
        let played = transcript.play(transcript.revisions()[0], &server(), setup);
        outcomes.push((name, played.map(|_| ()).map_err(|failure| failure.to_string())));
    }
    let (_, first) = outcomes[0].clone();
    for (setup, outcome) in outcomes {
        assert_eq!(outcome, first, "{setup}");
    }
    first
}

const CALL: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"NAME","_meta":@client{progress:7}}}"#;

fn call(name: &str) -> String {
    CALL.replace("NAME", name)
}

#[test]
fn a_server_that_sends_the_expected_messages_passes() {
    let text = format!(
        "# A.\nrevision: 2026-07-28\n\n{}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",\"_meta\":@server,\"content\":[]}}}}\n",
        call("echo")
    );
    assert_eq!(play(&text), Ok(()));
}

#[test]
fn initialize_plays_the_whole_handshake() {
    let text = "# A.\nrevision: legacy\n\n@initialize{elicitation}\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    assert_eq!(play(text), Ok(()));
}

#[test]
fn an_answer_that_differs_fails_in_its_line() {
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n< {{\"id\":2}}\n", call("echo"));
    let failure = play(&text).unwrap_err();
    assert!(
        failure.starts_with("a.mcp:4: expected\n  < {\"id\":2}\ngot\n  < {\"jsonrpc\""),
        "{failure}"
    );
}

#[test]
fn an_unexpected_message_fails() {
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n.. 1s\n", call("echo"));
    let failure = play(&text).unwrap_err();
    assert!(failure.starts_with("a.mcp:4: unexpected output\n  < {"), "{failure}");
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n", call("echo"));
    let failure = play(&text).unwrap_err();
    assert!(failure.starts_with("a.mcp:3: unexpected output at the end\n  < {"), "{failure}");
}

#[test]
fn a_message_before_its_line_fails() {
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n.. 1500ms\n", call("slow"));
    let failure = play(&text).unwrap_err();
    assert!(failure.contains("\"progress\":1"), "{failure}");
}

#[test]
fn time_advances_only_by_lines_of_the_transcript() {
    let progress = |n: u32| {
        format!(
            "< {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":7,\"progress\":{n}}}}}\n"
        )
    };
    let all: String = (1..=10).map(progress).collect();
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n.. 10s\n{all}< @any\n", call("slow"));
    let failure = play(&text);
    assert_eq!(failure, Ok(()));
}

#[test]
fn the_action_stop_ends_the_servers_subscriptions() {
    let text = "# A.\nrevision: 2026-07-28\n\
        > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{},\"_meta\":@client}}\n\
        < @any\n! stop\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":@any}\n< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":@any}\n";
    assert_eq!(play(text), Ok(()));
}

#[test]
fn an_update_writes_the_messages_that_the_server_really_sends() {
    let path = std::env::temp_dir().join(format!("bowline-update-{}.mcp", std::process::id()));
    let text = format!(
        "# A.\nrevision: 2026-07-28\n\n{}\n< wrong\n< too much\n\n# Again.\n{}\n",
        call("echo"),
        call("nope")
    );
    std::fs::write(&path, &text).unwrap();
    let transcript = Transcript::read(&path).unwrap();
    let updated = transcript.updated(Revision::LATEST, server).unwrap();
    std::fs::remove_file(&path).unwrap();
    let expected = format!(
        "# A.\nrevision: 2026-07-28\n\n{}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",\"_meta\":@server,\"content\":[]}}}}\n\n\
        # Again.\n{}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":-32602,\"message\":\"no such tool\"}}}}\n",
        call("echo"),
        call("nope"),
    );
    assert_eq!(updated, expected);
}

/// Plays a file against a complete client without handlers.
fn play_host(lines: &str) -> Result<(), String> {
    let text = format!(
        "# A client.\nrevision: 2025-11-25\nside: client\nhost: bare\n\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":@any}}\n\
         < {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":@revision,\"capabilities\":{{}},\"serverInfo\":{{\"name\":\"s\",\"version\":\"1\"}}}}}}\n\
         > {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n\
         = ready @revision\n{lines}"
    );
    let bare = || bowline::Client::builder("c", "1");
    let played = transcript(&text).play_host_or_update(Revision::V2025_11_25, bare);
    played.map(drop).map_err(|failure| failure.to_string())
}

#[test]
fn a_complete_client_can_be_under_test() {
    let asked = r#"< {"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let answer = r#"> {"jsonrpc":"2.0","id":7,"result":{}}"#;
    assert_eq!(play_host(&format!("{asked}\n{answer}\n")), Ok(()));
    let silent = play_host(&format!("{asked}\n")).unwrap_err();
    assert!(silent.contains("unexpected output"), "{silent}");
    let other = play_host(&format!("{asked}\n> {{}}\n")).unwrap_err();
    assert!(other.contains(":11: expected"), "{other}");
}
