//! The keys that sign tokens, and the key set that publishes them.

use std::sync::{Arc, Mutex};

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::sign::SigningKey;
use bowline_proto::sync::lock;

use super::random::random_text;

/// The keys, of which the last signs. All are published.
pub(super) struct KeyRing(Mutex<Vec<PublishedKey>>);

#[derive(Clone)]
struct PublishedKey {
    id: String,
    key: Arc<SigningKey>,
}

impl KeyRing {
    pub(super) fn new(first: Option<SigningKey>) -> Self {
        let ring = Self(Mutex::default());
        ring.rotate(first.unwrap_or_else(new_key));
        ring
    }

    /// Signs with this key from now on. Earlier keys stay published.
    pub(super) fn rotate(&self, key: SigningKey) {
        let id = random_text();
        let key = Arc::new(key.with_id(id.clone()));
        lock(&self.0).push(PublishedKey { id, key });
    }

    /// Publishes the current key only.
    pub(super) fn retire(&self) {
        let mut keys = lock(&self.0);
        let earlier = keys.len() - 1;
        keys.drain(..earlier);
    }

    /// The key that signs.
    pub(super) fn current(&self) -> Arc<SigningKey> {
        let keys = lock(&self.0);
        keys.last().expect("a ring has a key").key.clone()
    }

    /// The key set as JSON.
    pub(super) fn document(&self) -> String {
        let keys: Vec<String> = lock(&self.0).iter().map(PublishedKey::to_json).collect();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }

    /// The key set, to verify tokens of this server with.
    pub(super) fn set(&self) -> JwkSet {
        JwkSet::parse(&self.document()).expect("the document is a key set")
    }

    /// The names of the algorithms of all keys, without repetition.
    pub(super) fn algorithms(&self) -> Vec<&'static str> {
        let mut names: Vec<_> =
            lock(&self.0).iter().map(|known| known.key.algorithm().name()).collect();
        names.dedup();
        names
    }
}

impl PublishedKey {
    fn to_json(&self) -> String {
        let (key, algorithm) = (self.key.public().to_json(), self.key.algorithm().name());
        let members = key.trim_start_matches('{');
        format!(r#"{{"kid":"{}","alg":"{algorithm}","use":"sig",{members}"#, self.id)
    }
}

/// A new key for ES256.
///
/// # Panics
///
/// If the system gives no randomness.
pub(super) fn new_key() -> SigningKey {
    SigningKey::generate().expect("the system gives randomness").0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_keys_stay_published_until_they_are_retired() {
        let ring = KeyRing::new(None);
        ring.rotate(new_key());
        assert_eq!((ring.set().len(), ring.algorithms()), (2, vec!["ES256"]));
        ring.retire();
        assert_eq!(ring.set().len(), 1);
        let set = ring.set();
        let mut keys = set.candidates(None, ring.current().algorithm());
        assert_eq!(keys.next().unwrap().key(), ring.current().public());
    }
}
