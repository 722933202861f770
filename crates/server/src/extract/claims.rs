//! What a verified credential says of the caller.

use bowline_proto::request::Claims;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::HandlerSignature;

/// The claims of the caller's verified credential. The handler is not called without them.
///
/// A server whose handlers take `Claims` is served over HTTP only with authorization. Over stdio no
/// call has claims; a handler that serves both takes `Option<Claims>`.
impl FromCall for Claims {
    fn describe(signature: &mut HandlerSignature) {
        signature.tells_callers_apart();
        signature.needs_claims();
    }

    async fn from_call(call: &Call) -> Result<Self> {
        let claims = call.extension::<Self>().cloned();
        claims.ok_or_else(|| "this call came without a verified credential".into())
    }
}

/// The claims of the caller's verified credential, if there is one.
impl FromCall for Option<Claims> {
    async fn from_call(call: &Call) -> Result<Self> {
        Ok(call.extension::<Claims>().cloned())
    }
}
