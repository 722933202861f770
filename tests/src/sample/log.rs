//! Tools that send log messages.

use bowline::{Log, Server, tool, tools};
use bowline_types::deprecated::logging::LoggingLevel;
use serde_json::json;

/// One tool that logs at the usual levels.
pub(super) fn server(server: Server) -> Server {
    server.tools(tools![chatter])
}

/// Tools that log at every level, and log JSON.
pub(super) fn data(server: Server) -> Server {
    server.tools(tools![climb, report])
}

/// Log something of every level
#[tool]
fn chatter(log: Log) -> String {
    log.debug("a detail");
    log.info("all is well");
    log.warning("careful");
    log.error("it broke");
    "said it".to_owned()
}

/// Log ever more severe things
#[tool]
fn climb(log: Log) -> String {
    log.debug("a detail");
    log.info("all is well");
    log.notice("look");
    log.warning("careful");
    log.error("it broke");
    log.critical("a part has failed");
    log.alert("come at once");
    log.emergency("nothing works");
    "said it".to_owned()
}

/// Log more than text
#[tool]
fn report(log: Log) -> String {
    let data = json!({ "rows": 7, "user": { "name": "ann", "password": "hunter2" } });
    log.data(LoggingLevel::Warning, &data);
    "reported".to_owned()
}
