//! `ping`: checks whether the other side still answers. Either side may send it at any time; the
//! receiver answers at once with an empty result.

use crate::empty::{EmptyResult, NoParams};
use crate::rpc::request;

request! {
    /// `ping`.
    Ping = Ping(NoParams) -> EmptyResult
}
