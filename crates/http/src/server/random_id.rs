//! Ids that cannot be guessed, of sessions and of endpoints that share a store.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A new id: 128 random bits. `None` if the system has no randomness.
///
/// Random, because the id of an anonymous session is its only protection (SESS-2, SESS-14), and in
/// letters that a header may hold (SESS-3).
pub(super) fn new_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// Whether [`new_id`] can have made this id. Only such ids become part of a key in the store. A
/// client chooses the text of its header, so anything else could name keys of other things.
pub(super) fn is_id(id: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    id.len() == 22 && id.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_we_can_have_made_are_ids() {
        assert!(is_id("AZaz09-_AZaz09-_AZaz09"));
        assert!(new_id().is_some_and(|id| is_id(&id)));
        for id in ["", "a", "AZaz09-_AZaz09-_AZaz0/", "AZaz09-_AZaz09-_AZaz0é", &"a".repeat(23)] {
            assert!(!is_id(id), "{id}");
        }
    }
}
