//! Protected resource metadata (RFC 9728): which authorization servers issue tokens for a resource.

use bowline_types::read::read;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, misread};
use crate::url::Url;

/// The most bytes of a document.
pub const MOST_DOCUMENT: usize = 64 * 1024;
/// The most authorization servers of a resource.
pub const MOST_SERVERS: usize = 20;

/// The place of the document below the origin. The path of the resource follows.
pub const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The document of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The resource, as clients must name it to the authorization server.
    pub resource: String,
    /// The issuers of the authorization servers that the resource accepts tokens of.
    #[serde(default)]
    pub authorization_servers: Vec<String>,
    /// The scopes that a client may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Vec<String>>,
    /// How a token may be sent. MCP permits the header only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer_methods_supported: Option<Vec<String>>,
    /// The name of the resource, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// The documentation of the resource, for developers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_documentation: Option<String>,
    /// The algorithms that a proof of possession may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether every token must be bound to a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_bound_access_tokens_required: Option<bool>,
}

impl ResourceMetadata {
    /// A document with what is required.
    pub fn new(resource: impl Into<String>, servers: impl IntoIterator<Item = String>) -> Self {
        Self {
            resource: resource.into(),
            authorization_servers: servers.into_iter().collect(),
            scopes_supported: None,
            bearer_methods_supported: None,
            resource_name: None,
            resource_documentation: None,
            dpop_signing_alg_values_supported: None,
            dpop_bound_access_tokens_required: None,
        }
    }

    /// Reads a document about the resource at a URL.
    ///
    /// # Errors
    ///
    /// If it is malformed, describes another resource, or names no authorization server.
    pub fn parse(text: &str, used: &Url) -> Result<Self, Error> {
        if text.len() > MOST_DOCUMENT {
            return Err(Error::too_large("the document of the resource", MOST_DOCUMENT, "bytes"));
        }
        let document: Self = read(text)
            .map_err(|error| misread(Kind::Metadata, "the document of the resource", &error))?;
        let resource = Url::parse(&document.resource)?;
        if !resource.covers(used) {
            let text =
                format!("the document is about `{resource}`, not about {:?}", used.canonical());
            return Err(Error::new(Kind::Metadata, text));
        }
        if document.authorization_servers.is_empty() {
            let text = "the document of the resource names no authorization server";
            return Err(Error::new(Kind::Metadata, text));
        }
        if document.authorization_servers.len() > MOST_SERVERS {
            let what = "the document of the resource";
            return Err(Error::too_large(what, MOST_SERVERS, "authorization servers"));
        }
        Ok(document)
    }
}

/// Where the document of a resource may be: below the origin with the path of the resource, then
/// without it.
///
/// # Errors
///
/// If an address becomes too long.
pub fn addresses(resource: &Url) -> Result<Vec<Url>, Error> {
    let root = resource.at_origin(WELL_KNOWN)?;
    let path = resource.path().trim_end_matches('/');
    if path.is_empty() && resource.query().is_none() {
        return Ok(vec![root]);
    }
    let query = resource.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(vec![resource.at_origin(&format!("{WELL_KNOWN}{path}{query}"))?, root])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn parse(text: &str) -> Result<ResourceMetadata, Error> {
        ResourceMetadata::parse(text, &url("https://a.example/mcp"))
    }

    #[test]
    fn the_document_is_below_the_origin_with_the_path_first() {
        let places = |text: &str| -> Vec<String> {
            addresses(&url(text)).unwrap().iter().map(ToString::to_string).collect()
        };
        let root = "https://a.example/.well-known/oauth-protected-resource";
        assert_eq!(places("https://a.example"), [root]);
        assert_eq!(places("https://A.example:443/"), [root]);
        assert_eq!(places("https://a.example/public/mcp"), [&format!("{root}/public/mcp"), root]);
        assert_eq!(places("https://a.example?t=1"), [&format!("{root}?t=1"), root]);
        assert_eq!(places("https://a.example/mcp/?t=1"), [&format!("{root}/mcp?t=1"), root]);
    }

    #[test]
    fn a_document_about_another_resource_is_refused() {
        let document = |resource: &str| {
            parse(&format!(
                r#"{{"resource":"{resource}","authorization_servers":["https://as.example"]}}"#
            ))
        };
        for resource in ["https://a.example/mcp", "https://a.example", "https://a.example/mcp/"] {
            assert_eq!(document(resource).unwrap().resource, resource);
        }
        for resource in
            ["https://b.example/mcp", "https://a.example/other", "http://a.example/mcp", "mcp"]
        {
            assert!(document(resource).is_err(), "{resource}");
        }
    }

    #[test]
    fn a_document_names_at_least_one_authorization_server() {
        for text in [
            r#"{"resource":"https://a.example/mcp"}"#,
            r#"{"resource":"https://a.example/mcp","authorization_servers":[]}"#,
            r#"{"authorization_servers":["https://as.example"]}"#,
            r#"["https://a.example/mcp"]"#,
            r#"{"resource":"https://a.example/mcp","resource":"https://a.example/mcp","authorization_servers":["https://as.example"]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let many = vec!["https://as.example".to_owned(); MOST_SERVERS + 1];
        let document = ResourceMetadata::new("https://a.example/mcp", many);
        assert!(parse(&serde_json::to_string(&document).unwrap()).unwrap_err().is_too_large());
        assert!(!parse(&" ".repeat(MOST_DOCUMENT)).unwrap_err().is_too_large());
        assert!(parse(&" ".repeat(MOST_DOCUMENT + 1)).unwrap_err().is_too_large());
    }

    #[test]
    fn only_what_is_set_is_written() {
        let servers = ["https://as.example".to_owned()];
        let document = ResourceMetadata::new("https://a.example/mcp", servers);
        let text = r#"{"resource":"https://a.example/mcp","authorization_servers":["https://as.example"]}"#;
        assert_eq!(serde_json::to_string(&document).unwrap(), text);
        assert_eq!(parse(text).unwrap(), document);
    }
}
