//! Sampling: requests of a server to the application's model, and the answers.
//!
//! A request is checked, reviewed and answered; the answer is reviewed and checked. Any step can
//! refuse. Up to 2025-11-25 a server sends these as requests, since 2026-07-28 inside of results.

use std::fmt;

use bowline_proto::project::Project;
use bowline_types::capability::ClientCapabilities;
use bowline_types::content::Content;
use bowline_types::deprecated::sampling::{CreateMessageParams, CreateMessageResult};
use bowline_types::error::{ErrorObject, code};
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;

use crate::hook::Hook;
use crate::server_identity::ServerIdentity;

mod check;

/// A request of a server to the application's model.
///
/// The application may change or ignore everything but the conversation and
/// [`max_tokens`](CreateMessageParams::max_tokens). Use the conversation for this answer only.
#[derive(Clone)]
pub struct SamplingRequest {
    params: CreateMessageParams,
    server: ServerIdentity,
}

impl SamplingRequest {
    /// The conversation, the most tokens, the tools.
    pub fn params(&self) -> &CreateMessageParams {
        &self.params
    }

    /// The same, for the user or the application to change. `max_tokens` can only be lowered.
    pub fn params_mut(&mut self) -> &mut CreateMessageParams {
        &mut self.params
    }

    /// Chooses the model that the server prefers; `None` if its hints match none of these. Then use
    /// its [priorities](CreateMessageParams::model_preferences).
    ///
    /// Hints are tried in order. A hint matches a name that contains it, in any case.
    pub fn choose_model<'a>(&self, models: &[&'a str]) -> Option<&'a str> {
        let hints = self.params.model_preferences.iter().flat_map(|it| &it.hints);
        let mut hints =
            hints.filter_map(|hint| hint.name.as_deref()).filter(|hint| !hint.is_empty());
        hints.find_map(|hint| {
            let hint = hint.to_lowercase();
            models.iter().copied().find(|model| model.to_lowercase().contains(&hint))
        })
    }

    /// The application's [name](crate::ClientBuilder::label) for the server that asks.
    pub fn label(&self) -> Option<&str> {
        self.server.label()
    }

    /// The name and version that the server gives itself, which cannot be trusted.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.info()
    }

    /// Makes an answer from the text of a model. For several blocks or a stop reason, return a
    /// [`CreateMessageResult`] instead.
    pub fn answer(&self, model: impl Into<String>, content: impl Into<Content>) -> SamplingAnswer {
        CreateMessageResult::new(model, content).into()
    }

    /// Makes the answer of a user who said no; the server gets an error with this reason.
    pub fn reject(&self, reason: impl Into<String>) -> SamplingAnswer {
        SamplingAnswer(Err(Unsampled::Rejected(reason.into())))
    }
}

impl fmt::Debug for SamplingRequest {
    /// Omits the conversation, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SamplingRequest")
            .field("server", &self.server)
            .field("messages", &self.params.messages.len())
            .field("max_tokens", &self.params.max_tokens)
            .finish_non_exhaustive()
    }
}

/// The answer to a [`SamplingRequest`]: made by its methods, from a [`CreateMessageResult`], or from
/// a `Result` of either, whose error means that no model could be asked.
#[derive(Clone)]
pub struct SamplingAnswer(Result<CreateMessageResult, Unsampled>);

/// Why there is no answer.
#[derive(Clone)]
enum Unsampled {
    /// The user said no.
    Rejected(String),
    /// The application could not ask.
    Failed(String),
}

impl Unsampled {
    fn into_error(self) -> ErrorObject {
        match self {
            Self::Rejected(reason) => rejected(&reason),
            Self::Failed(reason) => unsent(&reason),
        }
    }
}

impl From<CreateMessageResult> for SamplingAnswer {
    fn from(result: CreateMessageResult) -> Self {
        Self(Ok(result))
    }
}

impl<E: fmt::Display> From<Result<CreateMessageResult, E>> for SamplingAnswer {
    fn from(result: Result<CreateMessageResult, E>) -> Self {
        Self(result.map_err(|error| Unsampled::Failed(error.to_string())))
    }
}

impl<E: fmt::Display> From<Result<SamplingAnswer, E>> for SamplingAnswer {
    fn from(answer: Result<SamplingAnswer, E>) -> Self {
        answer.unwrap_or_else(|error| Self(Err(Unsampled::Failed(error.to_string()))))
    }
}

impl fmt::Debug for SamplingAnswer {
    /// Omits the text of the model.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SamplingAnswer").field(&self.0.is_ok()).finish()
    }
}

/// The decision of a review hook.
#[derive(Clone, Debug)]
pub enum Review<T> {
    /// Passes this on, unchanged or changed.
    Approve(T),
    /// Refuses; the server gets an error with this reason.
    Deny(String),
}

impl<T> Review<T> {
    fn into_result(self) -> Result<T, ErrorObject> {
        match self {
            Self::Approve(it) => Ok(it),
            Self::Deny(reason) => Err(rejected(&reason)),
        }
    }
}

/// The application's handlers for questions to its model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampling {
    pub(crate) sample: Option<Hook<SamplingRequest, SamplingAnswer>>,
    pub(crate) tools: bool,
    pub(crate) review_request: Option<Hook<SamplingRequest, Review<SamplingRequest>>>,
    pub(crate) review_result: Option<ReviewResult>,
}

type ReviewResult = Hook<(SamplingRequest, CreateMessageResult), Review<CreateMessageResult>>;

impl Sampling {
    /// Declares sampling, as far as there are handlers.
    pub(crate) fn declare(&self, capabilities: ClientCapabilities) -> ClientCapabilities {
        match (&self.sample, self.tools) {
            (None, _) => capabilities,
            (Some(_), false) => capabilities.with_sampling(),
            (Some(_), true) => capabilities.with_sampling().with_sampling_tools(),
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(
        self,
        params: CreateMessageParams,
        server: ServerIdentity,
    ) -> Result<RawJson, ErrorObject> {
        // Not reached: without the capability, the question is refused before it comes here.
        let Some(sample) = &self.sample else {
            return Err(ErrorObject::method_not_found("this client has no model to ask"));
        };
        check::request(&params)?;
        let (most, revision) = (params.max_tokens, server.revision);
        let mut request = SamplingRequest { params, server };
        if let Some(review) = &self.review_request {
            request = review.call(request).await.into_result()?;
        }
        request.params.max_tokens = request.params.max_tokens.min(most);
        let SamplingAnswer(answer) = sample.call(request.clone()).await;
        let mut result = answer.map_err(Unsampled::into_error)?;
        if let Some(review) = &self.review_result {
            result = review.call((request.clone(), result)).await.into_result()?;
        }
        check::result(&request.params, &result).map_err(|problem| unsent(&problem))?;
        result.project(revision);
        RawJson::from_value(&result).map_err(|error| unsent(&error.to_string()))
    }
}

fn rejected(reason: &str) -> ErrorObject {
    let message = match reason {
        "" => "the user rejected the sampling request".to_owned(),
        reason => format!("the user rejected the sampling request: {reason}"),
    };
    ErrorObject::new(code::USER_REJECTED, message)
}

fn unsent(problem: &str) -> ErrorObject {
    ErrorObject::internal(format!("the client has no answer that it can send: {problem}"))
}

#[cfg(test)]
mod tests {
    use bowline_types::deprecated::sampling::{ModelPreferences, SamplingMessage};

    use super::*;

    fn request(preferences: ModelPreferences) -> SamplingRequest {
        let messages = [SamplingMessage::user("my diagnosis")];
        let params = CreateMessageParams::new(messages, 10).with_model_preferences(preferences);
        SamplingRequest { params, server: ServerIdentity::unmet(None) }
    }

    // spec: SAMP-22, SAMP-26, SAMP-27
    #[test]
    fn the_first_hint_that_is_part_of_a_name_chooses_the_model() {
        let models = ["small-1", "Large-2-turbo", "large-1"];
        let chosen = |hints: &[&str]| {
            let preferences = ModelPreferences::new().with_cost_priority(1.0);
            let preferences = hints.iter().fold(preferences, |it, hint| it.with_hint(*hint));
            request(preferences).choose_model(&models)
        };
        assert_eq!(chosen(&["unknown", "large", "small"]), Some("Large-2-turbo"));
        assert_eq!(chosen(&["large-1", "large"]), Some("large-1"));
        assert_eq!(chosen(&["", "unknown"]), None);
        assert_eq!(chosen(&[]), None);
    }

    // spec: SAMP-24
    #[test]
    fn a_conversation_does_not_show_up_in_debug_output() {
        let request = request(ModelPreferences::new());
        let shown = format!("{request:?} {:?}", request.answer("m", "my answer"));
        assert!(shown.contains("max_tokens: 10"), "{shown}");
        assert!(!shown.contains("my "), "{shown}");
    }
}
