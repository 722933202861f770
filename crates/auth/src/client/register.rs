//! Registration: how the client gets an id at an authorization server.
//!
//! In this order: an id that was registered beforehand, the URL of a metadata document, an earlier
//! dynamic registration, a new one.

use bowline_types::read::read;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::{Deserialize, Serialize};

use super::discover::{AuthServer, Endpoint};
use super::identity::{AuthMethod, ClientIdentity};
use super::plan::{CodeGrant, check_document_url};
use super::record::{Record, Registered};
use super::redeem::OAuthRefusal;
use crate::error::{Error, Kind, misread};
use crate::fetch::{FetchRequest, Fetched};
use crate::form::Form;
use crate::secret::Secret;
use crate::url::Url;

/// The most bytes of a client id, and of the secret of a client.
const MOST_CREDENTIAL: usize = 4 * 1024;

/// How the client gets its id.
#[derive(Debug)]
pub(crate) enum Choice {
    /// It has one already, with this redirect URI.
    Known(ClientIdentity, Url),
    /// It has to register.
    Register,
}

/// Chooses how the client gets its id. `redirect` is where it listens now.
pub(crate) fn choose(
    code: &CodeGrant,
    server: &AuthServer,
    known: Option<&Record>,
    redirect: &Url,
) -> Result<Choice, Error> {
    if let Some(client) = &code.client {
        return Ok(Choice::Known(client.identity(), redirect.clone()));
    }
    let supports_documents = server.metadata().client_id_metadata_document_supported == Some(true);
    if let Some(document) = code.document.as_deref().filter(|_| supports_documents) {
        check_document_url(document)?;
        return Ok(Choice::Known(ClientIdentity::public(document), redirect.clone()));
    }
    if let Some(client) = known.and_then(|record| record.client.as_ref())
        && let Ok(registered) = Url::parse(&client.redirect)
        && registered.port() == redirect.port()
    {
        return Ok(Choice::Known(client.identity(), registered));
    }
    match server.metadata().registration_endpoint {
        Some(_) => Ok(Choice::Register),
        None => {
            let text = format!(
                "the authorization server {} does not register clients; register one there, and \
                 name it with `.client(..)`",
                server.issuer()
            );
            Err(Error::new(Kind::Login, text))
        }
    }
}

/// The port of an earlier dynamic registration.
pub(crate) fn earlier_port(known: Option<&Record>) -> Option<u16> {
    let client = known?.client.as_ref()?;
    Url::parse(&client.redirect).ok().map(|redirect| redirect.port())
}

/// The request that registers the client.
pub(crate) fn request(
    name: &str,
    server: &AuthServer,
    redirect: &Url,
) -> Result<FetchRequest, Error> {
    #[derive(Serialize)]
    struct Registration<'a> {
        client_name: &'a str,
        redirect_uris: [&'a str; 1],
        grant_types: [&'a str; 2],
        response_types: [&'a str; 1],
        token_endpoint_auth_method: &'a str,
        application_type: &'a str,
    }

    let registration = Registration {
        client_name: name,
        redirect_uris: [redirect.as_str()],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method(server).name(),
        application_type: if redirect.is_loopback() { "native" } else { "web" },
    };
    let body = serde_json::to_vec(&registration).expect("texts can be written as JSON");
    let url = server.endpoint(Endpoint::Registration)?;
    let mut request = FetchRequest::post(url.clone(), &Form::new());
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.body = Secret::new(body);
    Ok(request)
}

/// The method to ask for: none, because a program on the user's machine keeps no secret from its
/// user; otherwise one with a secret that the server supports.
fn method(server: &AuthServer) -> AuthMethod {
    let theirs = server.metadata().token_endpoint_auth_methods_supported.as_deref();
    let ours = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post];
    let is_theirs = |method: &AuthMethod| {
        theirs.is_none_or(|names| names.iter().any(|name| name == method.name()))
    };
    ours.into_iter().find(is_theirs).unwrap_or(AuthMethod::None)
}

/// The answer to a registration.
#[derive(Debug)]
pub(crate) enum Registration {
    Done(Registered),
    Refused(OAuthRefusal),
}

/// Reads the answer to a registration.
///
/// # Errors
///
/// If it claims success and cannot be used.
pub(crate) fn read_answer(answer: &Fetched, redirect: &Url) -> Result<Registration, Error> {
    #[derive(Deserialize)]
    struct Answer {
        client_id: String,
        client_secret: Option<Secret<String>>,
        token_endpoint_auth_method: Option<String>,
    }

    if !matches!(answer.status, StatusCode::OK | StatusCode::CREATED) {
        return Ok(Registration::Refused(OAuthRefusal::read(answer, &[])));
    }
    let unusable = || Error::new(Kind::Login, "the answer to the registration is not JSON");
    let text = std::str::from_utf8(&answer.body).ok().filter(|_| answer.is_json());
    let what = "the answer to the registration";
    let body: Answer =
        read(text.ok_or_else(unusable)?).map_err(|error| misread(Kind::Login, what, &error))?;
    if body.client_id.is_empty() {
        return Err(Error::new(Kind::Login, format!("{what} names no client id")));
    }
    let secret = body.client_secret.as_ref().map_or(0, |secret| secret.expose().len());
    if body.client_id.len().max(secret) > MOST_CREDENTIAL {
        return Err(Error::too_large(
            "the id or the secret of the client",
            MOST_CREDENTIAL,
            "bytes",
        ));
    }
    let method = body.token_endpoint_auth_method.as_deref().map(|name| {
        let unknown = || {
            let text = format!("{what} demands an unknown way of authentication");
            Error::new(Kind::Login, text)
        };
        AuthMethod::from_name(name).ok_or_else(unknown)
    });
    Ok(Registration::Done(Registered {
        id: body.client_id,
        secret: body.client_secret.filter(|secret| !secret.expose().is_empty()),
        method: method.transpose()?,
        redirect: redirect.as_str().to_owned(),
    }))
}

/// The same redirect URI by the name of this machine, which some servers want instead of the address.
pub(crate) fn by_name(redirect: &Url) -> Result<Url, Error> {
    let port = redirect.port();
    Url::parse(&format!("http://localhost:{port}{}", redirect.path()))
}
