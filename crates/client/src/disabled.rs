//! Methods of the cargo feature `http` while it is off: a program that calls one does not compile,
//! and the compiler's message names the feature.
//!
//! Each method here has the name of a real one and a bound that no type meets. The lifetime makes
//! the bound depend on the caller, because the compiler refuses a false bound without parameters
//! where it is written. The result is an associated type of the same trait, so the calls that
//! follow in a chain cause no errors of their own.

use crate::builder::ClientBuilder;
use crate::client::Client;

/// Met by no type: the feature is off.
#[diagnostic::on_unimplemented(
    message = "a client over HTTP needs the feature `http-client` of `bowline`",
    label = "needs the feature `http-client`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"http-client\"] }}`"
)]
pub trait HttpClientFeature<'f> {
    /// The type that the method returns when the feature is on.
    type Builder;
}

impl Client {
    /// Connects to a server over HTTP. Needs the feature `http-client`, which is off, so a call does
    /// not compile.
    pub fn http<'f>(_url: impl Into<String>) -> <Self as HttpClientFeature<'f>>::Builder
    where
        Self: HttpClientFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}

impl ClientBuilder {
    /// Connects to a server over HTTP. Needs the feature `http-client`, which is off, so a call does
    /// not compile.
    pub fn http<'f>(self, _url: impl Into<String>) -> <Self as HttpClientFeature<'f>>::Builder
    where
        Self: HttpClientFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}
