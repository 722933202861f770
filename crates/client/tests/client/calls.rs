//! Calling tools: what is sent, what comes back, what is refused before it is sent.

use bowline_client::types::content::Content;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{both, builder, modern, pair};

#[derive(Serialize)]
struct Query<'a> {
    q: &'a str,
}

#[tokio::test(start_paused = true)]
async fn arguments_are_anything_that_is_an_object() {
    for (client, mut peer) in both(builder()).await {
        let calls = [
            (client.call("find", json!({ "q": "rust" })), json!({ "q": "rust" })),
            (client.call("find", &Query { q: "rust" }), json!({ "q": "rust" })),
            (client.call("find", ()), json!({})),
            (client.call("find", None::<Value>), json!({})),
        ];
        for (call, expected) in calls {
            let serve = async {
                let request = peer.request("tools/call").await;
                assert_eq!(request.params["name"], "find");
                assert_eq!(request.params["arguments"], expected);
                peer.answer_text(&request, "found").await;
            };
            let (outcome, ()) = tokio::join!(call.into_future(), serve);
            assert_eq!(outcome.unwrap().text(), "found");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_not_an_object_are_not_sent() {
    let (client, mut peer) = modern(builder()).await;
    let error = client.call("find", [1, 2]).await.unwrap_err();
    let expected = "calling `find`: it was not sent: the arguments of a tool are an object, \
                    for example `json!({\"name\": …})`; these are no JSON object, but `[1,2]`";
    assert_eq!(error.to_string(), expected);
    assert!(!error.may_retry());
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_result_is_read_as_text_or_as_a_type() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Hit {
        title: String,
    }

    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let request = peer.request("tools/call").await;
            let result = json!({
                "resultType": "complete",
                "content": [{ "type": "text", "text": "one hit" }],
                "structuredContent": { "result": [{ "title": "Rust" }] },
            });
            peer.answer(&request, &result.to_string()).await;
        };
        let (outcome, ()) = tokio::join!(client.call("find", ()).into_future(), serve);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.text(), "one hit");
        assert_eq!(outcome.content(), [Content::text("one hit")]);
        assert_eq!(outcome.parse::<Vec<Hit>>().unwrap(), [Hit { title: "Rust".to_owned() }]);
    }
}

// spec: TOOL-37
#[tokio::test(start_paused = true)]
async fn a_tool_that_failed_has_a_result() {
    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let request = peer.request("tools/call").await;
            let result = r#"{"content":[{"type":"text","text":"no disk"}],"isError":true}"#;
            peer.answer(&request, result).await;
        };
        let (outcome, ()) = tokio::join!(client.call("save", ()).into_future(), serve);
        let outcome = outcome.unwrap();
        assert!(outcome.is_error());
        let error = outcome.into_result().unwrap_err();
        assert_eq!(error.to_string(), "calling `save`: the tool failed: no disk");
    }
}

// spec: TOOL-38, ERR-13, RPC-13
#[tokio::test(start_paused = true)]
async fn an_error_of_the_server_keeps_its_code_and_data() {
    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let request = peer.request("tools/call").await;
            let error = json!({ "code": -32602, "message": "no such tool", "data": [1] });
            peer.send_json(json!({ "jsonrpc": "2.0", "id": request.id, "error": error })).await;
        };
        let (outcome, ()) = tokio::join!(client.call("nope", ()).into_future(), serve);
        let error = outcome.unwrap_err();
        assert!(error.is_refused());
        assert_eq!(error.rpc().unwrap().code, -32602);
        assert_eq!(error.rpc().unwrap().data.as_ref().unwrap().as_str(), "[1]");
        let expected = "calling `nope`: the server answered with an error: no such tool (-32602)";
        assert_eq!(error.to_string(), expected);
    }
}

// spec: RPC-2, RPC-4, RPC-5, RPC-6
#[tokio::test(start_paused = true)]
async fn calls_run_side_by_side_and_each_gets_its_own_answer() {
    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let mut requests = Vec::new();
            for _ in 0..8 {
                requests.push(peer.request("tools/call").await);
            }
            for request in requests.iter().rev() {
                let number = request.params["arguments"]["n"].to_string();
                peer.answer_text(request, &number).await;
            }
            requests.sort_by_key(|request| request.id);
            assert!(requests.windows(2).all(|pair| pair[0].id != pair[1].id));
        };
        let calls = (0..8).map(|n| client.call("echo", json!({ "n": n })).into_future());
        let (outcomes, ()) = tokio::join!(futures_util::future::join_all(calls), serve);
        for (n, outcome) in outcomes.into_iter().enumerate() {
            assert_eq!(outcome.unwrap().parse::<usize>().unwrap(), n);
        }
    }
}

// spec: RT-5
#[tokio::test(start_paused = true)]
async fn a_modern_result_without_a_type_is_complete() {
    let (client, mut peer) = modern(builder()).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        peer.answer(&request, r#"{"content":[{"type":"text","text":"done"}]}"#).await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "done");
}

// spec: RT-3, RT-4
#[tokio::test(start_paused = true)]
async fn a_result_with_an_unknown_result_type_is_invalid() {
    for kind in ["tasks", "partial", ""] {
        let (client, mut peer) = modern(builder()).await;
        let serve = async {
            let request = peer.request("tools/call").await;
            let result = json!({ "resultType": kind, "content": [] });
            peer.answer(&request, &result.to_string()).await;
        };
        let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
        let error = outcome.unwrap_err();
        assert!(error.is_invalid_answer());
        let expected = format!(
            "calling `work`: the server's answer is invalid: \
             `resultType` is `{kind}`, which the client did not agree to"
        );
        assert_eq!(error.to_string(), expected);
    }
}

// spec: RPC-12
#[tokio::test(start_paused = true)]
async fn unknown_members_are_ignored() {
    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let request = peer.request("tools/call").await;
            let result = r#"{"resultType":"complete","content":[{"type":"hologram"}],"new":{}}"#;
            peer.answer(&request, result).await;
        };
        let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
        assert!(matches!(outcome.unwrap().content(), [Content::Other(_)]));
    }
}

// spec: CAP-2, LIFE-15
#[tokio::test(start_paused = true)]
async fn a_call_of_something_that_the_server_does_not_offer_is_not_sent() {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        let result = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"prompts":{}}}"#;
        peer.answer(&probe, result).await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    let client = client.unwrap();
    let error = client.call("work", ()).await.unwrap_err();
    assert!(error.is_not_offered());
    let expected = "calling `work`: `tools/call` was not sent: \
                    the server does not offer the capability `tools`";
    assert_eq!(error.to_string(), expected);
    assert!(client.tools().all().await.unwrap_err().is_not_offered());
    peer.gets_nothing().await;
}

// spec: META-1, META-5, META-6
#[tokio::test(start_paused = true)]
async fn a_call_carries_the_callers_own_keys_and_no_others() {
    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let request = peer.request("tools/call").await;
            assert_eq!(request.params["_meta"]["com.example/trace"], json!({ "id": 7 }));
            peer.answer_text(&request, "done").await;
        };
        let call = client.call("work", ()).meta("com.example/trace", json!({ "id": 7 }));
        let (outcome, ()) = tokio::join!(call.into_future(), serve);
        outcome.unwrap();

        let call = client.call("work", ()).meta("io.modelcontextprotocol/protocolVersion", "x");
        let error = call.await.unwrap_err();
        assert!(error.to_string().contains("is reserved by the protocol"), "{error}");
        peer.gets_nothing().await;
    }
}
