//! How the client logs in, in each scenario of authorization, and which logins must fail.

use std::env;
use std::error::Error;

use bowline::auth::{
    Algorithm, Browser, Enterprise, IdentityProvider, Issuer, Machine, Secret, SigningKey, Url,
    Workload,
};
use bowline::client::{self, ClientBuilder, HttpServer};
use bowline_testing::oauth::UserAgent;
use serde::Deserialize;

/// The client id that the suite expects where the authorization server supports metadata documents.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The scenarios in which the client must refuse to go on, and the part of its error that says why.
const REFUSALS: &[(&str, &str)] = &[
    ("auth/resource-mismatch", "the document is about `https://evil.example.com/mcp`"),
    ("auth/metadata-issuer-mismatch", "names another `issuer`"),
    ("auth/iss-supported-missing", "the answer does not name its issuer"),
    ("auth/iss-wrong-issuer", "the answer came from another authorization server"),
    ("auth/iss-unexpected", "the answer came from another authorization server"),
    ("auth/iss-normalized", "the answer came from another authorization server"),
    ("auth/scope-retry-limit", "the token does not have the scopes `mcp:admin`"),
];

/// The parameters of a scenario.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameters {
    client_id: String,
    client_secret: String,
    issuer: String,
    private_key_pem: String,
    valid_jwt: String,
    idp_client_id: String,
    idp_id_token: String,
    idp_issuer: String,
    idp_token_endpoint: String,
}

/// Logs in as the scenario wants.
pub(crate) fn authorized(
    client: ClientBuilder<HttpServer>,
    scenario: &str,
) -> Result<ClientBuilder<HttpServer>, Box<dyn Error>> {
    let given: Parameters = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Parameters::default(),
    };
    let issuer = Issuer::first_seen();
    Ok(match scenario {
        "auth/client-credentials-basic" => {
            client.auth(Machine::secret(issuer, given.client_id, given.client_secret))
        }
        "auth/client-credentials-jwt" => {
            let key = SigningKey::pem(&given.private_key_pem, Algorithm::Es256)?;
            client.auth(Machine::key(issuer, given.client_id, key))
        }
        "auth/wif-jwt-bearer" => {
            let jwt = Secret::new(given.valid_jwt);
            let token = move || std::future::ready(Ok(jwt.clone()));
            client.auth(Workload::new(issuer, given.client_id, token))
        }
        "auth/enterprise-managed-authorization" => client.auth(enterprise(given)?),
        "auth/pre-registration" => {
            let (issuer, id, secret) = (given.issuer, given.client_id, given.client_secret);
            client.auth(browser().client_with_secret(issuer, id, secret))
        }
        // There the authorization server also registers clients, and the suite judges only that.
        "auth/offline-access-scope" => client.auth(browser()),
        _ => client.auth(browser().metadata_document(DOCUMENT)),
    })
}

/// The user approves every page at once.
fn browser() -> Browser {
    let open = |page| async move { UserAgent::Approves.open(&format!("{page}")).await };
    Browser::new("everything-client").open_with(open)
}

fn enterprise(given: Parameters) -> Result<Enterprise, Box<dyn Error>> {
    let provider = IdentityProvider::new(given.idp_issuer, given.idp_client_id)
        .token_endpoint(Url::parse(&given.idp_token_endpoint)?);
    let login = Enterprise::new(provider, given.idp_id_token);
    Ok(login.client(Issuer::first_seen(), given.client_id, given.client_secret))
}

/// Whether the scenario ended as it must: where the client must refuse to go on, this requires that
/// very error.
pub(crate) fn judged(
    scenario: &str,
    done: Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let Some((_, expected)) = REFUSALS.iter().find(|(name, _)| *name == scenario) else {
        return done;
    };
    let Err(error) = done else { return Err("the client must refuse to go on".into()) };
    let refusal = error.downcast_ref::<client::Error>();
    match refusal.is_some_and(|refusal| refusal.to_string().contains(expected)) {
        true => Ok(()),
        false => Err(error),
    }
}
