//! The authorization endpoint: checks what a client asks for, and lets the user decide.

use std::fmt::Write as _;
use std::time::Duration;

use bowline_auth::form::Form;
use bowline_auth::url::Url;
use bowline_proto::sync::lock;
use http::StatusCode;

use super::authority::Authority;
use super::fault::Fault;
use super::grant_store::{Grant, Login};
use super::grant_type::GrantType;
use super::known_client;
use super::oauth_answer::{OAuthAnswer, Refusal};
use super::oauth_request::OAuthRequest;
use super::options::LoginConsent;
use super::random::random_text;
use super::registered_client::RegisteredClient;

/// How long a page waits for the user, and how long a code is valid.
const LONGEST_DECISION: Duration = Duration::from_secs(600);
const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// Answers a browser that a client sent here.
///
/// A refusal that this returns must not redirect: the client or its redirect is not trusted.
pub(super) async fn answer(
    authority: &Authority,
    request: &OAuthRequest,
) -> Result<OAuthAnswer, Refusal> {
    let client = known_client::find(authority, request.required("client_id")?).await?;
    let redirect_uri = request.required("redirect_uri")?;
    if !client.may_return_to(redirect_uri) {
        return Err(Refusal::invalid_request("`redirect_uri` is not registered for the client"));
    }
    let state = request.value("state")?;
    let login = match login(authority, request, &client, redirect_uri) {
        Ok(login) => login,
        Err(refusal) => return Ok(refuse(authority, redirect_uri, state, &refusal)),
    };
    Ok(match authority.options.consent {
        LoginConsent::Ask => ask(authority, &client, login),
        LoginConsent::Approve => approve(authority, login),
        LoginConsent::Deny => deny(authority, &login),
    })
}

/// Answers a browser whose user has decided on the page.
pub(super) fn decide(
    authority: &Authority,
    request: &OAuthRequest,
) -> Result<OAuthAnswer, Refusal> {
    let ticket = request.required("ticket")?;
    let login = authority.grants.lock().tickets.remove(ticket);
    let login = login.filter(|login| authority.clock.now() < login.expires);
    let login = login.ok_or_else(|| Refusal::invalid_request("the page is too old"))?;
    match request.required("decision")? {
        "approve" => Ok(approve(authority, login)),
        "deny" => Ok(deny(authority, &login)),
        _ => Err(Refusal::invalid_request("the decision is unknown")),
    }
}

/// Checks what the client asks for.
fn login(
    authority: &Authority,
    request: &OAuthRequest,
    client: &RegisteredClient,
    redirect_uri: &str,
) -> Result<Login, Refusal> {
    if request.required("response_type")? != "code" {
        return Err(Refusal::new("unsupported_response_type", "only `code` is supported"));
    }
    if !client.may_use(GrantType::Code.name()) {
        return Err(Refusal::new("unauthorized_client", "the client must not use codes"));
    }
    if request.value("code_challenge_method")? != Some("S256") {
        return Err(Refusal::invalid_request("`code_challenge_method` must be `S256`"));
    }
    let challenge = request.required("code_challenge")?;
    if challenge.len() != 43 {
        return Err(Refusal::invalid_request("`code_challenge` is no SHA-256 digest"));
    }
    let grant = Grant {
        client: client.id.clone(),
        subject: lock(&authority.user).clone(),
        scopes: authority.granted(request.value("scope")?)?,
        resource: authority.resource(request.value("resource")?)?,
        nonce: request.value("nonce")?.map(str::to_owned),
        key: request.value("dpop_jkt")?.map(str::to_owned),
        family: authority.grants.lock().new_family(),
    };
    Ok(Login {
        grant,
        redirect_uri: redirect_uri.to_owned(),
        state: request.value("state")?.map(str::to_owned),
        challenge: challenge.to_owned(),
        expires: authority.clock.now() + LONGEST_DECISION,
        is_spent: false,
    })
}

/// The page on which the user decides.
fn ask(authority: &Authority, client: &RegisteredClient, login: Login) -> OAuthAnswer {
    let ticket = random_text();
    let host = Url::parse(&login.redirect_uri).map_or(login.redirect_uri.clone(), |url| url.host());
    let mut page = format!(
        "<!doctype html><title>Sign in</title>\
         <p>{} wants to act for {}.</p><p>Scopes: {}</p>\
         <p>You will return to <strong>{}</strong>.</p>",
        escape(&client.name),
        escape(&login.grant.subject),
        escape(&login.grant.scopes.to_string()),
        escape(&host),
    );
    if client.is_local_only() {
        page.push_str("<p>Any program on your machine can claim to be this client.</p>");
    }
    let _ = write!(
        page,
        "<form method=post action=\"{}\"><input type=hidden name=ticket value=\"{ticket}\">\
         <button name=decision value=approve>Approve</button>\
         <button name=decision value=deny>Deny</button></form>",
        authority.endpoint("consent"),
    );
    authority.grants.lock().tickets.insert(ticket, login);
    OAuthAnswer::page(StatusCode::OK, page)
}

fn approve(authority: &Authority, login: Login) -> OAuthAnswer {
    if let Some(error) = authority.faults.take(|fault| match fault {
        Fault::ErrorResponse(error) => Some(*error),
        _ => None,
    }) {
        let refusal = Refusal::new(error, "a fault");
        return refuse(authority, &login.redirect_uri, login.state.as_deref(), &refusal);
    }
    let code = random_text();
    let (redirect_uri, state) = (login.redirect_uri.clone(), login.state.clone());
    let login = Login { expires: authority.clock.now() + CODE_LIFETIME, ..login };
    authority.grants.lock().codes.insert(code.clone(), login);
    send_back(authority, &redirect_uri, state.as_deref(), Form::new().with("code", &code))
}

fn deny(authority: &Authority, login: &Login) -> OAuthAnswer {
    let refusal = Refusal::new("access_denied", "the user said no");
    refuse(authority, &login.redirect_uri, login.state.as_deref(), &refusal)
}

fn refuse(
    authority: &Authority,
    redirect_uri: &str,
    state: Option<&str>,
    refusal: &Refusal,
) -> OAuthAnswer {
    let form =
        Form::new().with("error", refusal.error).with("error_description", refusal.description);
    let mut answer = send_back(authority, redirect_uri, state, form);
    answer.error = Some(refusal.error);
    answer
}

/// Sends the browser back to the client, with `state` and `iss`.
fn send_back(
    authority: &Authority,
    redirect_uri: &str,
    state: Option<&str>,
    form: Form,
) -> OAuthAnswer {
    let state = match state {
        _ if authority.acts(&Fault::MissingState) => None,
        Some(_) if authority.acts(&Fault::WrongState) => Some("the-state-of-another-login"),
        state => state,
    };
    let form = form.with_optional("state", state).with_optional("iss", iss(authority).as_deref());
    let joint = if redirect_uri.contains('?') { '&' } else { '?' };
    let url = format!("{redirect_uri}{joint}{}", form.encode().expose());
    OAuthAnswer::redirect(StatusCode::SEE_OTHER, &url).no_store()
}

fn iss(authority: &Authority) -> Option<String> {
    if authority.acts(&Fault::WrongIss) {
        return Some("https://attacker.example".to_owned());
    }
    if authority.acts(&Fault::NormalizedIss) {
        return Some(format!("{}/", authority.issuer));
    }
    let is_sent = authority.options.sends_iss && !authority.acts(&Fault::MissingIss);
    is_sent.then(|| authority.issuer.clone())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
