//! Tasks of the extension of 2026-07-28.

use std::time::Duration;

use bowline_client::{Client, ClientBuilder, Question};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{done, task};
use crate::peer::{Heard, Peer, Request, begin_call, builder, modern, modern_with};

/// A client, and a server with the extension.
async fn met(builder: ClientBuilder) -> (Client, Peer) {
    let extension = json!({ "io.modelcontextprotocol/tasks": {} });
    modern_with(builder, &json!({ "tools": {}, "extensions": extension })).await
}

/// Answers a call with a task, and reports no changes of it.
async fn create(peer: &mut Peer, call: &Request, id: &str) {
    create_only(peer, call, id).await;
    let listen = peer.request("subscriptions/listen").await;
    assert_eq!(listen.params["notifications"], json!({ "taskIds": [id] }));
    peer.refuse(&listen, -32601, "not here").await;
}

async fn create_only(peer: &mut Peer, call: &Request, id: &str) {
    peer.answer(call, &task(id, "working", json!({ "resultType": "task" })).to_string()).await;
}

/// Answers the next `tasks/get`.
async fn describe(peer: &mut Peer, status: &str, rest: Value) {
    let get = peer.request("tasks/get").await;
    let id = get.params["taskId"].as_str().unwrap().to_owned();
    peer.answer(&get, &task(&id, status, rest).to_string()).await;
}

/// Elicits a name.
fn who() -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    json!({
        "method": "elicitation/create",
        "params": { "message": "Who?", "requestedSchema": schema },
    })
}

fn asking() -> ClientBuilder {
    builder().on_ask(async |question: Question| question.accept("Ada"))
}

/// The error of a call whose task is described like this.
async fn failure(status: &str, rest: Value) -> bowline_client::Error {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        describe(&mut peer, status, rest).await;
    };
    tokio::join!(call, serve).0.unwrap_err()
}

// spec: XTASK-3, XTASK-12, XTASK-13
#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_task_at_the_pace_of_the_server() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let declared = &request.params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(declared["extensions"], json!({ "io.modelcontextprotocol/tasks": {} }));
    let serve = async {
        create(&mut peer, &request, "a").await;
        let begun = Instant::now();
        describe(&mut peer, "working", json!({ "pollIntervalMs": 7000 })).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
        describe(&mut peer, "completed", json!({ "result": done("built") })).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(9));
    };
    let (outcome, ()) = tokio::join!(call, serve);
    assert_eq!(outcome.unwrap().text(), "built");
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn the_pace_stays_within_the_limits_of_the_client() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        describe(&mut peer, "working", json!({ "pollIntervalMs": 0 })).await;
        let begun = Instant::now();
        describe(&mut peer, "working", json!({ "pollIntervalMs": 999_999_999 })).await;
        assert_eq!(begun.elapsed(), Duration::from_millis(100));
        describe(&mut peer, "completed", json!({ "result": done("built") })).await;
        assert_eq!(begun.elapsed(), Duration::from_millis(300_100));
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "built");
}

#[tokio::test(start_paused = true)]
async fn a_program_sets_the_limits_of_the_pace() {
    // The second pair is the wrong way round: the longest pause is never the shorter one.
    for (shortest, longest, slow) in [(3, 4, 4), (3, 2, 3)] {
        let mut limits = bowline_proto::limits::Limits::default();
        limits.shortest_poll = Duration::from_secs(shortest);
        limits.longest_poll = Duration::from_secs(longest);
        let (client, mut peer) = met(builder().limits(limits)).await;
        let (call, request) = begin_call(&client, &mut peer).await;
        let serve = async {
            create(&mut peer, &request, "a").await;
            describe(&mut peer, "working", json!({ "pollIntervalMs": 0 })).await;
            let begun = Instant::now();
            describe(&mut peer, "working", json!({ "pollIntervalMs": 999_999_999 })).await;
            assert_eq!(begun.elapsed(), Duration::from_secs(shortest));
            describe(&mut peer, "completed", json!({ "result": done("built") })).await;
            assert_eq!(begun.elapsed(), Duration::from_secs(shortest + slow));
        };
        assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "built");
    }
}

// spec: XTASK-3
#[tokio::test(start_paused = true)]
async fn a_call_that_is_answered_at_once_is_no_task() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let (outcome, ()) = tokio::join!(call, peer.answer_text(&request, "done"));
    assert_eq!(outcome.unwrap().text(), "done");
}

// spec: XTASK-4
#[tokio::test(start_paused = true)]
async fn only_a_tool_call_may_become_a_task() {
    let (client, mut peer) =
        modern_with(builder(), &json!({ "prompts": {}, "extensions": {} })).await;
    let call = client.prompt("greet");
    let serve = async {
        let request = peer.request("prompts/get").await;
        create_only(&mut peer, &request, "a").await;
    };
    let error = tokio::join!(call.into_future(), serve).0.unwrap_err();
    let expected = "calling `greet`: the server's answer is invalid: \
                    `resultType` is `task`, which the client did not agree to";
    assert_eq!(error.to_string(), expected);
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_had_ended_when_it_was_created_is_fetched_at_once() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        let created = task("a", "completed", json!({ "resultType": "task" }));
        peer.answer(&request, &created.to_string()).await;
        let begun = Instant::now();
        peer.request("subscriptions/listen").await;
        describe(&mut peer, "completed", json!({ "result": done("built") })).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "built");
    peer.notification("notifications/cancelled").await;
}

// spec: XTASK-21, XTASK-22, XTASK-24, XTASK-27
#[tokio::test(start_paused = true)]
async fn questions_of_a_task_are_answered_once_with_an_update() {
    let heard = Heard::default();
    let hear = heard.clone();
    let builder = builder().on_ask(move |question: Question| {
        hear.push(question.message());
        async move { question.accept("Ada") }
    });
    let (client, mut peer) = met(builder).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        let open = json!({ "inputRequests": { "k": who() } });
        describe(&mut peer, "input_required", open.clone()).await;
        let update = peer.request("tasks/update").await;
        assert_eq!(update.params["taskId"], "a");
        let answers = json!({ "k": { "action": "accept", "content": { "name": "Ada" } } });
        assert_eq!(update.params["inputResponses"], answers);
        peer.answer(&update, r#"{"resultType":"complete"}"#).await;
        // The effect of an update may show later.
        describe(&mut peer, "input_required", open).await;
        let both = json!({ "inputRequests": { "k": who(), "l": who() } });
        describe(&mut peer, "input_required", both).await;
        let update = peer.request("tasks/update").await;
        let keys: Vec<_> = update.params["inputResponses"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["l"]);
        peer.answer(&update, r#"{"resultType":"complete"}"#).await;
        describe(&mut peer, "completed", json!({ "result": done("Ada") })).await;
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "Ada");
    assert_eq!(heard.all(), ["Who?", "Who?"]);
}

// spec: XTASK-23, XTASK-49
#[tokio::test(start_paused = true)]
async fn a_question_that_the_client_did_not_agree_to_ends_the_call_and_the_task() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        describe(&mut peer, "input_required", json!({ "inputRequests": { "k": who() } })).await;
        // One more `tasks/get`, because the task may have ended meanwhile.
        describe(&mut peer, "input_required", json!({ "inputRequests": { "k": who() } })).await;
        let cancel = peer.request("tasks/cancel").await;
        assert_eq!(cancel.params["taskId"], "a");
    };
    let error = tokio::join!(call, serve).0.unwrap_err();
    let expected = "calling `work`: the server's answer is invalid: the question `k`: \
                    this client does not offer `elicitation/create`";
    assert_eq!(error.to_string(), expected);
}

// spec: XTASK-23
#[tokio::test(start_paused = true)]
async fn a_user_who_cannot_be_asked_ends_the_call() {
    let builder = builder().on_ask(async |_: Question| Err::<bowline_client::Answer, _>("no tty"));
    let (client, mut peer) = met(builder).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        for _ in 0..2 {
            let open = json!({ "inputRequests": { "k": who() } });
            describe(&mut peer, "input_required", open).await;
        }
        peer.request("tasks/cancel").await;
    };
    assert!(tokio::join!(call, serve).0.unwrap_err().is_unanswered());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_without_end_is_not_answered_without_end() {
    let (client, mut peer) = met(asking()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        for round in 0..16 {
            let open = json!({ "inputRequests": { round.to_string(): who() } });
            describe(&mut peer, "input_required", open.clone()).await;
            let update = peer.request("tasks/update").await;
            peer.answer(&update, r#"{"resultType":"complete"}"#).await;
            describe(&mut peer, "input_required", open).await;
        }
        describe(&mut peer, "input_required", json!({ "inputRequests": { "more": who() } })).await;
        peer.request("tasks/cancel").await;
    };
    let error = tokio::join!(call, serve).0.unwrap_err();
    let expected = "calling `work`: the server still asked for input after 16 rounds";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_user_does_not_count_and_a_task_that_ends_meanwhile_withdraws_the_question()
{
    let builder = builder()
        .on_ask(async |_: Question| std::future::pending::<bowline_client::Answer>().await);
    let (client, mut peer) = met(builder).await;
    let call = client.call("work", ()).deadline(Duration::from_secs(5)).into_future();
    let serve = async {
        let request = peer.request("tools/call").await;
        create(&mut peer, &request, "a").await;
        for _ in 0..10 {
            let open = json!({ "inputRequests": { "k": who() } });
            describe(&mut peer, "input_required", open).await;
        }
        describe(&mut peer, "completed", json!({ "result": done("without you") })).await;
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "without you");
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_task_is_read_like_that_of_a_plain_call() {
    let failed = json!({ "content": [{ "type": "text", "text": "no disk" }], "isError": true });
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        describe(&mut peer, "completed", json!({ "result": failed })).await;
    };
    let outcome = tokio::join!(call, serve).0.unwrap();
    assert!(outcome.is_error());
    assert_eq!(outcome.text(), "no disk");

    let error = failure("failed", json!({ "error": { "code": -32050, "message": "no" } })).await;
    assert_eq!(error.rpc().unwrap().code, -32050);
    let error = failure("completed", json!({ "result": { "content": 7 } })).await;
    assert!(error.is_invalid_answer(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_cancelled_or_makes_no_sense_is_a_readable_error() {
    let cancelled = failure("cancelled", json!({ "statusMessage": "by the operator" })).await;
    assert!(cancelled.is_cancelled());
    let expected = "calling `work`: its task was cancelled: by the operator";
    assert_eq!(cancelled.to_string(), expected);
    for (status, rest, expected) in [
        ("paused", json!({}), "its task has the status `paused`, which does not exist"),
        ("completed", json!({}), "its task has the status `completed` without `result`"),
        ("failed", json!({}), "its task has the status `failed` without `error`"),
        (
            "input_required",
            json!({}),
            "its task has the status `input_required` without `inputRequests`",
        ),
        ("working", json!({ "taskId": "b" }), "`tasks/get` was answered with another task"),
        (
            "completed",
            json!({ "result": { "resultType": "input_required" } }),
            "the result of its task has the `resultType` `input_required`",
        ),
        (
            "completed",
            json!({ "ttlMs": "long" }),
            "`result.ttlMs`: expected a whole number that is not negative, found the string \"long\"",
        ),
    ] {
        let error = failure(status, rest).await;
        assert!(error.is_invalid_answer(), "{error}");
        let text = format!("calling `work`: the server's answer is invalid: {expected}");
        assert_eq!(error.to_string(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_ends_a_task_stays_within_the_deadline() {
    let (client, mut peer) = met(builder()).await;
    let begun = Instant::now();
    let call = client.call("work", ()).deadline(Duration::from_secs(5)).into_future();
    let serve = async {
        let request = peer.request("tools/call").await;
        create(&mut peer, &request, "a").await;
        for _ in 0..3 {
            describe(&mut peer, "working", json!({})).await;
        }
        peer.request("tasks/cancel").await.params["taskId"].clone()
    };
    let (outcome, cancelled) = tokio::join!(call, serve);
    let error = outcome.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(error.to_string(), "calling `work`: no answer came within 5s");
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(cancelled, "a");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_about_a_task_stays_within_the_timeout() {
    let (client, mut peer) = met(builder()).await;
    let call = client.call("work", ()).timeout(Duration::from_secs(3)).into_future();
    let serve = async {
        let request = peer.request("tools/call").await;
        create(&mut peer, &request, "a").await;
        peer.request("tasks/get").await;
        peer.notification("notifications/cancelled").await;
        peer.request("tasks/cancel").await;
    };
    assert!(tokio::join!(call, serve).0.unwrap_err().is_timeout());
}

// spec: XTASK-31
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_cancels_its_task() {
    let (client, mut peer) = met(builder()).await;
    let (mut call, request) = begin_call(&client, &mut peer).await;
    create_only(&mut peer, &request, "a").await;
    let listen = tokio::select! {
        _ = &mut call => panic!("it ended"),
        listen = peer.request("subscriptions/listen") => listen,
    };
    drop(call);
    let cancelled = peer.notification("notifications/cancelled").await;
    assert_eq!(cancelled["requestId"], listen.id, "not the call");
    assert_eq!(peer.request("tasks/cancel").await.params["taskId"], "a");
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_call_was_dropped_before_its_answer_is_cancelled_too() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    drop(call);
    peer.notification("notifications/cancelled").await;
    create_only(&mut peer, &request, "a").await;
    assert_eq!(peer.request("tasks/cancel").await.params["taskId"], "a");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_forgot_the_task_ends_the_call() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        let get = peer.request("tasks/get").await;
        peer.refuse(&get, -32602, "no such task").await;
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap_err().rpc().unwrap().code, -32602);
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_answer_now_is_asked_again_later() {
    for (code, data, pause) in [
        (429, json!({ "retryAfterMs": 7000 }), 7000),
        (503, json!({ "retryAfterMs": 1 }), 2000),
        (-32603, json!(null), 2000),
    ] {
        let (client, mut peer) = met(builder()).await;
        let (call, request) = begin_call(&client, &mut peer).await;
        let serve = async {
            create(&mut peer, &request, "a").await;
            let get = peer.request("tasks/get").await;
            let error = json!({ "code": code, "message": "not now", "data": data });
            peer.send_json(json!({ "jsonrpc": "2.0", "id": get.id, "error": error })).await;
            let refused = Instant::now();
            describe(&mut peer, "completed", json!({ "result": done("here") })).await;
            refused.elapsed()
        };
        let (outcome, waited) = tokio::join!(call, serve);
        assert_eq!(outcome.unwrap().text(), "here");
        assert_eq!(waited, Duration::from_millis(pause), "{code}");
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_a_server_cannot_describe_is_cancelled() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        for _ in 0..6 {
            let get = peer.request("tasks/get").await;
            peer.refuse(&get, -32603, "the store of tasks failed").await;
        }
        peer.request("tasks/cancel").await.params["taskId"].clone()
    };
    let (outcome, cancelled) = tokio::join!(call, serve);
    assert_eq!((outcome.unwrap_err().rpc().unwrap().code, cancelled), (-32603, json!("a")));
}

#[tokio::test(start_paused = true)]
async fn times_without_end_are_no_mistake() {
    let mut limits = bowline_proto::limits::Limits::default();
    (limits.request_deadline, limits.longest_poll) = (Duration::MAX, Duration::MAX);
    let (client, mut peer) = met(builder().limits(limits)).await;
    let call = client.call("work", ()).deadline(Duration::MAX).into_future();
    let serve = async {
        let request = peer.request("tools/call").await;
        create(&mut peer, &request, "a").await;
        describe(&mut peer, "completed", json!({ "result": done("here") })).await;
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "here");
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_a_task_only_if_a_tool_was_called() {
    let extension = json!({ "io.modelcontextprotocol/tasks": {} });
    let offers = json!({ "tools": {}, "resources": {}, "extensions": extension });
    let (client, mut peer) = modern_with(builder(), &offers).await;
    let mut read = client.read("test:a").into_future();
    let request = tokio::select! {
        _ = &mut read => panic!("it ended"),
        request = peer.request("resources/read") => request,
    };
    drop(read);
    peer.notification("notifications/cancelled").await;
    peer.answer(&request, r#"{"resultType":"task","taskId":"a","task":{"taskId":"a"}}"#).await;
    peer.gets_nothing().await;
}

// spec: EXT-4
#[tokio::test(start_paused = true)]
async fn tasks_are_off_unless_the_program_turns_them_on() {
    let off = || Client::builder("tester", "0.1.0");
    for (builder, is_on) in [(off(), false), (off().tasks(), true)] {
        let (client, mut peer) = met(builder).await;
        let (call, request) = begin_call(&client, &mut peer).await;
        let declared = &request.params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let extensions = declared["extensions"].as_object();
        assert_eq!(extensions.map_or(0, serde_json::Map::len), usize::from(is_on));
        if is_on {
            continue;
        }
        let serve = create_only(&mut peer, &request, "a");
        let error = tokio::join!(call, serve).0.unwrap_err().to_string();
        assert!(error.contains("`ClientBuilder::tasks` turns tasks on"), "{error}");
        let (call, request) = begin_call(&client, &mut peer).await;
        let required = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let data = json!({ "requiredCapabilities": required });
        let error = json!({ "code": -32021, "message": "only as a task", "data": data });
        let refuse = peer.send_json(json!({ "jsonrpc": "2.0", "id": request.id, "error": error }));
        let error = tokio::join!(call, refuse).0.unwrap_err().to_string();
        assert!(error.ends_with("; turn tasks on with `ClientBuilder::tasks`"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_extension_makes_no_tasks() {
    let (client, mut peer) = modern(builder()).await;
    let error = client.task("a").state().await.unwrap_err();
    assert!(error.is_not_offered(), "{error}");
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_notification_makes_the_client_ask_at_once_and_is_not_believed() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create(&mut peer, &request, "a").await;
        let begun = Instant::now();
        // Lets the call begin to wait.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let lie = task("a", "completed", json!({ "result": done("lie") }));
        peer.notify("notifications/tasks", &lie).await;
        describe(&mut peer, "working", json!({})).await;
        assert_eq!(begun.elapsed(), Duration::from_millis(500));
        for _ in 0..100 {
            peer.notify("notifications/tasks", &lie).await;
        }
        describe(&mut peer, "completed", json!({ "result": done("truth") })).await;
        assert_eq!(begun.elapsed(), Duration::from_millis(600));
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "truth");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reports_changes_is_asked_at_once() {
    let (client, mut peer) = met(builder()).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    let serve = async {
        create_only(&mut peer, &request, "a").await;
        let begun = Instant::now();
        let listen = peer.request("subscriptions/listen").await;
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen.id });
        let acknowledged = json!({ "_meta": meta, "notifications": { "taskIds": ["a"] } });
        peer.notify("notifications/subscriptions/acknowledged", &acknowledged).await;
        describe(&mut peer, "working", json!({ "pollIntervalMs": 60_000 })).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        peer.notify("notifications/tasks", &task("a", "completed", json!({ "_meta": meta }))).await;
        describe(&mut peer, "completed", json!({ "result": done("built") })).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(5));
        let cancelled = peer.notification("notifications/cancelled").await;
        assert_eq!(cancelled["requestId"], listen.id);
    };
    assert_eq!(tokio::join!(call, serve).0.unwrap().text(), "built");
    peer.gets_nothing().await;
}
