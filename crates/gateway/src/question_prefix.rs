//! Questions of one server among others: their messages begin with its configured name.
//!
//! Clients know only the gateway, and users must see which server asks (ELIC-10). The name comes from
//! the configuration, because a server can claim any name for itself.

use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{
    ExchangeId, Outbox, Outgoing, Request, Response, Sink, Success, SuccessKind,
};
use bowline_proto::upstream::Upstream;
use bowline_types::elicitation::{ElicitParams, UrlElicitationRequired};
use bowline_types::error::{ErrorObject, code};
use bowline_types::input::{InputRequest, InputRequired};
use bowline_types::method::Method;
use bowline_types::revision::Revision;

use crate::layered::{UpstreamLayer, call};

/// Lets the questions of an upstream begin with a name.
#[derive(Clone, Debug)]
pub(crate) struct QuestionPrefix(Arc<str>);

impl QuestionPrefix {
    pub(crate) fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

impl UpstreamLayer for QuestionPrefix {
    async fn answer(self, mut upstream: impl Upstream, mut request: Request) -> Response {
        let Self(name) = self;
        let method = request.parts.method;
        // A session gets questions that belong to no call through the call that listens for it.
        if !method.may_ask() && method != Method::SubscriptionsListen {
            return call(&mut upstream, request).await;
        }
        let naming = NamingQuestions { outbox: request.parts.outbox, name: name.clone() };
        request.parts.outbox = Outbox::new(request.parts.exchange, Arc::new(naming));
        let revision = request.parts.revision;
        match call(&mut upstream, request).await {
            Ok(success) => name_questions(success, &name, revision),
            Err(error) => Err(name_pages(error, &name)),
        }
    }
}

/// Names the questions of a modern server, which are its answer.
fn name_questions(success: Success, name: &str, revision: Revision) -> Response {
    if success.kind() != SuccessKind::InputRequired {
        return Ok(success);
    }
    let required = success.body().parse::<InputRequired>();
    let mut required = required
        .map_err(|_| ErrorObject::internal("the server's questions cannot be passed on"))?;
    required.meta = success.meta().clone();
    for (_, question) in required.input_requests.iter_mut() {
        name_question(question, name);
    }
    Success::input_required(required, revision)
}

/// Names the pages that the user has to visit before the call.
fn name_pages(error: ErrorObject, name: &str) -> ErrorObject {
    if error.code != code::URL_ELICITATION_REQUIRED {
        return error;
    }
    let Some(mut required) = error.parse_data::<UrlElicitationRequired>() else { return error };
    for page in &mut required.elicitations {
        page.message = named(name, &page.message);
    }
    error.with_data(&required)
}

fn name_question(question: &mut InputRequest, name: &str) {
    match question {
        InputRequest::Elicit(ElicitParams::Form(form)) => {
            form.message = named(name, &form.message);
        }
        InputRequest::Elicit(ElicitParams::Url(page)) => {
            page.message = named(name, &page.message);
        }
        _ => {}
    }
}

fn named(name: &str, message: &str) -> String {
    format!("{name}: {message}")
}

/// Names the questions that a server asks while a call runs.
struct NamingQuestions {
    outbox: Outbox,
    name: Arc<str>,
}

impl Sink for NamingQuestions {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        std::pin::pin!(self.outbox.ready()).poll(cx)
    }

    fn emit(&self, _: ExchangeId, mut outgoing: Outgoing) -> Result<(), Outgoing> {
        let Outgoing::Ask(question) = &mut outgoing else { return self.outbox.emit(outgoing) };
        let unnamed = question.request.clone();
        name_question(&mut question.request, &self.name);
        self.outbox.emit(outgoing).map_err(|mut refused| {
            // The sender may try again.
            if let Outgoing::Ask(question) = &mut refused {
                question.request = unnamed;
            }
            refused
        })
    }
}
