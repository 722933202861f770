//! From a request to the endpoint that answers it, with the faults that any endpoint can have.

use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};

use super::authority::Authority;
use super::fault::Fault;
use super::oauth_answer::{OAuthAnswer, Refusal};
use super::oauth_request::OAuthRequest;
use super::request_log::{OAuthEndpoint, SeenRequest};
use super::{authorize, introspect, metadata, register, token};

/// Answers a request, and notes both in the log.
pub(super) async fn answer(authority: &Arc<Authority>, request: &OAuthRequest) -> OAuthAnswer {
    let endpoint = endpoint(authority, &request.method, &request.path);
    let number = authority.log.note(SeenRequest {
        endpoint,
        method: request.method.clone(),
        path: request.path.clone(),
        parameters: request.parameters.clone(),
        json: request.json.clone(),
        headers: request.headers.clone(),
        status: 0,
        error: None,
    });
    let answer = match disturb(authority, endpoint).await {
        Some(answer) => answer,
        None => relabel(authority, endpoint, serve(authority, request, endpoint).await),
    };
    authority.log.answered(number, answer.status.as_u16(), answer.error);
    answer
}

/// The endpoint that a request is for.
pub(super) fn endpoint(authority: &Authority, method: &Method, path: &str) -> OAuthEndpoint {
    let is_get = method == Method::GET;
    if is_get && metadata::paths(&authority.options).iter().any(|it| it == path) {
        return OAuthEndpoint::Metadata;
    }
    let name = path.strip_prefix(authority.options.path.trim_end_matches('/'));
    match (is_get, method == Method::POST, name) {
        (true, _, Some("/authorize")) => OAuthEndpoint::Authorize,
        (true, _, Some("/jwks")) => OAuthEndpoint::Jwks,
        (_, true, Some("/consent")) => OAuthEndpoint::Consent,
        (_, true, Some("/register")) => OAuthEndpoint::Register,
        (_, true, Some("/token")) => OAuthEndpoint::Token,
        (_, true, Some("/introspect")) => OAuthEndpoint::Introspect,
        (_, true, Some("/revoke")) => OAuthEndpoint::Revoke,
        _ => OAuthEndpoint::Unknown,
    }
}

async fn serve(
    authority: &Arc<Authority>,
    request: &OAuthRequest,
    endpoint: OAuthEndpoint,
) -> OAuthAnswer {
    let answer = match endpoint {
        OAuthEndpoint::Metadata => Ok(metadata::answer(authority)),
        OAuthEndpoint::Jwks => Ok(metadata::jwks(authority)),
        OAuthEndpoint::Authorize => authorize::answer(authority, request).await,
        OAuthEndpoint::Consent => authorize::decide(authority, request),
        OAuthEndpoint::Register => register::answer(authority, request),
        OAuthEndpoint::Token => token::answer(authority, request).await,
        OAuthEndpoint::Introspect => introspect::answer(authority, request).await,
        OAuthEndpoint::Revoke => introspect::revoke(authority, request).await,
        OAuthEndpoint::Unknown => Ok(OAuthAnswer::empty(StatusCode::NOT_FOUND)),
    };
    answer.unwrap_or_else(Refusal::into_answer)
}

/// Lets the faults act that replace or delay an answer.
async fn disturb(authority: &Authority, endpoint: OAuthEndpoint) -> Option<OAuthAnswer> {
    let faults = &authority.faults;
    if let Some(time) = faults.take(|fault| match fault {
        Fault::Slow(at, time) if *at == endpoint => Some(*time),
        _ => None,
    }) {
        tokio::time::sleep(time).await;
    }
    if authority.acts(&Fault::Stalled(endpoint)) {
        std::future::pending::<()>().await;
    }
    faults.take(|fault| match fault {
        Fault::Status(at, status) if *at == endpoint => {
            let status = StatusCode::from_u16(*status).expect("a fault has a status of HTTP");
            Some(OAuthAnswer::empty(status))
        }
        Fault::Redirect(at, url) if *at == endpoint => {
            Some(OAuthAnswer::redirect(StatusCode::TEMPORARY_REDIRECT, url))
        }
        Fault::Oversize(at, bytes) if *at == endpoint => {
            Some(OAuthAnswer::json_text(format!(r#"{{"padding":"{}"}}"#, "x".repeat(*bytes))))
        }
        Fault::Malformed(at) if *at == endpoint => Some(OAuthAnswer::json_text("{\"issuer\":")),
        _ => None,
    })
}

fn relabel(authority: &Authority, endpoint: OAuthEndpoint, answer: OAuthAnswer) -> OAuthAnswer {
    match authority.acts(&Fault::WrongMediaType(endpoint)) {
        true => answer.with(CONTENT_TYPE, HeaderValue::from_static("text/html")),
        false => answer,
    }
}
