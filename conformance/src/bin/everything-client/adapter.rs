//! Connects the logins of `bowline-auth` with the HTTP client, until the client does that itself.

use std::sync::Arc;

use bowline_auth::client::drive::{AuthAttempts, AuthVerdict, Authorizer, LoginPolicy};
use bowline_auth::client::plan::Plan;
use bowline_auth::error::Error;
use bowline_auth::fetch::{FetchRequest, Fetched, Fetcher};
use bowline_auth::url::Url;
use bowline_http::client::{
    Authorize, AuthorizeMessage, BoxError, LoopbackVisitor, MessageOperation, RefusalVerdict,
};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::{HOST, HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

/// Follows a plan for the server at a URL.
pub(crate) fn follow(plan: impl Into<Plan>, url: &str) -> Result<Arc<dyn Authorize>, Error> {
    let plan = plan.into();
    let visitor = Authorizer::page_opener(&plan).map(LoopbackVisitor::new);
    let authorizer = Authorizer::new(plan, Url::parse(url)?, Arc::new(LoopbackFetcher));
    Ok(Arc::new(ServerAuthorizer(match visitor {
        Some(visitor) => authorizer.with_visitor(Arc::new(visitor)),
        None => authorizer,
    })))
}

/// Authorizes requests to one server.
struct ServerAuthorizer(Authorizer);

impl Authorize for ServerAuthorizer {
    fn message(&self, operation: MessageOperation) -> Box<dyn AuthorizeMessage> {
        let (authorizer, attempts) = (self.0.clone(), AuthAttempts::default());
        Box::new(MessageAuthorizer { authorizer, operation, attempts })
    }
}

/// Authorizes one message.
struct MessageAuthorizer {
    authorizer: Authorizer,
    operation: MessageOperation,
    attempts: AuthAttempts,
}

impl AuthorizeMessage for MessageAuthorizer {
    fn headers<'a>(
        &'a mut self,
        method: &'a Method,
        url: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, BoxError>> {
        Box::pin(async move {
            let url = Url::parse(&url.to_string())?;
            Ok(self.authorizer.headers((method, &url), &mut self.attempts).await?)
        })
    }

    fn refused<'a>(
        &'a mut self,
        status: StatusCode,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, RefusalVerdict> {
        let Self { authorizer, operation, attempts } = self;
        let policy = match operation.may_log_in {
            true => LoginPolicy::Allowed,
            false => LoginPolicy::Forbidden,
        };
        Box::pin(async move {
            match authorizer.refused((status, headers), &operation.name, policy, attempts).await {
                AuthVerdict::Retry => RefusalVerdict::SendAgain,
                AuthVerdict::Stands(why) => RefusalVerdict::Stands(why.map(Into::into)),
            }
        })
    }
}

/// Sends requests to this machine: the servers of the suite.
struct LoopbackFetcher;

impl Fetcher for LoopbackFetcher {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        let failed = |error| Error::fetch("the server did not answer").with_source(error);
        Box::pin(async move { send(request).await.map_err(failed) })
    }
}

async fn send(request: FetchRequest) -> Result<Fetched, BoxError> {
    let FetchRequest { method, url, headers, body, .. } = request;
    let uri = url.to_uri();
    let authority = uri.authority().ok_or("a URL without an authority")?.to_string();
    let mut request = Request::new(Full::<Bytes>::from(body.expose().clone()));
    *request.method_mut() = method;
    *request.uri_mut() = uri.path_and_query().ok_or("a URL without a path")?.clone().into();
    *request.headers_mut() = headers;
    request.headers_mut().insert(HOST, HeaderValue::from_str(&authority)?);
    let stream = tokio::net::TcpStream::connect(authority).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Fetched { status: head.status, headers: head.headers, body })
}
