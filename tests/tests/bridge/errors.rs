//! Errors of the upstream server, in the codes of the caller's revision.

use bowline::types::error::code;
use bowline::{Error, Resource, Server, Tool};
use serde_json::json;

use crate::support::{ALL, L, cells};

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
