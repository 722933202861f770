//! Errors of the upstream server, in the codes of the caller's revision.

use bowline::{Ask, Error, Prompt, Resource, Server, Tool};
use bowline_types::error::code;
use serde_json::json;

use crate::support::{ALL, L, M, cells};

fn server() -> Server {
    let reserved = || async { Err::<(), _>(Error::rpc(-32050, "odd")) };
    Server::new("far", "1.0.0")
        .tool(Tool::new("reserved", reserved))
        .tool(Tool::new("fails", || async { Err::<(), _>(Error::from("no")) }))
        .resource(Resource::new("far://board", || async { "nothing" }))
}

#[tokio::test(start_paused = true)]
async fn a_missing_resource_has_the_code_of_the_callers_revision() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let error = client.read("far://nothing").await.unwrap_err();
        assert!(error.is_not_found(), "{cell:?}: {error}");
        let expected =
            if cell.caller == L { code::RESOURCE_NOT_FOUND } else { code::INVALID_PARAMS };
        assert_eq!(error.rpc().unwrap().code, expected, "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_a_tool_and_an_unknown_tool_stay_what_they_are() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let failed = client.call("fails", ()).await.unwrap();
        assert!(failed.is_error(), "{cell:?}");
        assert!(failed.text().contains("no"), "{cell:?}: {}", failed.text());
        let unknown = client.call("unknown", json!({})).await.unwrap_err();
        assert_eq!(unknown.rpc().unwrap().code, code::INVALID_PARAMS, "{cell:?}");
    }
}

// spec: ERR-9
#[tokio::test(start_paused = true)]
async fn a_code_that_the_specification_reserves_is_not_passed_on() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let error = client.call("reserved", ()).await.unwrap_err();
        assert_eq!(error.rpc().unwrap().code, code::INTERNAL_ERROR, "{cell:?}");
    }
}

/// A modern server that may not ask says so with a code that older revisions do not have.
#[tokio::test(start_paused = true)]
async fn a_missing_capability_is_a_failure_of_the_tool_for_callers_with_a_handshake() {
    let sure = |ask: Ask| async move { Ok::<_, Error>(ask.confirm("Sure?").await?.to_string()) };
    for cell in cells(&[(L, M), (M, M)]) {
        let far = Server::new("far", "1.0.0")
            .tool(Tool::new("sure", sure))
            .prompt(Prompt::new("sure", sure))
            .resource(Resource::new("far://sure", sure));
        let client = cell.through(&far, |builder| builder).await;
        let called = client.call("sure", ()).await;
        let prompt = client.prompt("sure").await.unwrap_err();
        let resource = client.read("far://sure").await.unwrap_err();
        let codes = [prompt.rpc().unwrap().code, resource.rpc().unwrap().code];
        if cell.caller == L {
            let failed = called.unwrap();
            assert!(failed.is_error() && failed.text().contains("elicitation"), "{cell:?}");
            assert_eq!(codes, [code::INTERNAL_ERROR; 2], "{cell:?}");
        } else {
            let refused = called.unwrap_err();
            assert_eq!(refused.rpc().unwrap().code, code::MISSING_CLIENT_CAPABILITY, "{cell:?}");
            assert_eq!(codes, [code::MISSING_CLIENT_CAPABILITY; 2], "{cell:?}");
        }
    }
}
