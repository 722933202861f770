//! Says which feature is missing where a program calls `server.http()` without it.

use crate::server::Server;

impl Server {
    /// Needs the feature `http`: with it this server is served over HTTP. Without it, calling this
    /// does not compile.
    pub fn http<'a>(&'a self) -> Disabled
    where
        &'a Self: HttpFeature,
    {
        Disabled
    }
}

/// Implemented by nothing. The lifetime of the reference keeps the compiler from checking the bound
/// before [`Server::http`] is called.
#[diagnostic::on_unimplemented(
    message = "`Server::http` needs the feature `http` of `bowline`",
    label = "the feature `http` is not enabled",
    note = "in Cargo.toml: `bowline = {{ version = \"..\", features = [\"http\"] }}`"
)]
pub trait HttpFeature {}

/// What `Server::http` returns while the feature `http` is not enabled.
#[derive(Debug)]
pub struct Disabled;
