//! Views of tools (MCP Apps), and how the server behind describes itself.

use bowline::{Context, Resource, Server, Tool};
use bowline_gateway::bridge;
use bowline_types::ext::apps;

use crate::support::{ALL, M, cells, parked};

const VIEW: &str = "ui://weather/view";

fn server() -> Server {
    let forecast = |context: Context| async move { context.shows_views().to_string() };
    Server::new("weather", "1.2.3")
        .title("Weather")
        .instructions("Look out of the window.")
        .tool(Tool::new("forecast", forecast).ui(VIEW))
        .tool(Tool::new("refresh", || async { "Sun" }).ui(VIEW).app_only())
        .resource(Resource::ui(VIEW, "<!DOCTYPE html><p>Sun"))
}

#[tokio::test(start_paused = true)]
async fn views_pass() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), bowline::client::ClientBuilder::ui).await;
        assert!(client.capabilities().supports_extension(apps::IDENTIFIER), "{cell:?}");
        let tools = client.tools().all().await.unwrap();
        let uri = tools.iter().find(|tool| tool.name == "forecast").unwrap().ui().unwrap();
        assert_eq!(uri.resource_uri.as_deref(), Some(VIEW), "{cell:?}");
        assert!(tools.iter().any(|tool| tool.name == "refresh"), "{cell:?}");
        assert_eq!(client.call("forecast", ()).await.unwrap().text(), "true", "{cell:?}");
        assert!(client.read(VIEW).await.unwrap().text().contains("Sun"), "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_without_views_gets_no_tools_for_them() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let tools = client.tools().all().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["forecast"], "{cell:?}");
        if cell.upstream == M {
            assert_eq!(client.call("forecast", ()).await.unwrap().text(), "false", "{cell:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_bridge_has_the_name_and_the_instructions_of_the_server_behind() {
    for cell in cells(&ALL) {
        let server = bridge(parked(cell.relay(&server()).await), None);
        let client = cell.client(&server, |builder| builder).await;
        let info = client.server_info().unwrap();
        assert_eq!((info.name.as_str(), info.version.as_str()), ("weather", "1.2.3"), "{cell:?}");
        assert_eq!(info.title.as_deref(), Some("Weather"), "{cell:?}");
        assert_eq!(client.instructions(), Some("Look out of the window."), "{cell:?}");
    }
}
