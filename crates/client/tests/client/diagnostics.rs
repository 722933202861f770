//! Servers that break the protocol: at most one call fails, and the connection goes on.

use bowline_client::Limits;
use bowline_client::types::revision::Revision;
use serde_json::json;

use crate::peer::{Heard, assert_call_works, both, builder, legacy, modern};

// spec: RPC-6
#[tokio::test(start_paused = true)]
async fn an_answer_to_no_request_is_reported_and_ignored() {
    let heard = Heard::default();
    let clients = both(builder().on_diagnostic(heard.hear())).await;
    for (client, mut peer) in clients {
        for id in ["77", "\"1\"", "\"x\""] {
            peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)).await;
        }
        assert_call_works(&client, &mut peer).await;
    }
    let heard = heard.all();
    assert_eq!(heard.len(), 6, "{heard:?}");
    assert_eq!(heard[0], "an answer names the id 77, which awaits none");
}

// spec: ERR-8
#[tokio::test(start_paused = true)]
async fn an_undefined_error_code_of_older_programs_is_a_plain_refusal() {
    for code in (-32019..=-32000).filter(|code| *code != -32002) {
        for (client, mut peer) in both(builder()).await {
            let serve = async {
                let request = peer.request("tools/call").await;
                peer.refuse(&request, code, "what?").await;
            };
            let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
            let error = outcome.unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("calling `work`: the server answered with an error: what? ({code})")
            );
            assert!(error.is_refused() && !error.may_retry(), "{error}");
            assert!(
                !error.is_timeout() && !error.is_closed() && !error.is_not_offered(),
                "{error}"
            );
            peer.gets_nothing().await;
            assert_call_works(&client, &mut peer).await;
        }
    }
}

// spec: RPC-7, RPC-8, RPC-9, RPC-10
#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_the_rules_fails_its_call_alone() {
    for members in [
        r#""result":{},"error":{"code":1,"message":"m"}"#,
        r#""result":[]"#,
        r#""error":{"code":"1","message":"m"}"#,
        r#""error":{"code":1}"#,
        r#""error":null"#,
    ] {
        for (client, mut peer) in both(builder()).await {
            let serve = async {
                let id = peer.request("tools/call").await.id;
                peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{members}}}"#)).await;
            };
            let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
            let error = outcome.unwrap_err();
            assert!(error.is_invalid_answer() && !error.is_refused(), "{members}: {error}");
            assert_call_works(&client, &mut peer).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_of_the_wrong_shape_fails_its_call_alone() {
    for (client, mut peer) in both(builder()).await {
        let serve = async {
            let request = peer.request("tools/call").await;
            peer.answer(&request, r#"{"resultType":"complete","content":"text"}"#).await;
        };
        let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
        let error = outcome.unwrap_err();
        assert!(error.is_invalid_answer());
        let expected = "calling `work`: the server's answer is invalid: \
                        `result.content`: expected an array, found the string \"text\"";
        assert_eq!(error.to_string(), expected);
        assert_call_works(&client, &mut peer).await;
    }
}

/// Some servers write the id first, others last.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_fails_its_call_alone() {
    let mut limits = Limits::default();
    limits.frame = 4096;
    for id_comes_first in [true, false] {
        for (client, mut peer) in both(builder().limits(limits.clone())).await {
            let serve = async {
                let id = peer.request("tools/call").await.id;
                let text = "\",\"id\":77}".repeat(2000);
                let result = json!({ "content": [{ "type": "text", "text": text }] });
                peer.send(&match id_comes_first {
                    true => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
                    false => format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#),
                })
                .await;
            };
            let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
            let error = outcome.unwrap_err();
            assert!(error.is_too_long() && !error.is_invalid_answer(), "{error}");
            let expected = "calling `work`: the server's answer is longer than 4096 bytes";
            assert_eq!(error.to_string(), expected);
            assert_call_works(&client, &mut peer).await;
        }
    }
}

// spec: STDIO-9, STDIO-10
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_sends_a_request_gets_no_answer() {
    let heard = Heard::default();
    let builder = builder()
        .on_diagnostic(heard.hear())
        .on_ask(|_| async { panic!("the user is not asked") as bowline_client::Answer });
    let (client, mut peer) = modern(builder).await;
    for method in ["ping", "elicitation/create", "roots/list", "nonsense"] {
        let params = json!({ "message": "?", "requestedSchema": { "type": "object" } });
        peer.send_json(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .await;
        peer.gets_nothing().await;
    }
    let expected = "the server sent a request, `ping`, which its revision forbids";
    assert_eq!(heard.all()[0], expected);
    assert_call_works(&client, &mut peer).await;
}

// spec: ERR-3, PING-1
#[tokio::test(start_paused = true)]
async fn a_legacy_server_gets_an_answer_to_every_request() {
    let (client, mut peer) = legacy(builder(), Revision::V2025_11_25).await;
    peer.send(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#).await;
    assert_eq!(peer.message().await, json!({ "jsonrpc": "2.0", "id": "a", "result": {} }));
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    for (method, params) in [
        ("nonsense", json!({})),
        ("tools/call", json!({ "name": "x" })),
        ("roots/list", json!({})),
        ("sampling/createMessage", json!({ "messages": [], "maxTokens": 1 })),
        ("elicitation/create", form),
    ] {
        let id = 5;
        peer.send_json(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        let answer = peer.message().await;
        assert_eq!(answer["id"], 5);
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    assert_call_works(&client, &mut peer).await;
}

// spec: CANC-13
#[tokio::test(start_paused = true)]
async fn invalid_notifications_are_ignored() {
    for (client, mut peer) in both(builder()).await {
        for notification in [
            r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"far"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud"}}"#,
        ] {
            peer.send(notification).await;
        }
        assert_call_works(&client, &mut peer).await;
    }
}

// spec: RPC-19
#[tokio::test(start_paused = true)]
async fn a_batch_of_answers_is_read_where_batches_exist() {
    let (client, mut peer) = legacy(builder(), Revision::V2025_03_26).await;
    let serve = async {
        let (one, two) = (peer.request("tools/call").await, peer.request("tools/call").await);
        let answer = |id: i64, text: &str| {
            let result = json!({ "content": [{ "type": "text", "text": text }] });
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        };
        peer.send_json(json!([answer(two.id, "two"), answer(one.id, "one")])).await;
    };
    let (one, two, ()) = tokio::join!(
        client.call("one", ()).into_future(),
        client.call("two", ()).into_future(),
        serve
    );
    assert_eq!((one.unwrap().text(), two.unwrap().text()), ("one".into(), "two".into()));
}

#[tokio::test(start_paused = true)]
async fn noise_between_messages_is_no_reason_to_give_up() {
    for (client, mut peer) in both(builder()).await {
        for _ in 0..3 {
            for line in 0..Limits::default().noise {
                peer.send(&format!("debug: line {line}")).await;
            }
            assert_call_works(&client, &mut peer).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn too_much_noise_in_a_row_ends_the_connection() {
    let heard = Heard::default();
    for (client, mut peer) in both(builder().on_diagnostic(heard.hear())).await {
        let serve = async {
            peer.request("tools/call").await;
            for line in 0..=Limits::default().noise {
                peer.send(&format!("debug: line {line}")).await;
            }
            peer.hears_the_end().await;
        };
        let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
        let error = outcome.unwrap_err();
        assert!(error.is_closed());
        assert!(error.to_string().contains("such as `debug: line 100`"), "{error}");
        assert!(client.is_closed());
    }
    let last = heard.all().pop().unwrap();
    assert!(last.contains("such as `debug: line 100`"), "{last}");
}
