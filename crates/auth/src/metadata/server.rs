//! Authorization server metadata (RFC 8414, OpenID Connect Discovery): endpoints and abilities.

use bowline_types::read::read;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, misread};
use crate::url::Url;

/// The most bytes of a document.
pub const MOST_DOCUMENT: usize = 256 * 1024;

/// The place of the document by RFC 8414.
pub const OAUTH: &str = "/.well-known/oauth-authorization-server";
/// The place of the document by OpenID Connect Discovery.
pub const OPENID: &str = "/.well-known/openid-configuration";

/// The document of an authorization server: the members that this crate uses.
///
/// A list that is `None` was not in the document. For most lists RFC 8414 then has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// The name of the authorization server: a URL, compared to the letter.
    pub issuer: String,
    /// Where the user's browser begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<Url>,
    /// Where a client exchanges a grant for a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint: Option<Url>,
    /// Where a client registers itself (RFC 7591).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_endpoint: Option<Url>,
    /// Where a client revokes a token (RFC 7009).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<Url>,
    /// Where a resource asks about a token (RFC 7662).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introspection_endpoint: Option<Url>,
    /// Where the keys are that sign tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_uri: Option<Url>,
    /// The scopes that a client may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Vec<String>>,
    /// The kinds of authorization response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_types_supported: Option<Vec<String>>,
    /// The grants that the token endpoint takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_types_supported: Option<Vec<String>>,
    /// How a client may authenticate itself at the token endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The algorithms with which a client may sign for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    /// The methods of PKCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// Whether authorization responses carry `iss` (RFC 9207).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_response_iss_parameter_supported: Option<bool>,
    /// Whether a client id may be the URL of a metadata document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id_metadata_document_supported: Option<bool>,
    /// The profiles of grants that the token endpoint takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_grant_profiles_supported: Option<Vec<String>>,
    /// The algorithms that a proof of possession may use (RFC 9449).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl ServerMetadata {
    /// A document with an issuer alone.
    pub fn new(issuer: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            authorization_endpoint: None,
            token_endpoint: None,
            registration_endpoint: None,
            revocation_endpoint: None,
            introspection_endpoint: None,
            jwks_uri: None,
            scopes_supported: None,
            response_types_supported: None,
            grant_types_supported: None,
            token_endpoint_auth_methods_supported: None,
            token_endpoint_auth_signing_alg_values_supported: None,
            code_challenge_methods_supported: None,
            authorization_response_iss_parameter_supported: None,
            client_id_metadata_document_supported: None,
            authorization_grant_profiles_supported: None,
            dpop_signing_alg_values_supported: None,
        }
    }

    /// Reads the document of an issuer.
    ///
    /// # Errors
    ///
    /// If it is malformed, or its `issuer` differs from the one that was asked for, to the letter.
    pub fn parse(text: &str, issuer: &str) -> Result<Self, Error> {
        let document = Self::read(text)?;
        if document.issuer != issuer {
            let text = "the document of the authorization server names another `issuer`";
            return Err(Error::new(Kind::Metadata, text));
        }
        Ok(document)
    }

    /// Reads a document of the origin of an MCP server (2025-03-26), whose issuer is that origin, with
    /// or without a slash.
    ///
    /// # Errors
    ///
    /// If it is malformed, or its `issuer` is not the origin.
    pub fn parse_of_origin(text: &str, origin: &Url) -> Result<Self, Error> {
        let document = Self::read(text)?;
        let issuer = document.issuer.strip_suffix('/').unwrap_or(&document.issuer);
        if issuer != origin.origin() {
            let text = "the document of the authorization server names another `issuer`";
            return Err(Error::new(Kind::Metadata, text));
        }
        Ok(document)
    }

    fn read(text: &str) -> Result<Self, Error> {
        let what = "the document of the authorization server";
        if text.len() > MOST_DOCUMENT {
            return Err(Error::too_large(what, MOST_DOCUMENT, "bytes"));
        }
        read(text).map_err(|error| misread(Kind::Metadata, what, &error))
    }

    /// What an MCP server of 2025-03-26 without metadata has at its origin.
    ///
    /// # Errors
    ///
    /// Never in practice: the addresses are short.
    pub fn defaults(origin: &Url) -> Result<Self, Error> {
        Ok(Self {
            authorization_endpoint: Some(origin.at_origin("/authorize")?),
            token_endpoint: Some(origin.at_origin("/token")?),
            registration_endpoint: Some(origin.at_origin("/register")?),
            ..Self::new(origin.origin())
        })
    }

    /// Whether PKCE with `S256` is supported, as the document says.
    pub fn supports_s256(&self) -> bool {
        let methods = self.code_challenge_methods_supported.iter().flatten();
        methods.into_iter().any(|method| method == "S256")
    }
}

/// Where the document of an issuer may be, in the order in which to try.
///
/// # Errors
///
/// If an address becomes too long.
pub fn addresses(issuer: &Url) -> Result<Vec<Url>, Error> {
    let path = issuer.path().trim_end_matches('/');
    let places = if path.is_empty() {
        vec![OAUTH.to_owned(), OPENID.to_owned()]
    } else {
        vec![format!("{OAUTH}{path}"), format!("{OPENID}{path}"), format!("{path}{OPENID}")]
    };
    places.iter().map(|place| issuer.at_origin(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn places(issuer: &str) -> Vec<String> {
        addresses(&url(issuer)).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_document_of_an_issuer_with_a_path_has_three_addresses() {
        let expected = [
            "https://a.example/.well-known/oauth-authorization-server/t1",
            "https://a.example/.well-known/openid-configuration/t1",
            "https://a.example/t1/.well-known/openid-configuration",
        ];
        assert_eq!(places("https://a.example/t1"), expected);
        assert_eq!(places("https://a.example/t1/"), expected);
    }

    #[test]
    fn the_document_of_an_issuer_without_a_path_has_two_addresses() {
        let expected = [
            "https://a.example:8443/.well-known/oauth-authorization-server",
            "https://a.example:8443/.well-known/openid-configuration",
        ];
        assert_eq!(places("https://a.example:8443"), expected);
        assert_eq!(places("https://a.example:8443/"), expected);
    }

    #[test]
    fn an_issuer_is_compared_to_the_letter() {
        let parse = |issuer: &str| {
            ServerMetadata::parse(&format!(r#"{{"issuer":"{issuer}"}}"#), "https://a.example")
        };
        assert_eq!(parse("https://a.example").unwrap(), ServerMetadata::new("https://a.example"));
        for other in [
            "https://a.example/",
            "https://A.example",
            "https://a.example:443",
            "https://b.example",
        ] {
            assert!(parse(other).unwrap_err().is_metadata(), "{other}");
        }
    }

    #[test]
    fn the_origin_of_an_mcp_server_of_2025_03_26_has_known_endpoints() {
        let defaults = ServerMetadata::defaults(&url("https://a.example:8443/mcp?x")).unwrap();
        let text = |url: &Option<Url>| url.as_ref().map(ToString::to_string).unwrap();
        assert_eq!(text(&defaults.authorization_endpoint), "https://a.example:8443/authorize");
        assert_eq!(text(&defaults.token_endpoint), "https://a.example:8443/token");
        assert_eq!(text(&defaults.registration_endpoint), "https://a.example:8443/register");
        let parse = |issuer: &str| {
            let text = format!(r#"{{"issuer":"{issuer}"}}"#);
            ServerMetadata::parse_of_origin(&text, &url("https://a.example/mcp"))
        };
        assert!(parse("https://a.example").is_ok() && parse("https://a.example/").is_ok());
        assert!(parse("https://a.example/mcp").is_err() && parse("https://a.example//").is_err());
    }

    #[test]
    fn pkce_is_supported_only_if_the_document_says_so() {
        let parse = |text: &str| ServerMetadata::parse(text, "i").unwrap().supports_s256();
        assert!(parse(r#"{"issuer":"i","code_challenge_methods_supported":["plain","S256"]}"#));
        assert!(!parse(r#"{"issuer":"i","code_challenge_methods_supported":["plain"]}"#));
        assert!(!parse(r#"{"issuer":"i","code_challenge_methods_supported":null}"#));
        assert!(!parse(r#"{"issuer":"i"}"#));
    }

    #[test]
    fn an_endpoint_that_is_no_url_makes_the_document_useless() {
        for endpoint in
            ["javascript:alert(1)", "/token", "https://u@a.example/", "https://a.example/#x"]
        {
            let text = format!(r#"{{"issuer":"i","token_endpoint":"{endpoint}"}}"#);
            let error = ServerMetadata::parse(&text, "i").unwrap_err();
            assert!(error.is_metadata() && error.to_string().contains("token_endpoint"), "{error}");
        }
        let most = " ".repeat(MOST_DOCUMENT);
        assert!(!ServerMetadata::parse(&most, "i").unwrap_err().is_too_large());
        let long = " ".repeat(MOST_DOCUMENT + 1);
        assert!(ServerMetadata::parse(&long, "i").unwrap_err().is_too_large());
    }
}
