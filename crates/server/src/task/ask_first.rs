//! Asks what a tool wants to know before its handler runs ([`Elicited`](crate::Elicited)), before
//! the task is created.
//!
//! On 2026-07-28 such questions are the answer to the call, as without tasks. So the client gets a
//! task only after its user has agreed to answer (XTASK-11).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline_proto::request::{Request, Response, Success};
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;

use crate::call::{Call, CallTarget, ServerShared};
use crate::error::Result as HandlerResult;
use crate::feature::ToolEntry;
use crate::run::{Callee, HandlerRun};

/// Asks, and returns whether there was anything to ask.
///
/// # Errors
///
/// Gives the answer to the call, if questions are open or the user declined.
pub(super) async fn ask(
    tool: &Arc<ToolEntry>,
    request: &Request,
    shared: &Arc<ServerShared>,
) -> Result<bool, Response> {
    if tool.questions().is_empty() {
        return Ok(false);
    }
    let first = Arc::new(AskFirst { tool: tool.clone(), is_done: AtomicBool::new(false) });
    let answer = HandlerRun::start(first.clone(), request.clone(), shared.clone()).await;
    if first.is_done.load(Ordering::Relaxed) { Ok(true) } else { Err(answer) }
}

/// The questions of a tool, to be called like the tool itself.
struct AskFirst {
    tool: Arc<ToolEntry>,
    is_done: AtomicBool,
}

impl Callee for AskFirst {
    type Output = ();

    fn label(&self) -> String {
        self.tool.label()
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        self.tool.admit(request)
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<()>> {
        let questions = self.tool.questions().to_vec();
        Box::pin(async move {
            for question in questions {
                question(call.clone()).await?;
            }
            Ok(())
        })
    }

    fn complete(&self, call: &Call, outcome: HandlerResult<()>) -> Response {
        match outcome {
            Ok(()) => {
                self.is_done.store(true, Ordering::Relaxed);
                Ok(Success::empty())
            }
            Err(error) => error.into_tool_response(call.parts().revision),
        }
    }

    fn fail(&self, reason: String, revision: Revision) -> Response {
        self.tool.fail(reason, revision)
    }
}
