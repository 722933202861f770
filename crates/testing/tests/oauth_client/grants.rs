//! Logins of programs: their own credentials, workload identities, enterprise logins.

use std::time::UNIX_EPOCH;

use bowline_auth::client::plan::{Enterprise, IdentityProvider, Machine, Workload};
use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_auth::secret::Secret;
use bowline_testing::oauth::{
    AuthorizationServer, ClientAuthMethod, Fault, OAuthEndpoint, RegisteredClient,
};
use serde_json::json;

use crate::{MCP, bearer, count};

fn api() -> RegisteredClient {
    RegisteredClient::with_secret("api", "s")
}

// spec: OCC-2, OCC-3
#[tokio::test]
async fn a_program_logs_in_with_its_secret_or_its_key() {
    for method in [ClientAuthMethod::SecretBasic, ClientAuthMethod::SecretPost] {
        let server = AuthorizationServer::start().resource(MCP).auth_methods([method]);
        let authority = server.client(api()).await;
        bearer(Machine::secret(authority.issuer(), "api", "s"), &authority).await.unwrap();
        assert!(bearer(Machine::secret(authority.issuer(), "api", "x"), &authority).await.is_err());
    }
    let (key, _) = SigningKey::generate().unwrap();
    let client = RegisteredClient::with_key("api", key.public());
    let authority = AuthorizationServer::start().resource(MCP).client(client).await;
    bearer(Machine::key(authority.issuer(), "api", key), &authority).await.unwrap();
    let (other, _) = SigningKey::generate().unwrap();
    assert!(bearer(Machine::key(authority.issuer(), "api", other), &authority).await.is_err());
    assert_eq!(count(&authority, OAuthEndpoint::Register), 0);
}

#[tokio::test]
async fn a_workload_logs_in_with_the_token_of_its_platform() {
    const PLATFORM: &str = "https://platform.example";
    let (key, _) = SigningKey::generate().unwrap();
    let keys = JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, key.public().to_json())).unwrap();
    let server = AuthorizationServer::start().resource(MCP).trust_keys(PLATFORM, keys);
    let authority = server.client(RegisteredClient::public("pod")).await;
    let exp = authority.now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 60;
    let claims = json!({ "iss": PLATFORM, "sub": "pod-1", "aud": authority.issuer(), "exp": exp });
    let token = key.sign("JWT", EmbeddedKey::Absent, &claims).unwrap();
    let workload = |token: Secret<String>| {
        Workload::new(authority.issuer(), "pod", move || {
            let token = token.clone();
            async move { Ok(token) }
        })
    };
    bearer(workload(token), &authority).await.unwrap();
    assert!(bearer(workload(Secret::from("x.y.z")), &authority).await.is_err());
    assert_eq!(count(&authority, OAuthEndpoint::Token), 2);
}

// spec: EMA-2, EMA-6, EMA-8
#[tokio::test]
async fn an_employee_logs_in_with_the_id_token_of_the_enterprise() {
    let provider = AuthorizationServer::start().client(api()).await;
    let server = AuthorizationServer::start().resource(MCP).scopes(["mcp"]).trust(&provider);
    let authority = server.client(api()).await;
    let enterprise = |id_token: String| {
        let idp = IdentityProvider::new(provider.issuer(), "api").secret("s");
        Enterprise::new(idp, id_token).client(authority.issuer(), "api", "s")
    };
    bearer(enterprise(provider.id_token("api", "ann")), &authority).await.unwrap();
    assert!(bearer(enterprise("x.y.z".into()), &authority).await.is_err());
    provider.inject(Fault::InvalidGrant);
    assert!(bearer(enterprise(provider.id_token("api", "ann")), &authority).await.is_err());
    assert_eq!(count(&authority, OAuthEndpoint::Token), 1);
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 0);
}
