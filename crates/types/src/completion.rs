//! Completion: suggestions for an argument while the user types it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::RawJson;
use crate::member::{self, constant, count, or_default};
use crate::meta::Meta;
use crate::rpc::request;
use crate::setters::setters;

request! {
    /// `completion/complete`.
    Complete = CompletionComplete(CompleteParams) -> CompleteResult
}

/// The argument to complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteParams {
    /// The prompt or resource template that the argument belongs to.
    pub r#ref: Reference,
    /// The argument, with what the user has typed.
    pub argument: CompletionArgument,
    /// The values of other arguments (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
}

impl CompleteParams {
    /// Completes an argument of a prompt or resource template. `value` is what the user has typed.
    pub fn new(
        reference: Reference,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> Self {
        let argument = CompletionArgument { name: argument.into(), value: typed.into() };
        Self { r#ref: reference, argument, context: None }
    }

    /// Adds the value of another argument that the user has chosen already.
    #[must_use]
    pub fn with_chosen(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let context = self.context.get_or_insert_default();
        context.arguments.insert(name.into(), value.into());
        self
    }

    /// The values of other arguments that the user has chosen already.
    pub fn chosen(&self) -> impl Iterator<Item = (&str, &str)> {
        let arguments = self.context.iter().flat_map(|context| &context.arguments);
        arguments.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The argument that the user is typing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// The text typed so far.
    pub value: String,
}

/// What is known while the user types an argument (since 2025-06-18).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The values of other arguments that the user has chosen already.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
}

/// The prompt or resource template that an argument belongs to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reference {
    /// A prompt.
    Prompt(PromptReference),
    /// A resource template.
    Resource(ResourceReference),
    /// A reference of a type that this library does not know.
    Other(RawJson),
}

impl Reference {
    /// A prompt, by name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference { r#type: PromptType, name: name.into(), title: None })
    }

    /// A resource template by its text, or a resource by its URI.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(ResourceReference { r#type: ResourceType, uri: uri.into() })
    }
}

/// The name of this union in errors.
const WHAT: &str = "completion reference";

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Prompt(prompt) => prompt.serialize(serializer),
            Self::Resource(resource) => resource.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        let tag = member::tag::<D::Error>(&json, WHAT)?;
        match tag.as_str() {
            "ref/prompt" => member::variant(&json, WHAT, &tag).map(Self::Prompt),
            "ref/resource" => member::variant(&json, WHAT, &tag).map(Self::Resource),
            _ => Ok(Self::Other(json)),
        }
    }
}

constant!(PromptType = "ref/prompt");
constant!(ResourceType = "ref/resource");

/// A prompt, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptReference {
    r#type: PromptType,
    /// The name of the prompt.
    pub name: String,
    /// The name for people (since 2025-06-18). Does not identify the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A resource template by its text, or a resource by its URI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceReference {
    r#type: ResourceType,
    /// The template or URI.
    pub uri: String,
}

/// The suggestions for an argument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CompleteResult {
    /// A result with these suggestions.
    pub fn new(completion: Completion) -> Self {
        Self { completion, meta: Meta::new() }
    }
}

/// At most 100 suggestions, best first.
///
/// ```
/// use bowline_types::completion::Completion;
///
/// let years = Completion::new((1900..2030).map(|year| year.to_string())).with_total(130);
/// assert_eq!(years.values().len(), Completion::MAX_VALUES);
/// assert!(years.has_more());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "WireCompletion")]
pub struct Completion {
    values: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_more: Option<bool>,
}

impl Completion {
    /// The most suggestions of one result.
    pub const MAX_VALUES: usize = 100;

    /// Keeps the first 100 suggestions, and notes whether there are more.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        let mut values = values.into_iter();
        let first = values.by_ref().take(Self::MAX_VALUES).map(Into::into).collect();
        let has_more = values.next().is_some().then_some(true);
        Self { values: first, total: None, has_more }
    }

    setters! {
        /// Sets the number of all suggestions.
        with_total(total: u64) { total = Some(total) }
    }

    /// Sets whether there are more suggestions. If [`new`](Self::new) left some out, there are more
    /// in any case.
    #[must_use]
    pub fn with_more(mut self, has_more: bool) -> Self {
        self.has_more = Some(has_more || self.has_more == Some(true));
        self
    }

    /// The suggestions, best first.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The number of all suggestions, if known.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether there are more suggestions, as far as is known.
    pub fn has_more(&self) -> bool {
        let counted = self.total.is_some_and(|total| total > self.values.len() as u64);
        self.has_more.unwrap_or(counted)
    }
}

/// Suggestions as a peer sent them, possibly more than 100.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCompletion {
    values: Vec<String>,
    #[serde(default, deserialize_with = "count")]
    total: Option<u64>,
    #[serde(default)]
    has_more: Option<bool>,
}

impl From<WireCompletion> for Completion {
    fn from(wire: WireCompletion) -> Self {
        let cut = Self::new(wire.values);
        Self { total: wire.total, has_more: cut.has_more.or(wire.has_more), ..cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: COMP-3, COMP-4
    #[test]
    fn a_request_is_written_as_it_was_read() {
        for text in [
            r#"{"ref":{"type":"ref/prompt","name":"review","title":"Review"},"argument":{"name":"code","value":"py"},"context":{"arguments":{"style":"brief"}}}"#,
            r#"{"ref":{"type":"ref/resource","uri":"a://{b}"},"argument":{"name":"b","value":""}}"#,
            r#"{"ref":{"type":"ref/tool","new":1.0},"argument":{"name":"b","value":""},"context":{}}"#,
        ] {
            round_trip::<CompleteParams>(text);
        }
    }

    // spec: COMP-4
    #[test]
    fn values_chosen_before_are_passed_on() {
        let params =
            CompleteParams::new(Reference::prompt("p"), "repo", "mo").with_chosen("owner", "a");
        assert_eq!(params.chosen().collect::<Vec<_>>(), [("owner", "a")]);
    }

    // spec: COMP-3
    #[test]
    fn a_reference_that_lacks_its_name_is_explained() {
        let error = serde_json::from_str::<Reference>(r#"{"type":"ref/prompt"}"#).unwrap_err();
        let expected = "completion reference of type `ref/prompt`: `name`: missing";
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    // spec: COMP-2
    #[test]
    fn at_most_100_suggestions_are_given() {
        let numbers = |count: u32| Completion::new((0..count).map(|number| number.to_string()));
        assert_eq!(numbers(100).values().len(), 100);
        assert!(!numbers(100).has_more());
        assert_eq!(numbers(101).values().len(), 100);
        assert!(numbers(101).has_more());
        assert!(numbers(101).with_more(false).has_more());
    }

    // spec: COMP-2
    #[test]
    fn a_result_is_written_as_it_was_read() {
        let text =
            r#"{"completion":{"values":["python"],"total":10,"hasMore":true},"_meta":{"a":1}}"#;
        round_trip::<CompleteResult>(text);
        round_trip::<CompleteResult>(r#"{"completion":{"values":[]}}"#);
    }

    // spec: COMP-13
    #[test]
    fn too_many_suggestions_of_a_peer_are_cut() {
        let values = serde_json::to_string(&vec!["x"; 150]).unwrap();
        let text = format!(r#"{{"values":{values},"hasMore":false}}"#);
        let completion: Completion = serde_json::from_str(&text).unwrap();
        assert_eq!(completion.values().len(), 100);
        assert!(completion.has_more());
    }

    #[test]
    fn a_total_beyond_the_suggestions_means_more() {
        assert!(Completion::new(["a"]).with_total(2).has_more());
        assert!(!Completion::new(["a"]).with_total(1).has_more());
    }
}
