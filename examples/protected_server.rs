//! A server for callers with an access token: `protected_server 127.0.0.1:3000 ISSUER`.
//!
//! It verifies the tokens that the authorization server `ISSUER` signs for the URL of this server. A
//! client without one gets 401, and learns from the metadata document where to log in.

use bowline::auth::Jwt;
use bowline::{Claims, Server, Tool, tool, tools};

/// Name the authenticated caller
#[tool(read_only)]
async fn whoami(caller: Claims) -> String {
    caller.subject
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:3000".into());
    let issuer = arguments.next().unwrap_or("https://auth.example.com".into());
    let resource = format!("http://{address}/mcp"); // In production, a public `https` URL.

    let auth = Jwt::issuer(issuer).audience(&resource).require_scope("mcp");
    let purge = Tool::new("purge", async || "gone").require_scope("admin");
    let server = Server::new("api", "1.0.0").tools(tools![whoami]).tool(purge);
    server.http().public_url(&resource).auth(auth).bind(address).await
}
