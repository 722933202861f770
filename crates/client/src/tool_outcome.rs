//! The result of a tool, and how to read it.

use bowline_types::content::Content;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::tool::CallToolResult;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::audit::ToolCallOutcome;
use crate::catalogue::KnownTool;
use crate::error::{Error, Result};
use crate::request;

/// The result of a tool.
///
/// A tool that ran and failed ([`is_error`](Self::is_error)) has a result too: a text for the model,
/// which may then correct its call. So a failure is a value here, not an `Err`. A program without a
/// model turns it into one with [`into_result`](Self::into_result):
///
/// ```no_run
/// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
/// let for_the_model = client.call("deploy", ()).await?.text();
/// let for_a_program = client.call("deploy", ()).await?.into_result()?.text();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    tool: String,
    result: CallToolResult,
}

impl ToolOutcome {
    /// The text blocks, one per line; empty if there is no text.
    pub fn text(&self) -> String {
        self.result.text()
    }

    /// Reads the result as a type: the structured content if there is any, or else the text as
    /// JSON.
    ///
    /// Before 2026-07-28 structured content had to be an object, so servers wrap other values as
    /// `{"result": …}`. If the type does not fit the object, the wrapped value is tried.
    ///
    /// # Errors
    ///
    /// If the tool failed, or its result does not have this type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        if self.is_error() {
            return Err(Error::failed(&self.tool, self.text()));
        }
        let shape = |error| Error::shape(&self.tool, error);
        let Some(json) = self.structured() else {
            return self.result.parse().map_err(shape);
        };
        json.parse().or_else(|error| unwrapped(json).ok_or(shape(error)))
    }

    /// Turns a failure of the tool into an error, for programs without a model.
    ///
    /// # Errors
    ///
    /// If the tool failed; the error holds its text.
    pub fn into_result(self) -> Result<Self> {
        if self.is_error() { Err(Error::failed(&self.tool, self.text())) } else { Ok(self) }
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.result.is_error
    }

    /// The content blocks, for the model.
    pub fn content(&self) -> &[Content] {
        &self.result.content
    }

    /// The structured content, for programs.
    pub fn structured(&self) -> Option<&RawJson> {
        self.result.structured_content.as_ref()
    }

    /// The result's `_meta`.
    pub fn meta(&self) -> &Meta {
        &self.result.meta
    }

    /// The result as the server sent it, to pass it on.
    pub fn into_message(self) -> CallToolResult {
        self.result
    }

    /// The outcome for the audit record.
    pub(crate) fn judge(&self) -> ToolCallOutcome {
        if self.is_error() { ToolCallOutcome::ToolFailed } else { ToolCallOutcome::Succeeded }
    }

    /// Reads a result, and checks it if the tool is known.
    pub(crate) fn read(tool: String, result: &RawJson, known: Option<&KnownTool>) -> Result<Self> {
        let result: CallToolResult = request::read(&tool, result)?;
        match known.map_or(Ok(()), |known| known.check(&result)) {
            Ok(()) => Ok(Self { tool, result }),
            Err(reason) => Err(Error::output(&tool, reason)),
        }
    }
}

/// The value inside `{"result": …}`, if there is no other member and it has this type.
fn unwrapped<T: DeserializeOwned>(json: &RawJson) -> Option<T> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped {
        result: RawJson,
    }

    json.parse::<Wrapped>().ok()?.result.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(result: &str) -> ToolOutcome {
        ToolOutcome::read("sum".to_owned(), &RawJson::from_text(result).unwrap(), None).unwrap()
    }

    #[test]
    fn structured_content_is_preferred_to_text() {
        let both = r#"{"content":[{"type":"text","text":"[1]"}],"structuredContent":[2]}"#;
        assert_eq!(outcome(both).parse::<Vec<u8>>().unwrap(), [2]);
        let text = r#"{"content":[{"type":"text","text":"[1,"},{"type":"text","text":"2]"}]}"#;
        assert_eq!(outcome(text).parse::<Vec<u8>>().unwrap(), [1, 2]);
    }

    #[test]
    fn a_value_that_was_wrapped_for_an_older_client_is_unwrapped_if_it_fits() {
        let wrapped = outcome(r#"{"content":[],"structuredContent":{"result":[1,2]}}"#);
        assert_eq!(wrapped.parse::<Vec<u8>>().unwrap(), [1, 2]);

        #[derive(Deserialize)]
        struct Sum {
            result: Vec<u8>,
        }
        assert_eq!(wrapped.parse::<Sum>().unwrap().result, [1, 2], "the object itself goes first");

        let more = outcome(r#"{"content":[],"structuredContent":{"result":[1,2],"unit":"kg"}}"#);
        assert!(more.parse::<Vec<u8>>().is_err());
    }

    #[test]
    fn the_error_for_a_result_of_another_type_names_the_tool_and_the_place() {
        let error = outcome(r#"{"structuredContent":{"a":1}}"#).parse::<Vec<u8>>().unwrap_err();
        let expected = "calling `sum`: the result is not of the type wanted: \
                        expected an array, found an object";
        assert_eq!(error.to_string(), expected);
        assert!(error.is_invalid_answer());
    }

    // spec: TOOL-37
    #[test]
    fn a_failure_of_the_tool_is_a_value_until_it_is_turned_into_an_error() {
        let failed = outcome(r#"{"content":[{"type":"text","text":"no disk"}],"isError":true}"#);
        assert!(failed.is_error());
        assert_eq!(failed.text(), "no disk");
        let error = failed.parse::<u8>().unwrap_err();
        assert!(error.is_tool_failure());
        let error = failed.into_result().unwrap_err();
        assert_eq!(error.to_string(), "calling `sum`: the tool failed: no disk");
    }

    #[test]
    fn a_result_that_is_no_tool_result_is_an_invalid_answer() {
        let result = RawJson::from_text(r#"{"content":7}"#).unwrap();
        let error = ToolOutcome::read("sum".to_owned(), &result, None).unwrap_err();
        assert!(error.is_invalid_answer(), "{error}");
        assert!(
            error.to_string().starts_with("calling `sum`: the server's answer is invalid: `result")
        );
    }
}
