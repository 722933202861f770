//! `ping`: checks whether the other side still answers.

use crate::empty::{EmptyResult, NoParams};
use crate::rpc::request;

request! {
    /// `ping`.
    Ping = Ping(NoParams) -> EmptyResult
}
