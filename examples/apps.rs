//! MCP Apps: a tool with a view, an HTML document that hosts show with its results.
//!
//! Hosts without MCP Apps call the tool as usual and show its text.

use bowline::{Context, Json, Resource, ResourceUi, Server, tool, tools};
use schemars::JsonSchema;
use serde::Serialize;

const VIEW: &str = r#"<!DOCTYPE html>
<title>Weather</title>
<p id="weather">Waiting for the forecast …</p>
<button onclick="ask('tools/call', { name: 'refresh', arguments: {} })">Refresh</button>
<script>
  let last = 0;
  const send = message => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const ask = (method, params) => send({ id: ++last, method, params });
  const show = result =>
    document.getElementById("weather").textContent = `${result.structuredContent.degrees} °C`;
  addEventListener("message", ({ data }) => {
    if (data.id === 1) send({ method: "ui/notifications/initialized" });
    else if (data.method === "ui/notifications/tool-result") show(data.params);
    else if (data.result?.structuredContent) show(data.result);
  });
  ask("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "weather", version: "1.0.0" },
    appCapabilities: {},
  });
</script>
"#;

#[derive(Serialize, JsonSchema)]
struct Weather {
    degrees: f64,
}

/// The weather in a city
#[tool(read_only, ui = "ui://weather/view")]
async fn forecast(city: String, context: Context) -> Json<Weather> {
    eprintln!("{city}, with a view: {}", context.shows_views());
    Json(Weather { degrees: 21.5 })
}

/// The weather of now, for the button of the view
#[tool(read_only, ui = "ui://weather/view", app_only)]
async fn refresh() -> Json<Weather> {
    Json(Weather { degrees: 22.0 })
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    let view = Resource::ui("ui://weather/view", VIEW)
        .describe("Shows the forecast")
        .ui_settings(&ResourceUi::new().with_border(true));
    Server::new("weather", "1.0.0").tools(tools![forecast, refresh]).resource(view).run().await
}
