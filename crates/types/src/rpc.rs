//! The types of params and result of each method.
//!
//! A result is read as the type of the method that was called. Its shape never decides its type.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::method::Method;

/// A request, with the types of its params and its result.
///
/// Implemented by empty enums such as [`CallTool`](crate::tool::CallTool), which only name the
/// request. Generic code reads a result as the type that belongs to the method:
///
/// ```
/// use bowline_types::read::ReadError;
/// use bowline_types::tool::CallTool;
/// use bowline_types::{RawJson, Rpc};
///
/// fn read<R: Rpc>(result: &RawJson) -> Result<R::Result, ReadError> {
///     result.parse()
/// }
///
/// let result = RawJson::from_text(r#"{"content":[{"type":"text","text":"3"}]}"#).unwrap();
/// assert_eq!(read::<CallTool>(&result).unwrap().text(), "3");
/// ```
pub trait Rpc {
    /// The method.
    const METHOD: Method;
    /// The params without `_meta`.
    type Params: Serialize + DeserializeOwned + Send;
    /// The result, once it is complete. A result that asks for input is an
    /// [`InputRequired`](crate::input::InputRequired) instead.
    type Result: Serialize + DeserializeOwned + Send;
}

/// A notification, with the type of its params.
pub trait Notification {
    /// The method.
    const METHOD: Method;
    /// The params without `_meta`.
    type Params: Serialize + DeserializeOwned + Send;
}

/// Declares empty enums that name requests, each as `Name = Method(Params) -> Result`.
macro_rules! request {
    ($($(#[$doc:meta])* $name:ident = $method:ident($params:ty) -> $result:ty),+) => {$(
        $(#[$doc])*
        pub enum $name {}

        impl $crate::rpc::Rpc for $name {
            const METHOD: $crate::method::Method = $crate::method::Method::$method;
            type Params = $params;
            type Result = $result;
        }
    )+};
}
pub(crate) use request;

/// Declares empty enums that name notifications, each as `Name = Method(Params)`.
macro_rules! notification {
    ($($(#[$doc:meta])* $name:ident = $method:ident($params:ty)),+) => {$(
        $(#[$doc])*
        pub enum $name {}

        impl $crate::rpc::Notification for $name {
            const METHOD: $crate::method::Method = $crate::method::Method::$method;
            type Params = $params;
        }
    )+};
}
pub(crate) use notification;
