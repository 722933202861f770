//! The client of the last modern request, parsed once as long as it stays the same.

use std::sync::{Arc, Mutex};

use bowline_types::error::ErrorObject;
use bowline_types::meta::key;

use super::modern::read;
use crate::classify::missing;
use crate::members::Members;
use crate::request::ClientProfile;
use crate::sync::lock;

/// The longest description, in bytes, that is remembered. Most have a few hundred bytes.
const MOST: usize = 2048;

/// The client that sent the last modern request on a connection. A client of 2026-07-28 describes
/// itself in every request, usually with the same text. The texts are compared, and parsed only if
/// they differ.
///
/// It is a cache and nothing more: every request still has to describe its client in full, since no
/// request may rely on an earlier one (ST-1, RQM-10).
#[derive(Debug, Default)]
pub struct KnownClient(Mutex<Option<Known>>);

/// A client, with the texts that describe it. One client, because a connection has one in nearly
/// all cases. Requests of two clients behind one proxy replace each other's entry.
#[derive(Debug)]
struct Known {
    info: Option<Box<str>>,
    capabilities: Box<str>,
    client: Arc<ClientProfile>,
}

impl KnownClient {
    /// The client that a request names in its `_meta`.
    ///
    /// # Errors
    ///
    /// If a required key is missing or has the wrong shape.
    pub(crate) fn client(&self, meta: &Members) -> Result<Arc<ClientProfile>, ErrorObject> {
        let info = meta.value(key::CLIENT_INFO);
        let capabilities = meta.value(key::CLIENT_CAPABILITIES);
        // No code that runs under the lock can panic half-way, so a poisoned lock is still valid.
        let mut known = lock(&self.0);
        if let Some(known) = &*known
            && capabilities == Some(&known.capabilities)
            && info == known.info.as_deref()
        {
            return Ok(known.client.clone());
        }
        let client = Arc::new(described(meta)?);
        let length = info.map_or(0, str::len) + capabilities.map_or(0, str::len);
        *known = capabilities.filter(|_| length <= MOST).map(|capabilities| Known {
            info: info.map(Box::from),
            capabilities: capabilities.into(),
            client: client.clone(),
        });
        Ok(client)
    }
}

/// Parses the description of a client. Capabilities are required (RQM-2, RQM-4); the name of the
/// client is not (RQM-6).
fn described(meta: &Members) -> Result<ClientProfile, ErrorObject> {
    let capabilities =
        read(meta, key::CLIENT_CAPABILITIES)?.ok_or_else(|| missing(key::CLIENT_CAPABILITIES))?;
    let info = read(meta, key::CLIENT_INFO)?;
    Ok(ClientProfile { info, capabilities, ..ClientProfile::default() })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn meta(name: &str, capabilities: &str) -> Members {
        let text = format!(
            r#"{{"{}":{{"name":"{name}","version":"1"}},"{}":{capabilities}}}"#,
            key::CLIENT_INFO,
            key::CLIENT_CAPABILITIES
        );
        Members::cut(Bytes::from(text)).unwrap()
    }

    fn name(client: &ClientProfile) -> &str {
        &client.info.as_ref().unwrap().name
    }

    // spec: ST-1, RQM-10
    #[test]
    fn every_request_names_its_own_client() {
        let known = KnownClient::default();
        let ann = known.client(&meta("ann", "{}")).unwrap();
        let again = known.client(&meta("ann", "{}")).unwrap();
        assert!(Arc::ptr_eq(&ann, &again));
        let bob = known.client(&meta("bob", "{}")).unwrap();
        assert_eq!((name(&ann), name(&bob)), ("ann", "bob"));
        let able = known.client(&meta("bob", r#"{"sampling":{}}"#)).unwrap();
        assert!(able.capabilities.sampling.is_some() && bob.capabilities.sampling.is_none());
    }

    #[test]
    fn an_invalid_description_is_refused_every_time() {
        let known = KnownClient::default();
        known.client(&meta("ann", "{}")).unwrap();
        for capabilities in ["[]", "null"] {
            for _ in 0..2 {
                assert!(known.client(&meta("ann", capabilities)).is_err(), "{capabilities}");
            }
        }
    }

    #[test]
    fn long_descriptions_are_not_remembered() {
        let known = KnownClient::default();
        known.client(&meta(&"a".repeat(MOST), "{}")).unwrap();
        assert!(known.0.lock().unwrap().is_none());
    }
}
