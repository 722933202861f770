//! Transcripts are played against a server of a few lines, in virtual time: they pass when it keeps
//! to them, and say where it does not.

use std::convert::Infallible;
use std::time::Duration;

use bowline_proto::request::{Advance, Change, Outgoing, Request, Response, Success};
use bowline_proto::server::ServerConfig;
use bowline_testing::Subject;
use bowline_testing::transcript::{Stage, Transcript};
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::Json;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;

/// A server with three tools: `echo`, `slow` which takes ten seconds, and `late` which says
/// something when nobody waits for it any more.
async fn serve(request: Request) -> Response {
    let success = |body: &str| Ok(Success::raw(Json::from_text(body).unwrap(), Meta::new()));
    let name: Option<String> = request.params.parse("name").unwrap();
    match (request.parts.method, name.as_deref()) {
        (Method::ServerDiscover, _) => {
            success(r#"{"supportedVersions":[],"capabilities":{"tools":{}}}"#)
        }
        (Method::SubscriptionsListen, _) => {
            let acknowledged = Change::Acknowledged(SubscriptionFilter::default());
            request.parts.outbox.emit(Outgoing::Change(acknowledged)).unwrap();
            std::future::pending().await
        }
        (_, Some("echo")) => success(r#"{"content":[]}"#),
        (_, Some("slow")) => {
            for second in 1..=10_u8 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let advance = Advance { progress: second.into(), total: None, message: None };
                request.parts.outbox.emit(Outgoing::Progress(advance)).unwrap();
            }
            success(r#"{"content":[]}"#)
        }
        _ => Err(ErrorObject::invalid_params("no such tool")),
    }
}

/// A tower service out of a function.
#[derive(Clone)]
struct Function;

impl tower_service::Service<Request> for Function {
    type Response = Response;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

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

fn subject() -> Subject {
    Subject::new(Function, ServerConfig::new(Implementation::new("few-lines", "1.0.0")))
}

fn transcript(text: &str) -> Transcript {
    Transcript::parse("a.mcp", text).unwrap()
}

/// Plays on every stage that needs no process; gives what went wrong, the same on each.
fn play(text: &str) -> Result<(), String> {
    let transcript = transcript(text);
    let mut outcomes = Vec::new();
    for stage in [Stage::Machine, Stage::Duplex, Stage::Socket] {
        let name = format!("{stage:?}");
        let played = transcript.play(transcript.revisions()[0], &subject(), stage);
        outcomes.push((name, played.map(|_| ()).map_err(|failure| failure.to_string())));
    }
    let (_, first) = outcomes[0].clone();
    for (stage, outcome) in outcomes {
        assert_eq!(outcome, first, "{stage}");
    }
    first
}

const CALL: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"NAME","_meta":@client{progress:7}}}"#;

fn call(name: &str) -> String {
    CALL.replace("NAME", name)
}

#[test]
fn a_server_that_keeps_to_it_passes() {
    let text = format!(
        "# A.\nrevision: 2026-07-28\n\n{}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",\"_meta\":@server,\"content\":[]}}}}\n",
        call("echo")
    );
    assert_eq!(play(&text), Ok(()));
}

#[test]
fn a_handshake_is_one_line() {
    let text = "# A.\nrevision: legacy\n\n@initialize{elicitation}\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    assert_eq!(play(text), Ok(()));
}

#[test]
fn another_answer_fails_in_its_line() {
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n< {{\"id\":2}}\n", call("echo"));
    let failure = play(&text).unwrap_err();
    assert!(
        failure.starts_with("a.mcp:4: expected\n  < {\"id\":2}\ngot\n  < {\"jsonrpc\""),
        "{failure}"
    );
}

#[test]
fn a_message_too_many_fails() {
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n.. 1s\n", call("echo"));
    let failure = play(&text).unwrap_err();
    assert!(failure.starts_with("a.mcp:4: nobody expected\n  < {"), "{failure}");
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n", call("echo"));
    let failure = play(&text).unwrap_err();
    assert!(failure.starts_with("a.mcp:3: at the end nobody expected\n  < {"), "{failure}");
}

#[test]
fn a_message_that_comes_too_early_fails() {
    let text = format!("# A.\nrevision: 2026-07-28\n{}\n.. 1500ms\n", call("slow"));
    let failure = play(&text).unwrap_err();
    assert!(failure.contains("\"progress\":1"), "{failure}");
}

#[test]
fn time_goes_by_only_when_the_transcript_says_so() {
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
fn a_server_that_is_stopped_ends_its_subscriptions() {
    let text = "# A.\nrevision: 2026-07-28\n\
        > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{},\"_meta\":@client}}\n\
        < @any\n! stop\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":@any}\n< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":@any}\n";
    assert_eq!(play(text), Ok(()));
}

#[test]
fn an_update_writes_what_is_really_said() {
    let path = std::env::temp_dir().join(format!("bowline-update-{}.mcp", std::process::id()));
    let text = format!(
        "# A.\nrevision: 2026-07-28\n\n{}\n< wrong\n< too much\n\n# Again.\n{}\n",
        call("echo"),
        call("nope")
    );
    std::fs::write(&path, &text).unwrap();
    let transcript = Transcript::read(&path).unwrap();
    let updated = transcript.updated(Revision::LATEST, subject).unwrap();
    std::fs::remove_file(&path).unwrap();
    let expected = format!(
        "# A.\nrevision: 2026-07-28\n\n{}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",\"_meta\":@server,\"content\":[]}}}}\n\n\
        # Again.\n{}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":-32602,\"message\":\"no such tool\"}}}}\n",
        call("echo"),
        call("nope"),
    );
    assert_eq!(updated, expected);
}

/// Plays a file with a whole client that has no handlers.
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
fn a_whole_client_can_be_under_test() {
    let asked = r#"< {"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let answer = r#"> {"jsonrpc":"2.0","id":7,"result":{}}"#;
    assert_eq!(play_host(&format!("{asked}\n{answer}\n")), Ok(()));
    let silent = play_host(&format!("{asked}\n")).unwrap_err();
    assert!(silent.contains("nobody expected"), "{silent}");
    let other = play_host(&format!("{asked}\n> {{}}\n")).unwrap_err();
    assert!(other.contains(":11: expected"), "{other}");
}
