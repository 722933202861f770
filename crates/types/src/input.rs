//! What a server needs from its client before it can complete a request.
//!
//! Since 2026-07-28 questions travel inside results: a request is answered "input required" with
//! any number of questions, and the client sends the same request again with the answers. Nothing
//! here says in which era a question is asked; up to 2025-11-25 each becomes a request of its own.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::ClientCapabilities;
use crate::deprecated::sampling::CreateMessageParams;
use crate::elicitation::ElicitParams;
use crate::json::Json;
use crate::member;
use crate::meta::Meta;
use crate::method::Method;
use crate::ordered::Ordered;
use crate::read::Misread;

/// What a request came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// It is done.
    Complete(T),
    /// It needs something first.
    InputRequired(InputRequired),
    /// It goes on as a task, in the shape that the revision or the extension gives it.
    Task(Json),
}

impl<T> Outcome<T> {
    /// The result, if the request is done.
    pub fn complete(self) -> Option<T> {
        match self {
            Self::Complete(result) => Some(result),
            Self::InputRequired(_) | Self::Task(_) => None,
        }
    }

    /// Changes the result, if the request is done.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Complete(result) => Outcome::Complete(change(result)),
            Self::InputRequired(required) => Outcome::InputRequired(required),
            Self::Task(task) => Outcome::Task(task),
        }
    }
}

/// Questions, and what the server wants to be reminded of. There is at least one of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequired {
    /// The questions. With none, the client may simply try again.
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "InputRequests::is_empty"
    )]
    pub input_requests: InputRequests,
    /// What the client repeats to the letter when it tries again, without looking into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Anything beside.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl InputRequired {
    /// Asks.
    pub fn new(input_requests: InputRequests) -> Self {
        Self { input_requests, ..Self::default() }
    }

    /// Asks for nothing but to be called again with this state.
    pub fn again(request_state: impl Into<String>) -> Self {
        Self::default().with_request_state(request_state)
    }

    /// Gives the client something to repeat.
    #[must_use]
    pub fn with_request_state(mut self, request_state: impl Into<String>) -> Self {
        self.request_state = Some(request_state.into());
        self
    }

    /// Whether it holds neither question nor state, which it must not.
    pub fn is_empty(&self) -> bool {
        self.input_requests.is_empty() && self.request_state.is_none()
    }
}

/// Questions by key, in the order in which they should be asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputRequests(Ordered<InputRequest>);

impl InputRequests {
    /// No question.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question under a key that its answer will have.
    ///
    /// # Errors
    ///
    /// If there is a question under that key already.
    pub fn insert(
        &mut self,
        key: impl Into<String>,
        request: InputRequest,
    ) -> Result<(), DuplicateInput> {
        let key = key.into();
        if self.0.value(&key).is_some() {
            return Err(DuplicateInput(key));
        }
        self.0.set(key, request);
        Ok(())
    }

    /// The question under a key.
    pub fn request(&self, key: &str) -> Option<&InputRequest> {
        self.0.value(key)
    }

    /// All questions with their keys, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &InputRequest)> {
        self.0.iter()
    }

    /// All questions with their keys, to be changed in place.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut InputRequest)> {
        self.0.iter_mut()
    }

    /// How many questions there are.
    pub fn len(&self) -> usize {
        self.0.iter().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl IntoIterator for InputRequests {
    type Item = (String, InputRequest);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A key that names two questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateInput(String);

impl fmt::Display for DuplicateInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key `{}` names an input request already; choose another", self.0)
    }
}

impl std::error::Error for DuplicateInput {}

/// One question: a request without envelope, `{method, params}` on the wire.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// `elicitation/create`: asks the user.
    Elicit(ElicitParams),
    /// `sampling/createMessage`: asks the model.
    CreateMessage(Box<CreateMessageParams>),
    /// `roots/list`: asks for the roots.
    ListRoots,
    /// A question of a kind that this library does not know, whole.
    Other(Json),
}

impl InputRequest {
    /// The method; `None` if this library does not know it.
    pub fn method(&self) -> Option<Method> {
        match self {
            Self::Elicit(_) => Some(Method::ElicitationCreate),
            Self::CreateMessage(_) => Some(Method::SamplingCreateMessage),
            Self::ListRoots => Some(Method::RootsList),
            Self::Other(_) => None,
        }
    }

    /// What a client must declare to be asked this. Nothing is known of unknown questions.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        match self {
            Self::Elicit(params) => params.required_capabilities(),
            Self::CreateMessage(params) => params.required_capabilities(),
            Self::ListRoots => ClientCapabilities::new().with_roots(),
            Self::Other(_) => ClientCapabilities::new(),
        }
    }
}

impl From<ElicitParams> for InputRequest {
    fn from(params: ElicitParams) -> Self {
        Self::Elicit(params)
    }
}

impl From<CreateMessageParams> for InputRequest {
    fn from(params: CreateMessageParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl InputRequest {
    /// The question as text. Much may stand in a question, so what writes it is there once, and not
    /// once for whatever holds it.
    fn to_json(&self) -> Result<Json, serde_json::Error> {
        #[derive(Serialize)]
        struct Wire<'a, T> {
            method: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<&'a T>,
        }

        fn write<T: Serialize>(
            method: Method,
            params: Option<&T>,
        ) -> Result<Json, serde_json::Error> {
            Json::from_value(&Wire { method: method.name(), params })
        }

        match self {
            Self::Elicit(params) => write(Method::ElicitationCreate, Some(params)),
            Self::CreateMessage(params) => write(Method::SamplingCreateMessage, Some(params)),
            Self::ListRoots => write::<()>(Method::RootsList, None),
            Self::Other(json) => Ok(json.clone()),
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            method: String,
            #[serde(default)]
            params: Option<Json>,
        }

        let json = Json::deserialize(deserializer)?;
        let Wire { method, params } = member::variant(&json, "input request", "{method, params}")?;
        let params = params.unwrap_or_else(Json::empty_object);
        match Method::named(&method) {
            Some(Method::ElicitationCreate) => {
                member::variant(&params, "input request", &method).map(Self::Elicit)
            }
            Some(Method::SamplingCreateMessage) => {
                member::variant(&params, "input request", &method).map(Self::CreateMessage)
            }
            Some(Method::RootsList) => Ok(Self::ListRoots),
            _ => Ok(Self::Other(json)),
        }
    }
}

/// Answers by the keys of their questions: bare results, still as text.
///
/// Which type an answer has is known only by looking up the question, so nothing is read before
/// somebody asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponses(BTreeMap<String, Json>);

impl InputResponses {
    /// No answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer under a key.
    ///
    /// # Errors
    ///
    /// If the answer cannot be written as JSON.
    pub fn set<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        answer: &T,
    ) -> Result<(), serde_json::Error> {
        self.0.insert(key.into(), Json::from_value(answer)?);
        Ok(())
    }

    /// The answer under a key.
    pub fn value(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// The answer under a key as the result of the method that was asked; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the answer does not have the shape of that result.
    pub fn parse<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Misread> {
        self.0.get(key).map(Json::parse).transpose()
    }

    /// All answers with their keys, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, answer)| (key.as_str(), answer))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
