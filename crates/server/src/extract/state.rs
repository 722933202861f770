//! What a server shares with all of its calls.

use std::any::type_name;

use bowline_types::error::code;

use super::FromCall;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::signature::HandlerSignature;

/// What the server was given with [`Server::state`](crate::Server::state), as a copy.
///
/// There is one value per type. [`Server::build`](crate::Server::build) fails if one is missing. Put
/// a value that is large or changes into an `Arc`.
///
/// ```
/// use bowline_server::{Server, State, Tool};
///
/// #[derive(Clone)]
/// struct Greeting(&'static str);
///
/// async fn greet(State(Greeting(words)): State<Greeting>) -> &'static str {
///     words
/// }
///
/// let server = Server::new("greeter", "1.0.0").tool(Tool::new("greet", greet));
/// let error = server.clone().build().err().unwrap().to_string();
/// assert!(error.starts_with("tool `greet` needs `State<"), "{error}");
/// assert!(server.state(Greeting("Good morning")).build().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for State<T> {
    fn describe(signature: &mut HandlerSignature) {
        signature.needs_state::<T>();
    }

    async fn from_call(call: &Call) -> Result<Self> {
        let missing = || {
            let name = type_name::<T>();
            Error::rpc(code::INTERNAL_ERROR, format!("the server holds no state of type `{name}`"))
        };
        call.state::<T>().cloned().map(Self).ok_or_else(missing)
    }
}
