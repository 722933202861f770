//! An MCP server of 2025-03-26: it has no document of the resource, and is its own authorization
//! server, at its origin.

use std::convert::Infallible;
use std::sync::Arc;

use bowline_auth::client::drive::{AuthAttempts, AuthVerdict, Authorizer, LoginPolicy};
use bowline_auth::client::plan::{Browser, Plan};
use bowline_auth::error::Error;
use bowline_auth::fetch::{BoxFuture, FetchRequest, Fetched, Fetcher};
use bowline_auth::url::Url;
use bowline_http::client::LoopbackVisitor;
use bowline_testing::oauth::{AuthorizationServer, MetadataPlace, OAuthEndpoint};
use bytes::Bytes;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::{count, send};

/// Answers only callers with a token, and only at one path.
fn answer(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    if request.uri().path() != "/mcp" {
        *response.status_mut() = StatusCode::NOT_FOUND;
    } else if !request.headers().contains_key(AUTHORIZATION) {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        response.headers_mut().insert(WWW_AUTHENTICATE, "Bearer".parse().unwrap());
    }
    response
}

async fn serve(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(|request| async move { Ok::<_, Infallible>(answer(&request)) });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

struct Network;

impl Fetcher for Network {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        Box::pin(send(request))
    }
}

/// The status that a message ends with.
async fn call(client: &Authorizer, url: &Url) -> StatusCode {
    let mut attempts = AuthAttempts::default();
    loop {
        let headers = client.headers((&Method::POST, url), &mut attempts).await.unwrap();
        let mut request = FetchRequest::get(url.clone());
        request.headers.extend(headers);
        let answer = send(request).await.unwrap();
        let refusal = (answer.status, &answer.headers);
        if answer.status.is_success() {
            return answer.status;
        }
        match client.refused(refusal, "x", LoginPolicy::Allowed, &mut attempts).await {
            AuthVerdict::Retry => {}
            AuthVerdict::Stands(_) => return answer.status,
        }
    }
}

async fn log_in(authority: &AuthorizationServer, offers_2025_03_26: bool) -> StatusCode {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    authority.share_origin_with(listener.local_addr().unwrap());
    let serving = tokio::spawn(serve(listener));
    let url = Url::parse(&format!("{}/mcp", authority.issuer())).unwrap();
    let plan: Plan = Browser::new("app").open_with(authority.approve()).into();
    let visitor = LoopbackVisitor::new(Authorizer::page_opener(&plan).unwrap());
    let client = Authorizer::new(plan, url.clone(), Arc::new(Network));
    let client = client.with_visitor(Arc::new(visitor));
    let client = if offers_2025_03_26 { client } else { client.without_2025_03_26() };
    let status = call(&client, &url).await;
    serving.abort();
    status
}

// spec: ASM-10, ASM-11
#[tokio::test]
async fn a_client_logs_in_at_the_origin_of_an_mcp_server_that_describes_itself_there() {
    let authority = AuthorizationServer::start().metadata_at([MetadataPlace::OAuth]).await;
    assert_eq!(log_in(&authority, true).await, StatusCode::OK);
    assert_eq!(count(&authority, OAuthEndpoint::Metadata), 1);
    let seen = &authority.requests_to(OAuthEndpoint::Authorize)[0];
    assert_eq!(seen.value("resource"), Some(format!("{}/mcp", authority.issuer()).as_str()));
}

// spec: ASM-12
#[tokio::test]
async fn a_client_logs_in_at_the_default_endpoints_of_an_mcp_server_that_does_not() {
    let authority = AuthorizationServer::start().metadata_at([]).await;
    assert_eq!(log_in(&authority, true).await, StatusCode::OK);
    for endpoint in [OAuthEndpoint::Register, OAuthEndpoint::Authorize, OAuthEndpoint::Token] {
        assert_eq!(count(&authority, endpoint), 1, "{endpoint:?}");
    }
    assert_eq!(log_in(&authority, false).await, StatusCode::UNAUTHORIZED);
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 1);
}
