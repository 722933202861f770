//! The params of a method or notification of an extension, as a type.

use serde::de::DeserializeOwned;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::{HandlerSignature, Purpose};

/// The params of a method or a notification of an [`Extension`](crate::Extension), decoded into a
/// type. Params that do not fit are answered with -32602 and what is wrong, and the handler is not
/// run.
///
/// ```
/// use bowline_server::{Extension, Params};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Vote {
///     stars: u8,
/// }
///
/// async fn vote(Params(vote): Params<Vote>) {
///     println!("{} stars", vote.stars);
/// }
///
/// let votes = Extension::new("com.example/votes").method("votes/cast", vote);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + Send + 'static> FromCall for Params<T> {
    fn describe(signature: &mut HandlerSignature) {
        signature.belongs_to(Purpose::Extension, "Params");
    }

    async fn from_call(call: &Call) -> Result<Self> {
        call.decode().map(Self)
    }
}
