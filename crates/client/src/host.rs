//! The application behind a client, as its server sees it: the handlers that were set.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use bowline_transport::connect::Host;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::input::InputRequest;
use bowline_types::json::Json;

use crate::answer::{Answer, Question};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type OnAsk = Arc<dyn Fn(Question) -> BoxFuture<Answer> + Send + Sync>;
type OnLog = Arc<dyn Fn(LogMessageParams) + Send + Sync>;
type OnOdd = Arc<dyn Fn(&str) + Send + Sync>;

/// What an application does when its server turns to it.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    ask: Option<OnAsk>,
    log: Option<OnLog>,
    odd: Option<OnOdd>,
}

impl Handlers {
    pub(crate) fn on_ask<F, A>(&mut self, answer: F)
    where
        F: Fn(Question) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Answer>> + Send + 'static,
    {
        self.ask = Some(Arc::new(move |question| {
            let answer = answer(question);
            Box::pin(async move { answer.await.into() })
        }));
    }

    pub(crate) fn on_log(&mut self, log: impl Fn(LogMessageParams) + Send + Sync + 'static) {
        self.log = Some(Arc::new(log));
    }

    pub(crate) fn on_odd(&mut self, odd: impl Fn(&str) + Send + Sync + 'static) {
        self.odd = Some(Arc::new(odd));
    }

    /// What the client can do, judged by what it has a handler for.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let capabilities = ClientCapabilities::new();
        if self.ask.is_some() { capabilities.with_form_elicitation() } else { capabilities }
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("ask", &self.ask.is_some())
            .field("log", &self.log.is_some())
            .field("odd", &self.odd.is_some())
            .finish()
    }
}

/// The handlers as one server meets them.
#[derive(Debug)]
pub(crate) struct Application {
    handlers: Handlers,
    /// Who the server says it is, once that is known.
    server: OnceLock<Implementation>,
}

impl Application {
    pub(crate) fn new(handlers: Handlers) -> Self {
        Self { handlers, server: OnceLock::new() }
    }

    /// Learns who the server says it is.
    pub(crate) fn meet(&self, server: &Implementation) {
        let _ = self.server.set(server.clone());
    }
}

impl Host for Application {
    fn answer(&self, question: InputRequest) -> BoxFuture<Result<Json, ErrorObject>> {
        let (ask, server) = (self.handlers.ask.clone(), self.server.get().cloned());
        // The handler is called inside the future, whose panics are caught.
        Box::pin(async move {
            match (question, ask) {
                (InputRequest::Elicit(params), Some(ask)) => {
                    ask(Question::new(params, server)?).await.into_response()
                }
                // Only questions that the capabilities allow are put to us, so there are no others.
                _ => Err(ErrorObject::method_not_found("this client does not answer that")),
            }
        })
    }

    fn log(&self, message: LogMessageParams) {
        if let Some(log) = &self.handlers.log {
            unharmed(|| log(message));
        }
    }

    fn odd(&self, what: &str) {
        if let Some(odd) = &self.handlers.odd {
            unharmed(|| odd(what));
        }
    }
}

/// Runs a handler in the task that drives the connection, which must survive its panics. The panic
/// is reported by the hook as any other.
fn unharmed(handler: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(handler));
}
