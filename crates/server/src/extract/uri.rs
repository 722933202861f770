//! The URI of the resource that is read.

use std::fmt;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::{HandlerSignature, Purpose};

/// The URI of the resource that is read, as the client wrote it.
///
/// For the values of a template's variables, take these as parameters, or all of them
/// as [`Args`](crate::Args).
///
/// ```
/// use bowline_server::{Resource, extract::Uri};
///
/// async fn page(Uri(uri): Uri) -> String {
///     format!("this is {uri}")
/// }
///
/// let pages = Resource::template("wiki://{+page}", page);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uri(pub String);

impl FromCall for Uri {
    fn describe(signature: &mut HandlerSignature) {
        signature.belongs_to(Purpose::Resource, "Uri");
    }

    async fn from_call(call: &Call) -> Result<Self> {
        Ok(Self(call.name().to_owned()))
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
