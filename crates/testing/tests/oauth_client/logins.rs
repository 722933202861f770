//! Logins of a user, at a server that does what it should and at one that makes mistakes.

use bowline_auth::client::plan::Browser;
use bowline_testing::oauth::{
    AuthorizationServer, AuthorizationServerBuilder, ClientAuthMethod, DpopPolicy, Fault,
    MetadataPlace, OAuthEndpoint, RegisteredClient, UserAgent,
};
use http::header::AUTHORIZATION;

use crate::{MCP, bearer, client, count, log_in};

fn server() -> AuthorizationServerBuilder {
    AuthorizationServer::start().resource(MCP).scopes(["mcp", "admin"])
}

fn browser(authority: &AuthorizationServer) -> Browser {
    Browser::new("app").open_with(authority.approve())
}

#[tokio::test]
async fn a_user_logs_in_and_out() {
    let authority = server().await;
    let client = client(browser(&authority), authority.issuer());
    let headers = log_in(&client, "Bearer").await.unwrap();
    assert!(headers[AUTHORIZATION].to_str().unwrap().starts_with("Bearer "));
    client.logout().await.unwrap();
    assert_eq!(count(&authority, OAuthEndpoint::Revoke), 2);
    assert!(authority.requests_to(OAuthEndpoint::Revoke).iter().all(|it| it.status() == 200));
    assert!(!client.is_logged_in().await.unwrap());
}

#[tokio::test]
async fn a_user_pastes_the_address_of_the_last_page() {
    let authority = server().await;
    let browser = Browser::new("app")
        .paste(|page| async move { UserAgent::Approves.decide(&page.to_string()).await.ok() });
    bearer(browser, &authority).await.unwrap();
    let denied = Browser::new("app").open_with(authority.deny());
    let error = bearer(denied, &authority).await.unwrap_err();
    assert!(error.to_string().contains("access_denied"), "{error}");
}

#[tokio::test]
async fn a_client_logs_in_wherever_the_metadata_are_and_however_it_authenticates_itself() {
    for place in
        [MetadataPlace::OAuth, MetadataPlace::OpenIdInserted, MetadataPlace::OpenIdAppended]
    {
        let authority = server().path("/tenant").metadata_at([place]).await;
        bearer(browser(&authority), &authority).await.unwrap();
    }
    for method in
        [ClientAuthMethod::None, ClientAuthMethod::SecretBasic, ClientAuthMethod::SecretPost]
    {
        let authority = server().auth_methods([method]).await;
        bearer(browser(&authority), &authority).await.unwrap();
    }
    let known = RegisteredClient::with_secret("id", "s").redirect_uri("http://127.0.0.1/callback");
    let authority = server().client(known).without_registration().await;
    let issuer = authority.issuer();
    bearer(browser(&authority).client_with_secret(issuer, "id", "s"), &authority).await.unwrap();
    let url = "https://app.example/client.json";
    let document = Browser::new("app").metadata_document(url).document().unwrap();
    let authority = server().client_document(url, document).without_registration().await;
    bearer(browser(&authority).metadata_document(url), &authority).await.unwrap();
}

/// What a login does about a fault: how far it gets, and whether it succeeds.
#[tokio::test]
async fn a_login_succeeds_or_ends_as_the_fault_demands() {
    use OAuthEndpoint::{Authorize, Metadata, Register, Token};
    let refused = [
        (Fault::MetadataIssuerMismatch, Metadata),
        (Fault::NoS256, Metadata),
        (Fault::PlainOnly, Metadata),
        (Fault::Status(Metadata, 500), Metadata),
        (Fault::Malformed(Metadata), Metadata),
        (Fault::RegistrationRefused, Register),
        (Fault::Malformed(Register), Register),
        (Fault::WrongIss, Authorize),
        (Fault::NormalizedIss, Authorize),
        (Fault::MissingIss, Authorize),
        (Fault::ErrorResponse("server_error"), Authorize),
        (Fault::InvalidGrant, Token),
        (Fault::WrongTokenType, Token),
        (Fault::MissingTokenType, Token),
        (Fault::Malformed(Token), Token),
        (Fault::WrongMediaType(Token), Token),
        (Fault::Status(Token, 503), Token),
        (Fault::Redirect(Token, "https://evil.example/".into()), Token),
    ];
    for (fault, last) in refused {
        let authority = server().fault(fault.clone()).await;
        let outcome = bearer(browser(&authority), &authority).await;
        assert!(outcome.is_err(), "{fault:?}");
        for (at, endpoint) in [Metadata, Register, Authorize, Token].into_iter().enumerate() {
            let is_reached = count(&authority, endpoint) > 0;
            let must = at
                <= [Metadata, Register, Authorize, Token]
                    .iter()
                    .position(|it| *it == last)
                    .unwrap();
            assert_eq!(is_reached, must, "{fault:?} {endpoint:?}");
        }
        assert!(count(&authority, Token) <= 1, "{fault:?}");
    }
    for fault in [
        Fault::UnadvertisedIss,
        Fault::LoopbackAddressRefused,
        Fault::MissingExpiresIn,
        Fault::NoRefreshToken,
        Fault::FewerScopes,
    ] {
        let authority = server().fault(fault.clone()).await;
        let outcome = bearer(browser(&authority), &authority).await;
        assert!(outcome.is_ok(), "{fault:?} {outcome:?}");
    }
}

#[tokio::test]
async fn a_bound_token_is_obtained_with_a_nonce() {
    let authority = server().dpop(DpopPolicy::Required).dpop_nonces().await;
    let bound = client(browser(&authority), authority.issuer());
    let headers = log_in(&bound, "DPoP").await.unwrap();
    assert!(headers[AUTHORIZATION].to_str().unwrap().starts_with("DPoP "));
    assert!(headers.contains_key("dpop"));
    assert_eq!(count(&authority, OAuthEndpoint::Token), 2);
    let authority = server().dpop(DpopPolicy::Required).fault(Fault::EndlessNonces).await;
    let bound = client(browser(&authority).dpop(), authority.issuer());
    assert!(log_in(&bound, "Bearer").await.is_err());
    assert_eq!(count(&authority, OAuthEndpoint::Token), 2);
}
