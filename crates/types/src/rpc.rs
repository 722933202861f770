//! Ties each method to the types of its params and result.
//!
//! Decoding goes by the method that was asked, never by the shape of what arrives.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::method::Method;

/// A request whose params and result are known.
pub trait Rpc {
    /// Its row in the method table.
    const METHOD: Method;
    /// What is sent, beside `_meta`.
    type Params: Serialize + DeserializeOwned + Send;
    /// What a complete answer holds.
    type Result: Serialize + DeserializeOwned + Send;
}

/// A notification whose params are known.
pub trait Notice {
    /// Its row in the method table.
    const METHOD: Method;
    /// What is sent, beside `_meta`.
    type Params: Serialize + DeserializeOwned + Send;
}
