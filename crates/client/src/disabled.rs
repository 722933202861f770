//! Methods of cargo features that are off: a program that calls one does not compile, and the
//! compiler's message names the feature.
//!
//! Each method here has the name of a real one and a bound that no type meets. The lifetime makes
//! the bound depend on the caller, because the compiler refuses a false bound without parameters
//! where it is written. The result is an associated type of the same trait, so the calls that
//! follow in a chain cause no errors of their own.

#[cfg(not(feature = "http"))]
use crate::builder::ClientBuilder;
use crate::client::Client;

/// Met by no type: the feature `http` is off.
#[cfg(not(feature = "http"))]
#[diagnostic::on_unimplemented(
    message = "a client over HTTP needs the feature `http-client` of `bowline`",
    label = "needs the feature `http-client`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"http-client\"] }}`"
)]
pub trait HttpClientFeature<'f> {
    /// The type that the method returns when the feature is on.
    type Builder;
}

#[cfg(not(feature = "http"))]
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

#[cfg(not(feature = "http"))]
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

/// Met by no type: the feature `auth` is off.
#[diagnostic::on_unimplemented(
    message = "logins of a client need the feature `auth-client` of `bowline`",
    label = "needs the feature `auth-client`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"auth-client\"] }}`"
)]
pub trait AuthClientFeature<'f> {
    /// The type that the method returns when the feature is on.
    type Output;
}

impl Client {
    /// Ends a login. Needs the feature `auth-client`, which is off, so a call does not compile.
    pub fn logout<'f>(&'f self) -> <Self as AuthClientFeature<'f>>::Output
    where
        Self: AuthClientFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}

#[cfg(feature = "http")]
impl crate::ClientBuilder<crate::HttpServer> {
    /// Allows authorization servers in a network. Needs the feature `auth-client`, which is off, so a
    /// call does not compile.
    pub fn allow_network<'f>(
        self,
        _network: impl Into<String>,
    ) -> <Self as AuthClientFeature<'f>>::Output
    where
        Self: AuthClientFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}
