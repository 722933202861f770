//! Encrypts the state of a call that the client keeps between rounds (`requestState`).
//!
//! Between the rounds of a call on 2026-07-28 the server stores nothing. The state goes to the client
//! as `requestState` and comes back with the retry. It is sealed with ChaCha20-Poly1305 and bound to
//! the caller, the method, the name and the arguments, so it opens only for the same call of the same
//! caller; and it expires.
//!
//! The text is base64url of: a version byte, four bytes that name the key, a random nonce of twelve
//! bytes, the ciphertext, and its tag of sixteen bytes. The plaintext begins with the time of expiry.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::Request;
use bowline_types::error::ErrorObject;
use bowline_types::time::{millis, since_1970};
use chacha20_poly1305::{ChaCha20Poly1305, Key, Nonce};

mod binding;
mod keys;

pub use binding::Binding;
pub use keys::{StateKeys, StateKeysError};

/// The first byte of everything sealed in this format.
const VERSION: u8 = 1;
const KEY_ID: usize = 4;
const NONCE: usize = 12;
const TAG: usize = 16;
const EXPIRY: usize = 8;
/// The length of the header before the ciphertext.
const HEAD: usize = 1 + KEY_ID + NONCE;

/// The most bytes of state between rounds. Every round sends them to the client and back, and clients
/// may refuse more.
const MOST: usize = 256 * 1024;

/// A key that seals `requestState`: 32 random bytes.
#[derive(Clone)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// A key that only this process knows.
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(key))
    }

    /// A name of the key that reveals nothing about it.
    fn id(&self) -> [u8; KEY_ID] {
        // Sealed states have random nonces; none of them is zero but by a chance of 2⁻⁹⁶.
        let cipher = ChaCha20Poly1305::new(Key::new(self.0), Nonce::new([0; NONCE]));
        let tag = cipher.encrypt(&mut [], Some(b"the name of this key"));
        let [a, b, c, d, ..] = tag;
        [a, b, c, d]
    }

    fn cipher(&self, nonce: [u8; NONCE]) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(Key::new(self.0), Nonce::new(nonce))
    }
}

impl From<[u8; 32]> for StateKey {
    fn from(key: [u8; 32]) -> Self {
        Self(key)
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey")
    }
}

/// Seals and opens `requestState`.
///
/// A server does this by itself. A service that keeps calls between rounds in another way, such as a
/// gateway, seals the names of what it keeps.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use bowline_server::Owner;
/// use bowline_server::seal::{Binding, Sealer, StateKey};
/// use bowline_types::method::Method;
///
/// let sealer = Sealer::new([StateKey::from([7; 32])], Duration::from_secs(60));
/// let call = |owner| Binding::new(owner, Method::ToolsCall, "deploy", b"{}").unwrap();
/// let (ann, bob) = (Owner::known("https://auth.example.com", "ann"), Owner::anonymous());
/// let now = SystemTime::now();
/// let state = sealer.seal(b"call 7", &call(&ann), now).unwrap();
/// assert_eq!(sealer.open(&state, &call(&ann), now).unwrap().plain, b"call 7");
/// assert!(sealer.open(&state, &call(&bob), now).is_err());
/// ```
#[derive(Debug)]
pub struct Sealer {
    keys: StateKeys,
    lifetime: Duration,
}

impl Sealer {
    /// A sealer whose first key seals, and whose keys all open. What it seals opens for as long as
    /// `lifetime`.
    pub fn new(keys: impl Into<StateKeys>, lifetime: Duration) -> Self {
        Self { keys: keys.into(), lifetime }
    }

    /// Seals the state of a call.
    ///
    /// # Errors
    ///
    /// If it is too large, or the operating system gives no randomness.
    pub fn seal(
        &self,
        plain: &[u8],
        binding: &Binding,
        now: SystemTime,
    ) -> Result<String, SealError> {
        if plain.len() > MOST {
            return Err(SealError::TooLarge(plain.len()));
        }
        let keys = self.keys.current();
        let (id, key) = keys.first().ok_or(SealError::NoKey)?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(SealError::NoRandomness)?;
        let expiry = since_1970(now).saturating_add(millis(self.lifetime));
        let mut secret = expiry.to_be_bytes().to_vec();
        secret.extend(plain);
        let tag = key.cipher(nonce).encrypt(&mut secret, Some(&binding.with_head(VERSION, *id)));
        let mut sealed = Vec::with_capacity(HEAD + secret.len() + TAG);
        sealed.push(VERSION);
        sealed.extend(id);
        sealed.extend(nonce);
        sealed.extend(secret);
        sealed.extend(tag);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens what was sealed for the same call.
    ///
    /// # Errors
    ///
    /// If it was forged, changed, sealed for another caller or another call, or has expired. The error
    /// is the same for all of these.
    pub fn open(&self, text: &str, binding: &Binding, now: SystemTime) -> Result<Opened, BadState> {
        // Base64 makes four characters of three bytes.
        if text.len() / 4 > (HEAD + EXPIRY + MOST + TAG).div_ceil(3) {
            return Err(BadState);
        }
        let sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadState)?;
        let (head, rest) = sealed.split_first_chunk::<HEAD>().ok_or(BadState)?;
        let (secret, tag) = rest.split_last_chunk::<TAG>().ok_or(BadState)?;
        let [version, id @ .., _, _, _, _, _, _, _, _, _, _, _, _] = *head;
        let nonce = head.last_chunk::<NONCE>().ok_or(BadState)?;
        let keys = self.keys.current();
        let (_, key) = keys.iter().find(|(known, _)| *known == id).ok_or(BadState)?;
        if version != VERSION {
            return Err(BadState);
        }
        let mut plain = secret.to_vec();
        let bound = binding.with_head(version, id);
        key.cipher(*nonce).decrypt(&mut plain, *tag, Some(&bound)).map_err(|_| BadState)?;
        let (expiry, plain) = plain.split_first_chunk::<EXPIRY>().ok_or(BadState)?;
        let expiry = u64::from_be_bytes(*expiry);
        if since_1970(now) >= expiry {
            return Err(BadState);
        }
        Ok(Opened { plain: plain.to_vec(), seal: Seal { nonce: *nonce, expiry } })
    }
}

/// What was sealed, and its seal.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// What was sealed.
    pub plain: Vec<u8>,
    /// Its seal.
    pub seal: Seal,
}

/// Identifies one sealed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seal {
    nonce: [u8; NONCE],
    /// In milliseconds since 1970.
    expiry: u64,
}

impl Seal {
    /// Whether the state does not open any more.
    pub fn is_expired(self, now: SystemTime) -> bool {
        since_1970(now) >= self.expiry
    }
}

/// An extension of requests with state, by which layers check whether this server sealed it.
pub(crate) struct Opener(pub(crate) Arc<Sealer>);

impl Opener {
    /// The seal of the state of a request; `None` if it has no state that this server sealed for this
    /// call.
    pub(crate) fn seal_of(request: &Request, now: SystemTime) -> Option<Seal> {
        let state = request.parts.input.as_ref()?.state.as_ref()?;
        let Self(sealer) = request.parts.extensions.get()?;
        let opened = sealer.open(state, &Binding::of_request(request)?, now);
        opened.ok().map(|opened| opened.seal)
    }
}

/// State that cannot be opened: forged, expired, or sealed for another call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadState;

impl From<BadState> for ErrorObject {
    /// The same message for every reason, so that an attacker learns nothing by trying.
    fn from(BadState: BadState) -> Self {
        Self::invalid_params(
            "`requestState` is not one that this server gave for this call, or it has expired; \
             call again without it",
        )
    }
}

/// Why state could not be sealed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SealError {
    /// It has this many bytes, which are too many.
    TooLarge(usize),
    /// The sealer has no key.
    NoKey,
    /// The operating system gives no randomness.
    NoRandomness(getrandom::Error),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(size) => {
                write!(f, "{size} bytes of answers are more than the {MOST} that a call may keep")
            }
            Self::NoKey => f.write_str("there is no key to seal the state of a call with"),
            Self::NoRandomness(error) => write!(f, "the system gives no randomness: {error}"),
        }
    }
}

impl std::error::Error for SealError {}

impl fmt::Display for BadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state was not sealed here for this call, or has expired")
    }
}

impl std::error::Error for BadState {}

#[cfg(test)]
mod tests;
