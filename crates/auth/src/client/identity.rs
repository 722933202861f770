//! The client as an authorization server knows it, and how it authenticates itself there.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use serde::{Deserialize, Serialize};

use super::discover::{AuthServer, Endpoint};
use super::dpop::Prover;
use super::moment::Moment;
use crate::error::{Error, Kind};
use crate::fetch::FetchRequest;
use crate::form::{self, Form};
use crate::jose::sign::{EmbeddedKey, SigningKey};
use crate::secret::Secret;

/// How long a signed assertion of the client is valid.
const ASSERTION_LIFE: Duration = Duration::from_secs(60);

/// What the client proves its id with.
#[derive(Clone)]
pub(crate) enum Credential {
    /// Nothing: a public client.
    None,
    Secret(Secret<String>),
    Key(Arc<SigningKey>),
}

/// How a client authenticates itself at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AuthMethod {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "private_key_jwt")]
    PrivateKeyJwt,
}

impl AuthMethod {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt];
        all.into_iter().find(|method| method.name() == name)
    }
}

/// The client at one authorization server. Never used at another one.
#[derive(Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) id: String,
    pub(crate) credential: Credential,
    /// The method that was registered, if the registration says.
    pub(crate) method: Option<AuthMethod>,
}

impl ClientIdentity {
    /// A client without a secret.
    pub(crate) fn public(id: &str) -> Self {
        let method = Some(AuthMethod::None);
        Self { id: id.to_owned(), credential: Credential::None, method }
    }

    /// The registered method, or else the first of ours that the server supports.
    pub(crate) fn method(&self, server: &AuthServer) -> Result<AuthMethod, Error> {
        let ours: &[AuthMethod] = match self.credential {
            Credential::None => &[AuthMethod::None],
            Credential::Secret(_) => &[AuthMethod::Basic, AuthMethod::Post, AuthMethod::None],
            Credential::Key(_) => &[AuthMethod::PrivateKeyJwt],
        };
        if let Some(method) = self.method {
            return match ours.contains(&method) {
                true => Ok(method),
                false => Err(unfit(&format!("it registered `{}`", method.name()))),
            };
        }
        let Some(theirs) = &server.metadata().token_endpoint_auth_methods_supported else {
            return Ok(ours[0]);
        };
        let is_theirs = |method: &AuthMethod| theirs.iter().any(|name| name == method.name());
        // A public client has no choice; its server may list only the methods with a secret.
        let found = ours.iter().copied().find(is_theirs);
        match (found, &self.credential) {
            (Some(method), _) => Ok(method),
            (None, Credential::None) => Ok(AuthMethod::None),
            (None, _) => Err(unfit("the authorization server supports none of its methods")),
        }
    }

    /// A request to an endpoint of a server, authenticated, and with a proof if there is a prover.
    pub(crate) fn call(
        &self,
        (server, endpoint): (&AuthServer, Endpoint),
        form: Form,
        prover: Option<&Prover>,
        moment: &Moment,
    ) -> Result<FetchRequest, Error> {
        let url = server.endpoint(endpoint)?;
        let (form, header) = self.authenticate(server, form, moment)?;
        let mut request = FetchRequest::post(url.clone(), &form);
        if let Some(header) = header {
            request = request.with_credential(AUTHORIZATION, &header)?;
        }
        match prover {
            Some(prover) => prover.prove_request(request, moment),
            None => Ok(request),
        }
    }

    fn authenticate(
        &self,
        server: &AuthServer,
        form: Form,
        moment: &Moment,
    ) -> Result<(Form, Option<Secret<String>>), Error> {
        // Some servers read `client_id` even if the client authenticates itself in another way, which
        // RFC 6749 allows (section 3.2.1).
        let form = form.with("client_id", &self.id);
        match (self.method(server)?, &self.credential) {
            (AuthMethod::Basic, Credential::Secret(secret)) => {
                Ok((form, Some(basic(&self.id, secret))))
            }
            (AuthMethod::Post, Credential::Secret(secret)) => {
                Ok((form.with("client_secret", secret.expose()), None))
            }
            (AuthMethod::PrivateKeyJwt, Credential::Key(key)) => {
                let assertion = self.assertion(server, key, moment)?;
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                let form = form.with("client_assertion_type", kind);
                Ok((form.with("client_assertion", assertion.expose()), None))
            }
            _ => Ok((form, None)),
        }
    }

    /// A signed statement of the client about itself, for this server only.
    fn assertion(
        &self,
        server: &AuthServer,
        key: &SigningKey,
        moment: &Moment,
    ) -> Result<Secret<String>, Error> {
        #[derive(Serialize)]
        struct Statement<'a> {
            iss: &'a str,
            sub: &'a str,
            aud: &'a str,
            iat: u64,
            exp: u64,
            jti: &'a str,
        }

        let theirs = &server.metadata().token_endpoint_auth_signing_alg_values_supported;
        let name = key.algorithm().name();
        if theirs.as_ref().is_some_and(|names| !names.iter().any(|it| it == name)) {
            return Err(unfit(&format!("the authorization server does not accept {name}")));
        }
        let iat = moment.now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (aud, jti) = (server.issuer(), moment.draw("client_assertion"));
        let exp = (iat + ASSERTION_LIFE).as_secs();
        let (iss, sub, jti) = (&self.id, &self.id, jti.expose());
        let statement = Statement { iss, sub, aud, iat: iat.as_secs(), exp, jti };
        key.sign("JWT", EmbeddedKey::Absent, &statement)
    }

    /// What an answer of the server must not be quoted with.
    pub(crate) fn secret(&self) -> Option<&Secret<String>> {
        match &self.credential {
            Credential::Secret(secret) => Some(secret),
            Credential::None | Credential::Key(_) => None,
        }
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientIdentity({:?}, {:?})", self.id, self.method)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Secret(_) => "Secret(…)",
            Self::Key(_) => "Key(…)",
        })
    }
}

/// HTTP basic authentication of a client. OAuth encodes both parts as in a form first.
fn basic(id: &str, secret: &Secret<String>) -> Secret<String> {
    let mut pair = String::new();
    form::encode(id, &mut pair);
    pair.push(':');
    form::encode(secret.expose(), &mut pair);
    let pair = Secret::new(pair);
    Secret::new(format!("Basic {}", STANDARD.encode(pair.expose())))
}

fn unfit(reason: &str) -> Error {
    let text = format!("the client cannot authenticate itself: {reason}");
    Error::new(Kind::Login, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(members: &str) -> AuthServer {
        let text = format!(r#"{{"issuer":"https://as.example"{members}}}"#);
        AuthServer::parse(&text, "https://as.example").unwrap()
    }

    fn client(secret: Option<&str>, method: Option<AuthMethod>) -> ClientIdentity {
        let credential =
            secret.map_or(Credential::None, |secret| Credential::Secret(Secret::from(secret)));
        ClientIdentity { id: "id".into(), credential, method }
    }

    #[test]
    fn the_method_is_the_registered_one_else_the_first_that_the_server_lists() {
        let list = r#","token_endpoint_auth_methods_supported":["client_secret_post","none"]"#;
        for (secret, method, members, expected) in [
            (Some("s"), Some(AuthMethod::Basic), list, Some("client_secret_basic")),
            (Some("s"), None, list, Some("client_secret_post")),
            (Some("s"), None, "", Some("client_secret_basic")),
            (None, None, list, Some("none")),
            (None, None, "", Some("none")),
            (None, Some(AuthMethod::Basic), list, None),
            (Some("s"), None, r#","token_endpoint_auth_methods_supported":["tls"]"#, None),
            (None, None, r#","token_endpoint_auth_methods_supported":["tls"]"#, Some("none")),
        ] {
            let found = client(secret, method).method(&server(members)).ok();
            assert_eq!(found.map(AuthMethod::name), expected, "{secret:?} {method:?} {members}");
        }
    }

    #[test]
    fn the_form_names_the_client_whatever_its_method_is() {
        let server = server("");
        let moment = Moment::of_system().unwrap();
        for (secret, method) in [
            (Some("s"), AuthMethod::Basic),
            (Some("s"), AuthMethod::Post),
            (Some("s"), AuthMethod::None),
            (None, AuthMethod::None),
        ] {
            let client = client(secret, Some(method));
            let (form, _) = client.authenticate(&server, Form::new(), &moment).unwrap();
            assert_eq!(form.value("client_id").unwrap(), Some("id"), "{method:?}");
        }
        let key = Credential::Key(Arc::new(SigningKey::generate().unwrap().0));
        let client = ClientIdentity { credential: key, ..client(None, None) };
        let (form, _) = client.authenticate(&server, Form::new(), &moment).unwrap();
        assert_eq!(form.value("client_id").unwrap(), Some("id"));
    }

    #[test]
    fn id_and_secret_are_encoded_before_basic_authentication() {
        let header = basic("a b", &Secret::from("p:ü"));
        let pair = STANDARD.decode(header.expose().strip_prefix("Basic ").unwrap()).unwrap();
        assert_eq!(String::from_utf8(pair).unwrap(), "a+b:p%3A%C3%BC");
    }

    #[test]
    fn debug_shows_no_secret() {
        assert!(!format!("{:?}", client(Some("canary"), None)).contains("canary"));
    }
}
