//! Questions that a server asks before it can complete a request.
//!
//! Since 2026-07-28 a server asks inside a result: `inputRequests` carries any number of questions,
//! and the client sends the same request again with the answers. Up to 2025-11-25 each question is
//! a request of its own. These types serve both.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::ClientCapabilities;
use crate::deprecated::sampling::CreateMessageParams;
use crate::elicitation::ElicitParams;
use crate::json::RawJson;
use crate::member::{self, or_default};
use crate::meta::Meta;
use crate::method::Method;
use crate::ordered::Ordered;
use crate::read::ReadError;
use crate::setters::setters;

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// With its result.
    Complete(T),
    /// With questions that the client must answer first.
    InputRequired(InputRequired),
    /// With a task that continues it, in the shape of the revision or of the extension.
    Task(RawJson),
}

impl<T> Outcome<T> {
    /// The result, if the request is complete.
    pub fn complete(self) -> Option<T> {
        match self {
            Self::Complete(result) => Some(result),
            Self::InputRequired(_) | Self::Task(_) => None,
        }
    }

    /// Converts the result, if the request is complete.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Complete(result) => Outcome::Complete(change(result)),
            Self::InputRequired(required) => Outcome::InputRequired(required),
            Self::Task(task) => Outcome::Task(task),
        }
    }
}

/// Questions, and state for the retried request. At least one of the two is present.
///
/// ```
/// use bowline_types::elicitation::ElicitParams;
/// use bowline_types::elicitation::schema::{FormSchema, StringSchema};
/// use bowline_types::input::{InputRequests, InputRequired};
///
/// let form = FormSchema::new().with_required("city", StringSchema::new());
/// let mut questions = InputRequests::new();
/// questions.insert("trip", ElicitParams::form("Where do you want to go?", form).into())?;
/// let result = InputRequired::new(questions).with_request_state("encrypted");
/// // The client answers under the key `trip`, and sends `request_state` back unchanged.
/// assert!(result.input_requests.request("trip").is_some());
/// # Ok::<(), bowline_types::input::DuplicateInput>(())
/// ```
///
/// The state passes through the client: encrypt it, and bind it to the call and the caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequired {
    /// The questions. If there are none, the client just sends the request again.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "InputRequests::is_empty"
    )]
    pub input_requests: InputRequests,
    /// State that the client returns unchanged in the retried request, without reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl InputRequired {
    /// Asks these questions.
    pub fn new(input_requests: InputRequests) -> Self {
        Self { input_requests, ..Self::default() }
    }

    /// Asks only for a retry with this state.
    pub fn again(request_state: impl Into<String>) -> Self {
        Self::default().with_request_state(request_state)
    }

    setters! {
        /// Sets the state that the client returns.
        with_request_state(request_state: impl Into<String>) {
            request_state = Some(request_state.into())
        }
    }

    /// Whether there are neither questions nor state, which the protocol forbids.
    pub fn is_empty(&self) -> bool {
        self.input_requests.is_empty() && self.request_state.is_none()
    }
}

/// Questions by key, in the order in which the client should ask them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputRequests(Ordered<InputRequest>);

impl InputRequests {
    /// No questions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question. Its answer will have the same key.
    ///
    /// # Errors
    ///
    /// If the key is already in use.
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

    /// All questions with their keys, mutable.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut InputRequest)> {
        self.0.iter_mut()
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.0.iter().len()
    }

    /// Whether there are no questions.
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

/// The error for a key that two questions use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateInput(String);

impl fmt::Display for DuplicateInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key `{}` names an input request already; choose another", self.0)
    }
}

impl std::error::Error for DuplicateInput {}

/// One question: a request without its envelope, `{method, params}` on the wire.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// `elicitation/create`: a question to the user.
    Elicit(ElicitParams),
    /// `sampling/createMessage`: a request to the model.
    CreateMessage(Box<CreateMessageParams>),
    /// `roots/list`: a request for the roots.
    ListRoots,
    /// A question that this library does not know, as JSON.
    Other(RawJson),
}

impl InputRequest {
    /// The method. `None` if this library does not know it.
    pub fn method(&self) -> Option<Method> {
        match self {
            Self::Elicit(_) => Some(Method::ElicitationCreate),
            Self::CreateMessage(_) => Some(Method::SamplingCreateMessage),
            Self::ListRoots => Some(Method::RootsList),
            Self::Other(_) => None,
        }
    }

    /// The capabilities that a client needs to answer. None for unknown questions.
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
    /// The question as JSON. Not generic over the serializer, so that this large function is
    /// compiled only once.
    fn to_json(&self) -> Result<RawJson, serde_json::Error> {
        #[derive(Serialize)]
        struct Wire<'a, T> {
            method: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<&'a T>,
        }

        fn write<T: Serialize>(
            method: Method,
            params: Option<&T>,
        ) -> Result<RawJson, serde_json::Error> {
            RawJson::from_value(&Wire { method: method.name(), params })
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
            params: Option<RawJson>,
        }

        let json = RawJson::deserialize(deserializer)?;
        let Wire { method, params } = member::variant(&json, "input request", "{method, params}")?;
        let params = params.unwrap_or_else(RawJson::empty_object);
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

/// Answers by the keys of their questions: results without envelope, as JSON text.
///
/// The type of an answer depends on its question, so an answer is read only when a caller asks for
/// it.
///
/// ```
/// use bowline_types::elicitation::ElicitResult;
/// use bowline_types::input::InputResponses;
///
/// let mut answers = InputResponses::new();
/// answers.set("confirm", &ElicitResult::decline()).unwrap();
/// let answer: ElicitResult = answers.parse("confirm").unwrap().unwrap();
/// assert_eq!(answer, ElicitResult::decline());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponses(BTreeMap<String, RawJson>);

impl InputResponses {
    /// No answers.
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
        self.0.insert(key.into(), RawJson::from_value(answer)?);
        Ok(())
    }

    /// The JSON of an answer.
    pub fn value(&self, key: &str) -> Option<&RawJson> {
        self.0.get(key)
    }

    /// The answer to a question, read as the result of the question's method. `None` if there is no
    /// answer.
    ///
    /// # Errors
    ///
    /// If the answer does not have the shape of that result.
    pub fn parse<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ReadError> {
        self.0.get(key).map(RawJson::parse).transpose()
    }

    /// All answers with their keys, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(key, answer)| (key.as_str(), answer))
    }

    /// Whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
