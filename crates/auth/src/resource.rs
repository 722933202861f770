//! The resource server: verifies the access token of every request.
//!
//! [`Admission`] decides about a request by its head alone, before its body is read. It takes the
//! token out of the `Authorization` header, gives it to a [`Verify`], checks the proof of possession
//! if the token is bound to a key, and compares scopes. A refused caller gets a [`Rejection`]: the
//! status and the exact challenge.
//!
//! * [`admit`] — the decision;
//! * [`verify`] — the trait that verifies tokens, and a function as one;
//! * [`policy`] — which scopes a caller needs, and which scopes include which;
//! * [`jwt`] — tokens that the authorization server signed;
//! * [`jwks`] — its keys, fetched and cached;
//! * [`introspect`] — tokens that only the authorization server understands;
//! * [`questions`] — how many questions it gets at a time; [`outage`] — pauses while it does not answer;
//! * [`fixed`] — tokens written in the program, for development;
//! * [`proof`] — proof of possession (DPoP);
//! * [`replay`], [`nonce`] — what keeps a proof from being used twice, or kept for later;
//! * [`document`] — the metadata document of the resource.

pub mod admit;
mod cache;
mod discover;
pub mod document;
mod expected;
mod failures;
pub mod fixed;
pub mod introspect;
pub mod jwks;
pub mod jwt;
pub mod nonce;
pub mod outage;
pub mod policy;
mod presented;
pub mod proof;
pub mod questions;
pub mod replay;
pub mod verify;

pub use self::admit::{Admission, AdmittedCaller, Rejection};
pub use self::fixed::FixedTokens;
pub use self::introspect::Introspection;
pub use self::jwt::Jwt;
pub use self::verify::{Denied, Presented, Verified, Verify, VerifyContext, verify_fn};
