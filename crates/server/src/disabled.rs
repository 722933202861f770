//! Methods of cargo features that are off: a program that calls one does not compile, and the
//! compiler's message names the feature.
//!
//! Each method here has the name of a real one and a bound that no type meets. The lifetime makes
//! the bound depend on the caller, because the compiler refuses a false bound without parameters
//! where it is written. The result is an associated type of the same trait, so the calls that
//! follow in a chain cause no errors of their own.

/// Met by no type: the feature `http` is off.
#[cfg(not(feature = "http"))]
#[diagnostic::on_unimplemented(
    message = "`Server::http` needs the feature `http` of `bowline`",
    label = "needs the feature `http`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"http\"] }}`"
)]
pub trait HttpFeature<'f> {
    /// The type that the method returns when the feature is on.
    type Http;
}

#[cfg(not(feature = "http"))]
impl crate::Server {
    /// Serves over HTTP. Needs the feature `http`, which is off, so a call does not compile.
    pub fn http<'f>(&'f self) -> <Self as HttpFeature<'f>>::Http
    where
        Self: HttpFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}

/// Met by no type: the feature `http2` is off.
#[cfg(all(feature = "http", not(feature = "http2")))]
#[diagnostic::on_unimplemented(
    message = "`Http::http2` needs the feature `http2` of `bowline`",
    label = "needs the feature `http2`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"http2\"] }}`"
)]
pub trait Http2Feature<'f> {
    /// The type that the method returns when the feature is on.
    type Http;
}

#[cfg(all(feature = "http", not(feature = "http2")))]
impl crate::http::Http {
    /// Speaks HTTP/2 too. Needs the feature `http2`, which is off, so a call does not compile.
    pub fn http2<'f>(self) -> <Self as Http2Feature<'f>>::Http
    where
        Self: Http2Feature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}

/// Met by no type: the feature `skills` is off.
#[cfg(not(feature = "skills"))]
#[diagnostic::on_unimplemented(
    message = "`Server::skills` needs the feature `skills` of `bowline`",
    label = "needs the feature `skills`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"skills\"] }}`"
)]
pub trait SkillsFeature<'f> {
    /// The type that the method returns when the feature is on.
    type Server;
}

#[cfg(not(feature = "skills"))]
impl crate::Server {
    /// Offers skills. Needs the feature `skills`, which is off, so a call does not compile.
    pub fn skills<'f, T>(self, _: T) -> <Self as SkillsFeature<'f>>::Server
    where
        Self: SkillsFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}

/// Met by no type: the feature `tracing` is off.
#[cfg(not(feature = "tracing"))]
#[diagnostic::on_unimplemented(
    message = "`Server::trace_layer` needs the feature `tracing` of `bowline`",
    label = "needs the feature `tracing`",
    note = "in Cargo.toml: `bowline = {{ version = \"0.1\", features = [\"tracing\"] }}`"
)]
pub trait TracingFeature<'f> {
    /// The type that the method returns when the feature is on.
    type Layer;
}

#[cfg(not(feature = "tracing"))]
impl crate::Server {
    /// Sends events to clients. Needs the feature `tracing`, which is off, so a call does not
    /// compile.
    pub fn trace_layer<'f>(&'f self) -> <Self as TracingFeature<'f>>::Layer
    where
        Self: TracingFeature<'f>,
    {
        unreachable!("no type meets the bound")
    }
}
