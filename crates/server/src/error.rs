//! What a handler fails with, and whether the model or the client gets the message.
//!
//! An error that leaves a tool by `?` becomes a result with `isError: true` and the messages of the
//! error and its causes, so that the model can correct its call. [`Error::rpc`] is a JSON-RPC error
//! for the client instead.

use std::fmt;

use bowline_proto::request::Response;
pub use bowline_transport::BoxError;
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use serde::Serialize;

use crate::tool_response::tool_error;

mod ask;
mod build;
mod chain;
pub(crate) mod visit;

pub use ask::{AskError, Unsupported};
pub use build::BuildError;
pub(crate) use chain::chain;
pub use visit::Visit;

/// What handlers return: `bowline::Result` for nothing, `bowline::Result<T>` for something.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// What a handler fails with.
///
/// It is made from any error by `?`, or from text by `into`. It is not itself a
/// [`std::error::Error`], because then it could not be made from all of those.
///
/// ```
/// use bowline_server::{Error, Result};
///
/// async fn population(city: String) -> Result<u64> {
///     if city.is_empty() {
///         return Err("`city` is empty; name a city".into()); // the model reads this
///     }
///     let text = std::fs::read_to_string("population.txt")?; // and this, if it fails
///     text.trim().parse().map_err(|_| Error::rpc(-32603, "the census is broken")) // not this
/// }
/// ```
pub struct Error(Box<Kind>);

enum Kind {
    /// The handler failed; the model gets the message.
    Failure(BoxError),
    /// The request is refused; the client gets a JSON-RPC error.
    Rpc(ErrorObject),
    /// What was asked for is not there.
    NotFound,
    /// What the caller gave does not fit.
    Misfit(String),
    /// The user must visit pages first.
    Visits(Vec<Visit>),
}

impl Error {
    /// An error of the protocol: the request is answered with a JSON-RPC error.
    pub fn rpc(code: i64, message: impl Into<String>) -> Self {
        Self::refusal(ErrorObject::new(code, message))
    }

    /// An error of the protocol that is at hand already.
    pub fn refusal(error: ErrorObject) -> Self {
        Self(Box::new(Kind::Rpc(error)))
    }

    /// The thing asked for does not exist. A read that fails like this is answered with the error for
    /// an unknown resource, as the caller's revision has it.
    pub fn not_found() -> Self {
        Self(Box::new(Kind::NotFound))
    }

    /// The call cannot go on before the user has visited these pages, and is to be made again then.
    ///
    /// A client of 2025-11-25 gets the error −32042, a client of 2026-07-28 the question itself. A
    /// client without URL elicitation gets an error that names the missing capability.
    pub fn url_elicitation_required(visits: impl IntoIterator<Item = Visit>) -> Self {
        Self(Box::new(Kind::Visits(visits.into_iter().collect())))
    }

    /// The pages that the user must visit first.
    ///
    /// # Errors
    ///
    /// Gives any other error back.
    pub(crate) fn into_visits(self) -> Result<Vec<Visit>> {
        match *self.0 {
            Kind::Visits(visits) => Ok(visits),
            other => Err(Self(Box::new(other))),
        }
    }

    /// What the caller gave does not fit, and why.
    pub(crate) fn misfit(reason: String) -> Self {
        Self(Box::new(Kind::Misfit(reason)))
    }

    /// Adds data for programs to an error of the protocol. Other errors have no place for it.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        if let Kind::Rpc(error) = *self.0 {
            self.0 = Box::new(Kind::Rpc(error.with_data(data)));
        }
        self
    }

    /// The answer to a tool call that failed like this.
    pub(crate) fn into_tool_response(self, revision: Revision) -> Response {
        match *self.0 {
            Kind::Rpc(error) => Err(error),
            Kind::Failure(error) => match refusal(&*error, revision) {
                Some(refusal) => Err(refusal),
                None => tool_error(chain(&*error), revision),
            },
            other => tool_error(other.to_string(), revision),
        }
    }

    /// The answer to a read that failed like this.
    pub(crate) fn into_read_error(self, uri: &str, revision: Revision) -> ErrorObject {
        match *self.0 {
            Kind::NotFound => ErrorObject::resource_not_found(uri, revision),
            Kind::Misfit(reason) => {
                let mut error = ErrorObject::resource_not_found(uri, revision);
                error.message = format!("{}: {reason}", error.message);
                error
            }
            _ => self.into_error(revision),
        }
    }

    /// The JSON-RPC error for a call that failed like this, of anything but a tool.
    pub(crate) fn into_error(self, revision: Revision) -> ErrorObject {
        match *self.0 {
            Kind::Rpc(error) => error,
            Kind::Failure(error) => {
                refusal(&*error, revision).unwrap_or_else(|| ErrorObject::internal(chain(&*error)))
            }
            visits @ Kind::Visits(..) => ErrorObject::internal(visits.to_string()),
            Kind::NotFound => ErrorObject::invalid_params(Kind::NotFound.to_string()),
            Kind::Misfit(reason) => ErrorObject::invalid_params(reason),
        }
    }
}

/// The JSON-RPC error for an error of [`Ask`](crate::Ask), if it is for the client.
fn refusal(error: &(dyn std::error::Error + 'static), revision: Revision) -> Option<ErrorObject> {
    find::<AskError>(error)?.refusal(revision)
}

impl<E: Into<BoxError>> From<E> for Error {
    fn from(error: E) -> Self {
        Self(Box::new(Kind::Failure(error.into())))
    }
}

/// What a handler may fail with: whatever `?` turns into an [`Error`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a handler",
    label = "not an error that a handler can fail with",
    note = "it is text, `bowline::Error`, or a type that implements `std::error::Error + Send + Sync`",
    note = "implement `std::error::Error` for `{Self}`, or turn it into text with `map_err`"
)]
pub trait HandlerError {
    /// The error as handlers return it.
    fn into_handler_error(self) -> Error;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Error>> HandlerError for E {
    fn into_handler_error(self) -> Error {
        self.into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failure(error) => f.write_str(&chain(&**error)),
            Self::Rpc(error) => error.fmt(f),
            Self::NotFound => f.write_str("there is no such thing"),
            Self::Misfit(reason) => f.write_str(reason),
            Self::Visits(..) => f.write_str("the user must visit a page first"),
        }
    }
}

impl fmt::Debug for Error {
    /// The sentence of `Display`, because a `main` that returns the error prints its `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first error of a type among an error and its causes.
fn find<'a, T: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the year cannot be read")
        }
    }

    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    fn outer() -> Outer {
        Outer("x".parse::<u8>().unwrap_err())
    }

    // spec: TOOL-35
    #[test]
    fn a_failure_tells_the_model_the_error_and_its_causes() {
        let response = Error::from(outer()).into_tool_response(Revision::LATEST);
        let expected = concat!(
            r#"{"content":[{"type":"text","text":"the year cannot be read: "#,
            r#"invalid digit found in string"}],"isError":true}"#
        );
        assert_eq!(response.unwrap().body().as_str(), expected);
    }

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        #[derive(Debug)]
        struct Chatty(Outer);

        impl fmt::Display for Chatty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "no year: {}", self.0)
            }
        }

        impl std::error::Error for Chatty {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }

        let expected = "no year: the year cannot be read: invalid digit found in string";
        assert_eq!(chain(&Chatty(outer())), expected);
    }

    // spec: TOOL-34
    #[test]
    fn an_error_of_the_protocol_goes_to_the_client_alone() {
        let error = Error::rpc(-32000, "no").with_data(&[1]);
        let answered = error.into_tool_response(Revision::LATEST).unwrap_err();
        assert_eq!((answered.code, answered.message.as_str()), (-32000, "no"));
        assert_eq!(answered.data.unwrap().as_str(), "[1]");
    }

    #[test]
    fn text_is_an_error() {
        assert_eq!(Error::from("no such city").to_string(), "no such city");
        assert_eq!(format!("{:?}", Error::from(String::from("no"))), "no");
    }
}
