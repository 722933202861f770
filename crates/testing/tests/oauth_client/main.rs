//! The client of `bowline-auth` logs in at the authorization server for tests, over real sockets.

mod grants;
mod logins;
mod origin;
mod refresh_herd;

use std::sync::Arc;

use bowline_auth::client::drive::{AuthAttempts, AuthVerdict, Authorizer, LoginPolicy};
use bowline_auth::client::plan::Plan;
use bowline_auth::error::Error;
use bowline_auth::fetch::{FetchRequest, Fetched, Fetcher};
use bowline_auth::url::Url;
use bowline_http::client::LoopbackVisitor;
use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, WWW_AUTHENTICATE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

const MCP: &str = "https://mcp.example/mcp";

/// The MCP server, as far as a login sees it. It answers for its own origin, and passes requests to
/// authorization servers on to the network.
struct McpServer {
    issuer: String,
}

impl Fetcher for McpServer {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        Box::pin(async move {
            if request.url.host() != "mcp.example" {
                return send(request).await;
            }
            let issuer = &self.issuer;
            let document =
                format!(r#"{{"resource":"{MCP}","authorization_servers":["{issuer}"]}}"#);
            let headers = [(CONTENT_TYPE, "application/json".parse().unwrap())].into_iter();
            let (headers, body) = (headers.collect(), Bytes::from(document));
            Ok(Fetched { status: StatusCode::OK, headers, body })
        })
    }
}

async fn send(request: FetchRequest) -> Result<Fetched, Error> {
    let FetchRequest { method, url, headers, body, .. } = request;
    let failed = |_| Error::fetch("the server cannot be reached");
    let uri = url.to_uri();
    let authority = uri.authority().unwrap().to_string();
    let mut request = Request::new(Full::<Bytes>::from(body.expose().clone()));
    *request.method_mut() = method;
    *request.uri_mut() = uri.path_and_query().unwrap().clone().into();
    *request.headers_mut() = headers;
    request.headers_mut().insert(HOST, authority.parse().unwrap());
    let stream = tokio::net::TcpStream::connect(authority).await.map_err(failed)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let failed = |_| Error::fetch("the server did not answer");
    let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
    let body = body.collect().await.map_err(failed)?.to_bytes();
    Ok(Fetched { status: head.status, headers: head.headers, body })
}

fn client(plan: impl Into<Plan>, issuer: &str) -> Authorizer {
    let plan = plan.into();
    let visitor = Authorizer::page_opener(&plan).map(LoopbackVisitor::new);
    let server = McpServer { issuer: issuer.to_owned() };
    let client = Authorizer::new(plan, Url::parse(MCP).unwrap(), Arc::new(server));
    match visitor {
        Some(visitor) => client.with_visitor(Arc::new(visitor)),
        None => client,
    }
}

/// Calls the MCP server without a token, and logs in as it demands.
async fn log_in(client: &Authorizer, scheme: &str) -> Result<HeaderMap, Error> {
    let (method, url) = (Method::POST, Url::parse(MCP).unwrap());
    let mut attempts = AuthAttempts::default();
    let headers = client.headers((&method, &url), &mut attempts).await?;
    if headers.contains_key(AUTHORIZATION) {
        return Ok(headers);
    }
    let mut refusal = HeaderMap::new();
    refusal.insert(WWW_AUTHENTICATE, format!(r#"{scheme} scope="mcp""#).parse().unwrap());
    let refusal = (StatusCode::UNAUTHORIZED, &refusal);
    match client.refused(refusal, "x", LoginPolicy::Allowed, &mut attempts).await {
        AuthVerdict::Retry => client.headers((&method, &url), &mut attempts).await,
        AuthVerdict::Stands(error) => Err(error.unwrap()),
    }
}

/// Logs in at an authorization server with bearer tokens.
async fn bearer(
    plan: impl Into<Plan>,
    authority: &AuthorizationServer,
) -> Result<HeaderMap, Error> {
    log_in(&client(plan, authority.issuer()), "Bearer").await
}

fn count(authority: &AuthorizationServer, endpoint: OAuthEndpoint) -> usize {
    authority.requests_to(endpoint).len()
}
