//! The metadata document of this resource (RFC 9728).

use bytes::Bytes;

use super::policy::Policy;
use crate::error::Error;
use crate::jose::jws::Algorithm;
use crate::metadata::resource::{ResourceMetadata, WELL_KNOWN, addresses};
use crate::url::Url;

/// The document, and where clients find it.
#[derive(Clone, Debug)]
pub struct Document {
    address: Url,
    body: Bytes,
}

impl Document {
    /// The document of a resource whose tokens an issuer issues.
    ///
    /// `scopes_supported` lists only the scopes that every caller needs. Those of single tools are
    /// named in challenges, when a caller needs them.
    ///
    /// # Errors
    ///
    /// If the address of the document becomes too long.
    pub(super) fn new(resource: &Url, issuer: &str, policy: &Policy) -> Result<Self, Error> {
        let mut metadata = ResourceMetadata::new(resource.as_str(), [issuer.to_owned()]);
        let scopes: Vec<String> = policy.required().iter().map(str::to_owned).collect();
        metadata.scopes_supported = Some(scopes).filter(|scopes| !scopes.is_empty());
        metadata.bearer_methods_supported = Some(vec!["header".to_owned()]);
        if policy.is_dpop_required() {
            let names = Algorithm::ALL.iter().map(|algorithm| algorithm.name().to_owned());
            metadata.dpop_signing_alg_values_supported = Some(names.collect());
            metadata.dpop_bound_access_tokens_required = Some(true);
        }
        let body = serde_json::to_vec(&metadata).expect("texts can be written as JSON");
        let address = addresses(resource)?.swap_remove(0);
        Ok(Self { address, body: body.into() })
    }

    /// The address that challenges name: below the origin, with the path of the resource.
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// The path of that address.
    pub fn path(&self) -> &str {
        self.address.path()
    }

    /// The path below the origin, without that of the resource. A listener that serves nothing else
    /// answers there too.
    pub fn root_path(&self) -> &'static str {
        WELL_KNOWN
    }

    /// The document in JSON.
    pub fn body(&self) -> Bytes {
        self.body.clone()
    }
}
