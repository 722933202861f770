//! `ping`: checks whether the other side still answers.

use crate::empty::{EmptyResult, NoParams};
use crate::method::Method;
use crate::rpc::Rpc;

/// `ping`.
pub enum Ping {}

impl Rpc for Ping {
    const METHOD: Method = Method::Ping;
    type Params = NoParams;
    type Result = EmptyResult;
}
