//! Reports to the operator about servers that fail, and that work again.

use std::sync::Arc;
use std::time::Duration;

use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{Gateway, GatewayLimits, GatewayOptions, UpstreamChange, bridge};
use serde_json::json;
use tokio::time::sleep;

use crate::support::{BOTH, Fake, Heard, connect, echo, file, ways};

const TWO: &str = r#"{ "mcpServers": { "near": { "command": "x" }, "far": { "command": "y" } } }"#;

fn watched(near: &Fake, far: &Fake, heard: &Heard) -> Gateway {
    let (near, far, heard) = (near.clone(), far.clone(), heard.clone());
    let options = GatewayOptions::new(ConfigVariables::none())
        .dialled_by(move |entry, _| {
            Arc::new(if entry.name == "near" { near.clone() } else { far.clone() })
        })
        .watching(move |server, change| {
            heard.note(match change {
                UpstreamChange::Failing(cause) => format!("{server} fails: {cause}"),
                _ => format!("{server} works"),
            });
        });
    Gateway::with_options(&file(TWO), options).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_started_is_reported_with_its_cause_until_it_works() {
    for way in ways() {
        let (near, far, heard) = (Fake::new(echo()), Fake::new(echo()), Heard::default());
        far.set_failing(true);
        let gateway = watched(&near, &far, &heard);
        let caller = connect(&bridge(gateway.clone(), None), way, |builder| builder).await;
        assert_eq!(gateway.failing(), []);
        for _ in 0..2 {
            let tools = caller.tools().all().await.unwrap();
            assert!(tools.iter().all(|tool| tool.name.starts_with("near__")), "{way:?}");
        }
        let [(server, cause)] = &gateway.failing()[..] else { panic!("{:?}", gateway.failing()) };
        assert_eq!(heard.take(), [format!("{server} fails: {cause}")], "{way:?}");
        assert!(server == "far" && !cause.is_empty(), "{way:?}: {cause}");
        far.set_failing(false);
        sleep(Duration::from_secs(31)).await;
        caller.call("far__say", json!({ "message": "hi" })).await.unwrap();
        assert_eq!(heard.take(), ["far works"], "{way:?}");
        assert_eq!(gateway.failing(), [], "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_a_list_is_reported() {
    for way in ways() {
        let (near, far, heard) = (Fake::new(echo()), Fake::new(echo()), Heard::default());
        far.set_hanging();
        let gateway = watched(&near, &far, &heard);
        let caller = connect(&bridge(gateway.clone(), None), way, |builder| builder).await;
        caller.tools().all().await.unwrap();
        // Sessions listen from their first moment on.
        let seconds = if way.revision.has_handshake() { 8 } else { 25 };
        let cause = format!(
            "the server `far` did not answer within {seconds} s; `listSeconds` waits longer"
        );
        assert_eq!(heard.take(), [format!("far fails: {cause}")], "{way:?}");
        assert_eq!(gateway.failing(), [("far".to_owned(), cause)], "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn callers_hear_that_a_server_could_not_be_started_or_ended() {
    for way in ways() {
        let (near, far, heard) = (Fake::new(echo()), Fake::new(echo()), Heard::default());
        far.set_failing(true);
        let gateway = watched(&near, &far, &heard);
        let caller = connect(&bridge(gateway, None), way, |builder| builder).await;
        let error = caller.call("far__say", json!({ "message": "hi" })).await.unwrap_err();
        let message = &error.rpc().unwrap().message;
        assert_eq!(*message, "the server `far` is not running: it could not be started");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hung_works_again_once_its_late_list_comes() {
    for way in ways() {
        for upstream in BOTH {
            let (near, heard) = (Fake::new(echo()), Heard::default());
            let far = Fake::freezable(upstream, echo());
            let gateway = watched(&near, &far, &heard);
            let caller = connect(&bridge(gateway.clone(), None), way, |builder| builder).await;
            assert_eq!(caller.tools().all().await.unwrap().len(), 4, "{way:?} {upstream}");
            far.freeze();
            assert_eq!(caller.tools().all().await.unwrap().len(), 2, "{way:?} {upstream}");
            assert_eq!(heard.take().len(), 1, "{way:?} {upstream}");
            assert_eq!(gateway.failing().len(), 1, "{way:?} {upstream}");
            far.thaw();
            sleep(Duration::from_secs(1)).await;
            assert_eq!(heard.take(), ["far works"], "{way:?} {upstream}");
            assert_eq!(gateway.failing(), [], "{way:?} {upstream}");
        }
    }
}

/// A gateway that starts this script, for at most so many seconds, and a client of it.
#[cfg(unix)]
async fn scripted(script: &str, seconds: u64) -> (Gateway, bowline_client::Client) {
    let config = json!({ "mcpServers": { "far": { "command": "sh", "args": ["-c", script] } } });
    let mut limits = GatewayLimits::default();
    limits.start = Duration::from_secs(seconds);
    let options = GatewayOptions::new(ConfigVariables::none()).limits(limits);
    let gateway = Gateway::with_options(&file(&config.to_string()), options).unwrap();
    let way = ways().next().unwrap();
    let caller = connect(&bridge(gateway.clone(), None), way, |builder| builder).await;
    (gateway, caller)
}

#[cfg(unix)]
#[tokio::test]
async fn the_cause_of_a_crash_has_the_exit_status_and_the_last_words() {
    let script = r#"
        answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
        while read -r line; do
            id=${line#*'"id":'}; id=${id%%,*}
            case "$line" in
                *server/discover*) answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}';;
                *tools/call*) echo 'out of memory' >&2; exit 9;;
            esac
        done
    "#;
    let (gateway, caller) = scripted(script, 60).await;
    let error = caller.call("far__say", json!({})).await.unwrap_err();
    assert!(!error.to_string().contains("memory"), "callers hear no output of servers: {error}");
    let [(_, cause)] = &gateway.failing()[..] else { panic!("{:?}", gateway.failing()) };
    let expected = "the server ended by itself: the server `sh` exited with status 9; standard \
                    error: out of memory";
    assert_eq!(cause, expected);
    gateway.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_cause_of_a_start_that_hangs_has_the_last_words() {
    let script = "echo 'waiting for the database' >&2; exec sleep 100";
    let (gateway, caller) = scripted(script, 1).await;
    let error = caller.call("far__say", json!({})).await.unwrap_err();
    let expected = "the server `far` did not start within 1 s; `startSeconds` waits longer";
    assert_eq!(error.rpc().unwrap().message, expected);
    let [(_, cause)] = &gateway.failing()[..] else { panic!("{:?}", gateway.failing()) };
    let said = "the server did not answer within 1 s; standard error: waiting for the database";
    assert!(cause.ends_with(said), "{cause}");
    gateway.close().await;
}
