//! The arguments of a call, as a type.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::HandlerSignature;

/// The arguments of a call, decoded into a type whose schema the client sees.
///
/// The type is a struct; its doc comments describe the arguments to the model. Arguments that do
/// not fit are answered with what is wrong, in words that the model can act on, and the handler is
/// not run.
///
/// ```
/// use bowline_server::{Args, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Forecast {
///     /// The city, with its country if there are several
///     city: String,
///     /// How many days ahead
///     #[schemars(range(min = 1, max = 7))]
///     days: Option<u8>,
/// }
///
/// async fn forecast(Args(forecast): Args<Forecast>) -> String {
///     format!("Sun in {} for {} days", forecast.city, forecast.days.unwrap_or(1))
/// }
///
/// let tool = Tool::new("forecast", forecast).describe("Forecast the weather").read_only();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Args<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> FromCall for Args<T> {
    fn describe(signature: &mut HandlerSignature) {
        signature.takes_arguments::<T>();
    }

    async fn from_call(call: &Call) -> Result<Self> {
        call.decode().map(Self)
    }
}
