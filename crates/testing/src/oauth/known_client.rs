//! Which client an id belongs to: a registered one, or the document behind a URL.

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::url::Url;
use bowline_types::json::RawJson;
use bowline_types::read::read;
use http::StatusCode;
use serde::Deserialize;

use super::authority::Authority;
use super::cookie_jar::CookieJar;
use super::loopback_http;
use super::oauth_answer::Refusal;
use super::registered_client::{ClientAuthMethod, RegisteredClient};

/// The members of a client metadata document that are read.
#[derive(Deserialize)]
struct ClientDocument {
    client_id: String,
    client_name: String,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
    grant_types: Option<Vec<String>>,
    jwks: Option<RawJson>,
}

/// Finds a client. An id that is a URL is the address of its document.
pub(super) async fn find(authority: &Authority, id: &str) -> Result<RegisteredClient, Refusal> {
    if let Some(client) = authority.client(id) {
        return Ok(client);
    }
    let unknown = || Refusal::invalid_client("the client is unknown");
    let url = Url::parse(id).map_err(|_| unknown())?;
    if !authority.options.has_client_documents {
        return Err(unknown());
    }
    let document = match authority.options.client_documents.get(id) {
        Some(document) => document.clone(),
        None => fetch(&url).await.ok_or_else(unknown)?,
    };
    parse(&document, id).map_err(Refusal::invalid_client)
}

/// Fetches a document of this machine. A test can reach no others; it names them to the builder.
async fn fetch(url: &Url) -> Option<String> {
    let answer = loopback_http::get(url, &mut CookieJar::default()).await.ok()?;
    let is_found = answer.status() == StatusCode::OK;
    String::from_utf8(answer.into_body().to_vec()).ok().filter(|_| is_found)
}

fn parse(text: &str, id: &str) -> Result<RegisteredClient, &'static str> {
    let is_page = Url::parse(id).is_ok_and(|url| url.is_confidential() && url.path() != "/");
    if !is_page {
        return Err("the URL of a client must be `https` and have a path");
    }
    let document: ClientDocument = read(text).map_err(|_| "the document of the client is wrong")?;
    if document.client_id != id {
        return Err("the document of the client names another `client_id`");
    }
    let method = document.token_endpoint_auth_method.as_deref().unwrap_or("none");
    let method = ClientAuthMethod::from_name(method);
    let is_usable = |it: &ClientAuthMethod| {
        matches!(it, ClientAuthMethod::None | ClientAuthMethod::PrivateKeyJwt)
    };
    let method = method.filter(is_usable).ok_or("a document cannot hold a secret")?;
    let keys = document.jwks.map(|jwks| JwkSet::parse(jwks.as_str())).transpose();
    let mut client = RegisteredClient::public(id);
    client.name = document.client_name;
    client.redirect_uris = document.redirect_uris;
    client.keys = keys.map_err(|_| "the keys of the client are wrong")?.unwrap_or_default();
    client.methods = vec![method];
    // Without the member, a client uses codes; it gets refresh tokens only if it asks for them.
    client.grants = document.grant_types.or_else(|| Some(vec!["authorization_code".to_owned()]));
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "https://app.example/client.json";

    fn document(id: &str) -> String {
        format!(
            r#"{{"client_id":"{id}","client_name":"App","redirect_uris":["http://127.0.0.1/"]}}"#
        )
    }

    #[test]
    fn a_document_must_be_complete_and_name_its_own_url() {
        assert!(parse(&document(ID), ID).is_ok());
        assert!(parse(&document("https://app.example/other.json"), ID).is_err());
        assert!(parse("{", ID).is_err());
        assert!(parse(&document(ID).replace("client_name", "name"), ID).is_err());
        assert!(parse(&document(ID).replace("redirect_uris", "uris"), ID).is_err());
    }

    #[test]
    fn the_url_of_a_document_has_a_path_and_is_https() {
        for id in ["https://app.example", "https://app.example/", "http://app.example/a"] {
            assert!(parse(&document(id), id).is_err(), "{id}");
        }
    }

    #[test]
    fn a_document_cannot_announce_a_secret() {
        let member = r#""token_endpoint_auth_method":"client_secret_basic","client_id""#;
        assert!(parse(&document(ID).replace(r#""client_id""#, member), ID).is_err());
    }
}
