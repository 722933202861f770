//! A server that answers as an upstream does: what transports serve.

use bowline_proto::request::Request;
use bowline_proto::upstream::Upstream;
use bowline_server::Server;
use bowline_server::layer::{self, Next};
use bowline_types::implementation::Implementation;

use crate::tasks;

/// A server that passes every request to an upstream, under a name of its own, or without one under
/// the name that the upstream's server gives itself. It speaks every revision, and serves stdio and
/// HTTP as any server does.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use bowline_gateway::config::{HttpLaunch, Launch};
/// use bowline_gateway::{GatewayLimits, Lanes, bridge};
/// use bowline_transport::stdio::Stdio;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let launch = Launch::Http(HttpLaunch::new("https://mcp.example.com/mcp"));
/// let lanes = Lanes::new("example", Arc::new(launch), GatewayLimits::default());
/// let lanes = lanes.described_by_server();
/// lanes.start().await?;
/// bridge(lanes, None).serve(Stdio::take()?).await?;
/// # Ok(())
/// # }
/// ```
pub fn bridge(upstream: impl Upstream, info: Option<Implementation>) -> Server {
    let info = info.or_else(|| upstream.info());
    let info = info.unwrap_or_else(|| Implementation::new("bowline", env!("CARGO_PKG_VERSION")));
    let mut server = Server::new(info.name, info.version);
    if let Some(why) = upstream.needs_authorization() {
        server = server.requires_authorization(why);
    }
    if let Some(title) = info.title {
        server = server.title(title);
    }
    if let Some(description) = info.description {
        server = server.description(description);
    }
    if let Some(url) = info.website_url {
        server = server.website(url);
    }
    for icon in info.icons {
        server = server.icon(icon);
    }
    server.tool(tasks::host()).layer(layer::from_fn(move |request: Request, next: Next| {
        tasks::serve(upstream.clone(), request, next)
    }))
}
