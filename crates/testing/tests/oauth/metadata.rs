//! Metadata documents and the key set.

use bowline_auth::jose::jws::Algorithm;
use bowline_auth::jose::sign::SigningKey;
use bowline_auth::metadata::server::{ServerMetadata, addresses};
use bowline_auth::url::Url;
use bowline_testing::oauth::{
    AuthorizationServer, ClientAuthMethod, DpopPolicy, MetadataPlace, OAuthEndpoint,
};
use serde_json::json;

use crate::app::{claims, get, verified};

/// The statuses at the addresses that a client tries, in order.
async fn statuses(authority: &AuthorizationServer) -> Vec<u16> {
    let mut statuses = Vec::new();
    for address in addresses(&Url::parse(authority.issuer()).unwrap()).unwrap() {
        statuses.push(get(address.as_str()).await.status);
    }
    statuses
}

#[tokio::test]
async fn metadata_is_at_every_address_that_a_client_tries() {
    for path in ["", "/t1", "/t1/"] {
        let authority = AuthorizationServer::start().path(path).await;
        assert!(authority.issuer().ends_with(path));
        assert!(statuses(&authority).await.iter().all(|status| *status == 200), "{path}");
        assert_eq!(get(&authority.url(OAuthEndpoint::Metadata)).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn metadata_is_only_where_the_test_wants_it() {
    use MetadataPlace::{OAuth, OpenIdAppended, OpenIdInserted};

    for (places, expected) in [
        (vec![OAuth], [200, 404, 404]),
        (vec![OpenIdInserted], [404, 200, 404]),
        (vec![OpenIdAppended], [404, 404, 200]),
        (vec![], [404, 404, 404]),
    ] {
        let authority = AuthorizationServer::start().path("/t1").metadata_at(places).await;
        assert_eq!(statuses(&authority).await, expected);
    }
}

#[tokio::test]
async fn metadata_says_what_the_server_can_do() {
    let authority = AuthorizationServer::start().path("/t1").scopes(["mcp"]).offline_access().await;
    let document = get(&authority.url(OAuthEndpoint::Metadata)).await;
    let metadata = ServerMetadata::parse(&document.text, authority.issuer()).unwrap();
    assert!(metadata.supports_s256());
    assert_eq!(metadata.authorization_response_iss_parameter_supported, Some(true));
    assert_eq!(metadata.client_id_metadata_document_supported, Some(true));
    assert_eq!(metadata.scopes_supported.unwrap(), ["mcp", "offline_access"]);
    assert_eq!(metadata.token_endpoint.unwrap().as_str(), authority.url(OAuthEndpoint::Token));
    assert!(metadata.registration_endpoint.is_some() && metadata.jwks_uri.is_some());
    let methods = metadata.token_endpoint_auth_methods_supported.unwrap();
    assert!(methods.contains(&"private_key_jwt".to_owned()));
    assert!(metadata.token_endpoint_auth_signing_alg_values_supported.is_some());
    assert!(metadata.dpop_signing_alg_values_supported.is_some());
    assert_eq!(document.json["id_token_signing_alg_values_supported"], json!(["ES256"]));
}

#[tokio::test]
async fn metadata_does_not_offer_what_the_server_cannot_do() {
    let authority = AuthorizationServer::start()
        .without_iss()
        .without_registration()
        .without_client_documents()
        .auth_methods([ClientAuthMethod::SecretBasic])
        .dpop(DpopPolicy::Ignored)
        .await;
    let document = get(&authority.url(OAuthEndpoint::Metadata)).await;
    let metadata = ServerMetadata::parse(&document.text, authority.issuer()).unwrap();
    assert_eq!(metadata.authorization_response_iss_parameter_supported, None);
    assert_eq!(metadata.registration_endpoint, None);
    assert_eq!(metadata.client_id_metadata_document_supported, Some(false));
    let methods = metadata.token_endpoint_auth_methods_supported.unwrap();
    assert_eq!(methods, ["client_secret_basic"]);
    assert_eq!(metadata.token_endpoint_auth_signing_alg_values_supported, None);
    assert_eq!(metadata.dpop_signing_alg_values_supported, None);
}

#[tokio::test]
async fn keys_rotate_and_retire() {
    let authority = AuthorizationServer::start().await;
    let old = authority.token().build();
    authority.rotate_key();
    let new = authority.token().build();
    assert!(verified(&authority, &old).await.is_some());
    assert!(verified(&authority, &new).await.is_some());
    authority.retire_keys();
    assert!(verified(&authority, &old).await.is_none());
    assert!(verified(&authority, &new).await.is_some());
}

#[tokio::test]
async fn tokens_are_signed_with_the_algorithm_of_the_test() {
    let rsa = include_str!("../../../auth/tests/keys/rsa.pem");
    let ed25519 = include_str!("../../../auth/tests/keys/ed25519.pem");
    for (pem, algorithm) in
        [(rsa, Algorithm::Rs256), (rsa, Algorithm::Ps256), (ed25519, Algorithm::EdDsa)]
    {
        let key = SigningKey::pem(pem, algorithm).unwrap();
        let authority = AuthorizationServer::start().signing_key(key).await;
        let token = authority.token().build();
        assert_eq!(claims(&authority, &token).await["sub"], "ann", "{algorithm:?}");
    }
}
