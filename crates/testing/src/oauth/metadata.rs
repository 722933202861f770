//! The documents in which the server describes itself, and its key set.

use bowline_auth::jose::jws::Algorithm;
use bowline_auth::metadata::server::{OAUTH, OPENID, ServerMetadata};
use bowline_auth::url::Url;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde::Serialize;

use super::authority::Authority;
use super::fault::Fault;
use super::grant_type::GrantType;
use super::oauth_answer::OAuthAnswer;
use super::options::{DpopPolicy, MetadataPlace, Options};

/// What OpenID Connect Discovery demands beside the members of RFC 8414.
#[derive(Serialize)]
struct MetadataDocument {
    #[serde(flatten)]
    metadata: ServerMetadata,
    subject_types_supported: [&'static str; 1],
    id_token_signing_alg_values_supported: Vec<&'static str>,
}

/// The paths at which the metadata is published.
pub(super) fn paths(options: &Options) -> Vec<String> {
    let path = options.path.trim_end_matches('/');
    let place = |place: &MetadataPlace| match place {
        MetadataPlace::OAuth => format!("{OAUTH}{path}"),
        MetadataPlace::OpenIdInserted => format!("{OPENID}{path}"),
        MetadataPlace::OpenIdAppended => format!("{path}{OPENID}"),
    };
    options.metadata.iter().map(place).collect()
}

pub(super) fn answer(authority: &Authority) -> OAuthAnswer {
    let document = MetadataDocument {
        metadata: metadata(authority),
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: authority.keys.algorithms(),
    };
    OAuthAnswer::json(StatusCode::OK, &document)
}

/// The key set.
pub(super) fn jwks(authority: &Authority) -> OAuthAnswer {
    let answer = OAuthAnswer::json_text(authority.keys.document());
    answer.with(CACHE_CONTROL, HeaderValue::from_static("max-age=300"))
}

fn metadata(authority: &Authority) -> ServerMetadata {
    let options = &authority.options;
    let endpoint = |name: &str| Some(url(&authority.endpoint(name)));
    let texts = |list: &[&str]| Some(list.iter().map(|&text| text.to_owned()).collect());
    let algorithms: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
    let methods: Vec<&str> = options.methods.iter().map(|method| method.name()).collect();
    let signs = methods.contains(&"private_key_jwt");
    let grants: Vec<&str> = GrantType::ALL.iter().map(|grant| grant.name()).collect();

    let mut metadata = ServerMetadata::new(issuer(authority));
    metadata.authorization_endpoint = endpoint("authorize");
    metadata.token_endpoint = endpoint("token");
    metadata.registration_endpoint = endpoint("register").filter(|_| options.has_registration);
    metadata.revocation_endpoint = endpoint("revoke");
    metadata.introspection_endpoint = endpoint("introspect");
    metadata.jwks_uri = endpoint("jwks");
    metadata.scopes_supported = Some(authority.scopes()).filter(|scopes| !scopes.is_empty());
    metadata.response_types_supported = texts(&["code"]);
    metadata.grant_types_supported = texts(&grants);
    metadata.token_endpoint_auth_methods_supported = texts(&methods);
    metadata.token_endpoint_auth_signing_alg_values_supported =
        texts(&algorithms).filter(|_| signs);
    metadata.code_challenge_methods_supported = challenge_methods(authority);
    metadata.authorization_response_iss_parameter_supported = announces_iss(authority);
    metadata.client_id_metadata_document_supported = Some(options.has_client_documents);
    metadata.authorization_grant_profiles_supported = (!options.trusted.is_empty())
        .then(|| vec!["urn:ietf:params:oauth:grant-profile:id-jag".to_owned()]);
    metadata.dpop_signing_alg_values_supported =
        texts(&algorithms).filter(|_| options.dpop != DpopPolicy::Ignored);
    metadata
}

fn issuer(authority: &Authority) -> String {
    match authority.acts(&Fault::MetadataIssuerMismatch) {
        true => "https://attacker.example".to_owned(),
        false => authority.issuer.clone(),
    }
}

fn challenge_methods(authority: &Authority) -> Option<Vec<String>> {
    if authority.acts(&Fault::NoS256) {
        return None;
    }
    let method = if authority.acts(&Fault::PlainOnly) { "plain" } else { "S256" };
    Some(vec![method.to_owned()])
}

fn announces_iss(authority: &Authority) -> Option<bool> {
    let is_silent = authority.acts(&Fault::UnadvertisedIss);
    (authority.options.sends_iss && !is_silent).then_some(true)
}

fn url(text: &str) -> Url {
    Url::parse(text).expect("an address of this server is a URL")
}
