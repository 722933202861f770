//! The authorization endpoint and the user at the browser.

use std::time::Duration;

use bowline_auth::url::Url;
use bowline_testing::oauth::{AuthorizationServer, LoginConsent, OAuthEndpoint, UserAgent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::app::{BACK, RESOURCE, app, approve, claims, get, log_in, page, post, redeem};

#[tokio::test]
async fn an_approved_login_comes_back_with_code_state_and_iss() {
    let authority = AuthorizationServer::start().client(app()).await;
    let back = approve(&authority, &[]).await;
    assert!(back.has("code"));
    assert_eq!(back.value("state").unwrap(), Some("xyz"));
    assert_eq!(back.value("iss").unwrap(), Some(authority.issuer()));
}

#[tokio::test]
async fn a_denied_login_comes_back_with_an_error_and_iss() {
    let authority = AuthorizationServer::start().client(app()).await;
    let back = UserAgent::Denies.decide(&page(&authority, &[])).await.unwrap();
    let iss = authority.issuer().replace(':', "%3A").replace('/', "%2F");
    let description = "error_description=the+user+said+no";
    assert_eq!(back, format!("{BACK}?error=access_denied&{description}&state=xyz&iss={iss}"));
}

#[tokio::test]
async fn the_server_can_decide_without_a_page() {
    let start = || AuthorizationServer::start().client(app());
    for (consent, expected) in
        [(LoginConsent::Approve, "code="), (LoginConsent::Deny, "error=access_denied")]
    {
        let authority = start().consent(consent).await;
        let answer = get(&page(&authority, &[])).await;
        assert_eq!(answer.status, 303);
        assert!(answer.header("location").unwrap().contains(expected));
    }
}

#[tokio::test]
async fn the_page_names_the_client_the_scopes_and_where_the_browser_goes() {
    let authority = AuthorizationServer::start().client(app()).user("ann & bob").await;
    let answer = get(&page(&authority, &[("scope", "mcp files")])).await;
    assert_eq!(answer.status, 200);
    for part in ["app wants to act for ann &amp; bob", "mcp files", "<strong>127.0.0.1</strong>"] {
        assert!(answer.text.contains(part), "{part}");
    }
    let warning = "Any program on your machine";
    assert!(answer.text.contains(warning));
    let web = app().redirect_uri("https://app.example/callback");
    let authority = AuthorizationServer::start().client(web).await;
    assert!(!get(&page(&authority, &[])).await.text.contains(warning));
}

#[tokio::test]
async fn an_unknown_client_or_redirect_gets_an_error_and_no_redirect() {
    let authority = AuthorizationServer::start().client(app()).await;
    for (changes, expected) in [
        ([("client_id", "other")], (401, "invalid_client")),
        ([("client_id", "")], (400, "invalid_request")),
        ([("redirect_uri", "https://attacker.example/")], (400, "invalid_request")),
        ([("redirect_uri", "http://127.0.0.1:4000/other")], (400, "invalid_request")),
        ([("redirect_uri", "")], (400, "invalid_request")),
    ] {
        let answer = get(&page(&authority, &changes)).await;
        assert_eq!(answer.error(), expected, "{changes:?}");
        assert_eq!(answer.header("location"), None);
    }
}

#[tokio::test]
async fn a_native_client_may_return_to_another_port_of_this_machine() {
    let authority = AuthorizationServer::start().client(app()).await;
    let page = page(&authority, &[("redirect_uri", "http://127.0.0.1:4001/callback")]);
    let back = UserAgent::Approves.decide(&page).await.unwrap();
    assert!(back.starts_with("http://127.0.0.1:4001/callback?code="), "{back}");
}

#[tokio::test]
async fn a_wrong_request_of_a_known_client_goes_back_as_an_error() {
    let authority =
        AuthorizationServer::start().client(app()).scopes(["mcp"]).resource(RESOURCE).await;
    for (changes, error) in [
        ([("response_type", "token")], "unsupported_response_type"),
        ([("code_challenge_method", "plain")], "invalid_request"),
        ([("code_challenge_method", "")], "invalid_request"),
        ([("code_challenge", "")], "invalid_request"),
        ([("code_challenge", "short")], "invalid_request"),
        ([("scope", "admin")], "invalid_scope"),
        ([("resource", "https://another.example/mcp")], "invalid_target"),
        ([("resource", "")], "invalid_target"),
    ] {
        let back = approve(&authority, &changes).await;
        assert_eq!(back.value("error").unwrap(), Some(error), "{changes:?}");
        assert_eq!(back.value("state").unwrap(), Some("xyz"));
        assert!(!back.has("code"));
    }
}

#[tokio::test]
async fn a_parameter_without_a_value_counts_as_absent() {
    let authority = AuthorizationServer::start().client(app()).await;
    let page = format!("{}&resource=", page(&authority, &[("resource", "")]));
    let back = UserAgent::Approves.decide(&page).await.unwrap();
    assert!(back.contains("error=invalid_target"), "{back}");
}

#[tokio::test]
async fn a_client_that_must_not_use_codes_cannot_log_in() {
    let client = app().grants(["client_credentials"]);
    let authority = AuthorizationServer::start().client(client).await;
    let back = approve(&authority, &[]).await;
    assert_eq!(back.value("error").unwrap(), Some("unauthorized_client"));
}

#[tokio::test]
async fn an_endpoint_has_one_method() {
    let authority = AuthorizationServer::start().client(app()).await;
    assert_eq!(get(&authority.url(OAuthEndpoint::Token)).await.status, 404);
    assert_eq!(post(&page(&authority, &[]), &[], &[]).await.status, 404);
    assert_eq!(post(&authority.url(OAuthEndpoint::Metadata), &[], &[]).await.status, 404);
}

#[tokio::test]
async fn a_parameter_that_stands_twice_is_refused() {
    let authority = AuthorizationServer::start().client(app()).await;
    let answer = get(&format!("{}&client_id=app", page(&authority, &[]))).await;
    assert_eq!(answer.error(), (400, "invalid_request"));
}

/// A client with a type of its own for pages, from which the type of the opener follows.
async fn open_with<F, R>(open: F, page: Url) -> R::Output
where
    F: Fn(Url) -> R + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    open(page).await
}

#[tokio::test]
async fn the_opener_of_pages_goes_back_to_the_client() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let redirect = format!("http://127.0.0.1:{port}/callback");
    let authority = AuthorizationServer::start().client(app().redirect_uri(&redirect)).await;
    let page = page(&authority, &[("redirect_uri", &redirect)]);
    let client = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let length = stream.read(&mut head).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        String::from_utf8(head[..length].to_vec()).unwrap()
    };
    let url = Url::parse(&page).unwrap();
    let (opened, head) = tokio::join!(open_with(authority.approve(), url), client);
    opened.unwrap();
    assert!(head.starts_with("GET /callback?code="), "{head}");
    assert!(head.to_ascii_lowercase().contains(&format!("host: 127.0.0.1:{port}")), "{head}");
    let open = authority.deny();
    drop(listener);
    assert!(open(page).await.is_err(), "the client does not listen any more");
}

#[tokio::test]
async fn a_page_can_be_answered_once_and_not_too_late() {
    let authority = AuthorizationServer::start().client(app()).await;
    let ticket = |text: &str| {
        let (_, rest) = text.split_once("name=ticket value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let url = authority.url(OAuthEndpoint::Consent);
    let first = ticket(&get(&page(&authority, &[])).await.text);
    let decision = [("ticket", first.as_str()), ("decision", "approve")];
    assert_eq!(post(&url, &decision, &[]).await.status, 303);
    assert_eq!(post(&url, &decision, &[]).await.error(), (400, "invalid_request"));

    let late = ticket(&get(&page(&authority, &[])).await.text);
    authority.advance(Duration::from_secs(601));
    let decision = [("ticket", late.as_str()), ("decision", "approve")];
    assert_eq!(post(&url, &decision, &[]).await.error(), (400, "invalid_request"));
}

#[tokio::test]
async fn another_user_can_sign_in() {
    let authority = AuthorizationServer::start().client(app()).await;
    for user in ["ann", "bob"] {
        authority.sign_in(user);
        let tokens = log_in(&authority, &[]).await;
        let claims = claims(&authority, tokens.text_of("access_token")).await;
        assert_eq!(claims["sub"], user);
    }
}

#[tokio::test]
async fn without_required_resource_a_token_is_for_the_first_resource() {
    let authority = AuthorizationServer::start()
        .client(app())
        .resource(RESOURCE)
        .without_required_resource()
        .await;
    let back = approve(&authority, &[("resource", "")]).await;
    let code = back.value("code").unwrap().unwrap();
    let tokens = redeem(&authority, code, &[("resource", "")]).await;
    let claims = claims(&authority, tokens.text_of("access_token")).await;
    assert_eq!(claims["aud"][0], RESOURCE);
}
