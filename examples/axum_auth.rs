//! A server inside axum, with authentication of its own: `axum_auth 127.0.0.1:3000`.
//!
//! The middleware checks the `Authorization` header and inserts the user into the request. The tool
//! reads the user from its `Context`. Try the tokens `token-of-ada` and `token-of-grace`.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use bowline::{Context, Owner, Server, tool, tools};

#[derive(Clone)]
struct User {
    name: String,
}

impl User {
    /// The user of a token; a real program asks its database or its identity provider.
    fn find(token: &str) -> Option<Self> {
        let name = token.strip_prefix("token-of-")?;
        ["ada", "grace"].contains(&name).then(|| Self { name: name.to_owned() })
    }
}

async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let header = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer "));
    let user = token.and_then(User::find).ok_or(StatusCode::UNAUTHORIZED)?;
    // Sessions and limits of this server belong to the owner, so no user can use another's session.
    request.extensions_mut().insert(Owner::known("axum_auth", &user.name));
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

/// Name the user who calls
#[tool(read_only)]
async fn whoami(context: Context) -> bowline::Result<String> {
    let user = context.extension::<User>().ok_or("no user is signed in")?;
    Ok(user.name.clone())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:3000".into());
    let server = Server::new("who", "1.0.0").tools(tools![whoami]);
    let app = Router::new().nest_service("/mcp", server.http());
    let app = app.layer(middleware::from_fn(authenticate));
    let listener = tokio::net::TcpListener::bind(address).await?;
    Ok(axum::serve(listener, app).await?)
}
