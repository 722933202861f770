//! How long a result may be.

use std::sync::Arc;

use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;

use super::Next;
use super::guard::{CallHead, Guard, guards};

/// Refuses results that are too long; the error gives their length and the limit.
///
/// [`Limits::result`] always holds. Use this layer for a lower limit, so that one result does not
/// fill a model's context.
///
/// ```
/// use bowline_server::Tool;
/// use bowline_server::layer::ResultSizeLimit;
///
/// let read = Tool::new("read", || async { "text" }).layer(ResultSizeLimit::new(64 * 1024));
/// ```
///
/// [`Limits::result`]: bowline_proto::limits::Limits::result
#[derive(Clone, Copy, Debug)]
pub struct ResultSizeLimit(usize);

impl ResultSizeLimit {
    /// Refuses results of more than so many bytes of JSON.
    pub fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Refuses a result that is too long.
    pub(crate) fn limit_response(self, head: CallHead, response: Response) -> Response {
        let Self(most) = self;
        match response {
            Ok(success) if success.body().as_str().len() > most => {
                let message = format!(
                    "the result of `{}` has {} bytes, and no more than {most} are allowed; ask for \
                     less, or for a part at a time",
                    head.method,
                    success.body().as_str().len()
                );
                head.refuse(ErrorObject::internal(message))
            }
            response => response,
        }
    }
}

guards!(ResultSizeLimit, |limit| *limit);

impl Guard for ResultSizeLimit {
    fn serve(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<'static, Response> {
        let head = CallHead::of(&request);
        Box::pin(async move { self.limit_response(head, next.run(request).await) })
    }
}
