//! What an operator hears of servers that fail, and that work again.

use std::sync::Arc;
use std::time::Duration;

use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{Gateway, GatewayOptions, UpstreamChange, bridge};
use serde_json::json;
use tokio::time::sleep;

use crate::support::{Fake, Heard, connect, echo, file, ways};

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
        let cause = "the server `far` did not answer in time";
        assert_eq!(heard.take(), [format!("far fails: {cause}")], "{way:?}");
        assert_eq!(gateway.failing(), [("far".to_owned(), cause.to_owned())], "{way:?}");
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
