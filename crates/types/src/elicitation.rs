//! Elicitation: a server asks the user, by a form in the client or by a web page.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::ClientCapabilities;
use crate::invalid::invalid_value;
use crate::json::{Object, RawJson};
use crate::member::{self, constant};
use crate::meta::Meta;
use crate::rpc::{notification, request};
use crate::setters::setters;
use crate::task::TaskMetadata;

pub mod schema;

use schema::FormSchema;

request! {
    /// `elicitation/create`.
    Elicit = ElicitationCreate(ElicitParams) -> ElicitResult
}

notification! {
    /// `notifications/elicitation/complete`: the user has finished a URL elicitation (2025-11-25 only).
    ElicitationComplete = ElicitationComplete(ElicitationCompleteParams)
}

/// A question to the user, by form or by URL.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// By form. Without `mode` it is a form, and a form is written without `mode`, because
    /// 2025-06-18 has no modes.
    Form(FormParams),
    /// By a web page.
    Url(UrlParams),
    /// By a mode that this library does not know. The receiver must refuse it.
    Other(RawJson),
}

impl ElicitParams {
    /// Asks by form.
    pub fn form(message: impl Into<String>, schema: FormSchema) -> Self {
        Self::Form(FormParams::new(message, schema))
    }

    /// Asks by a web page.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(UrlParams::new(message, url))
    }

    /// The capabilities that a client needs to answer. None for unknown modes.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        match self {
            Self::Form(_) => ClientCapabilities::new().with_form_elicitation(),
            Self::Url(_) => ClientCapabilities::new().with_url_elicitation(),
            Self::Other(_) => ClientCapabilities::new(),
        }
    }
}

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Form(params) => params.serialize(serializer),
            Self::Url(params) => params.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Tagged {
            #[serde(default)]
            mode: Option<String>,
        }

        let json = RawJson::deserialize(deserializer)?;
        let Tagged { mode } = json.parse().map_err(serde::de::Error::custom)?;
        match mode.as_deref() {
            None | Some("form") => member::variant(&json, "elicitation", "form").map(Self::Form),
            Some("url") => member::variant(&json, "elicitation", "url").map(Self::Url),
            Some(_) => Ok(Self::Other(json)),
        }
    }
}

/// A form that the client shows. Never ask for secrets this way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FormParams {
    /// The question and its reason, for the user.
    pub message: String,
    /// The fields of the form.
    pub requested_schema: FormSchema,
    /// Asks to run the question as a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl FormParams {
    /// Asks by form.
    pub fn new(message: impl Into<String>, schema: FormSchema) -> Self {
        Self { message: message.into(), requested_schema: schema, task: None }
    }
}

constant!(UrlMode = "url");

/// A web page that the user visits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UrlParams {
    mode: UrlMode,
    /// The question and its reason, for the user.
    pub message: String,
    /// The URL. Unchecked: call [`UrlParams::check_url`] before the user visits it.
    pub url: String,
    /// The id for [`ElicitationComplete`]. Required in 2025-11-25, absent in other revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Asks to run the question as a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl UrlParams {
    /// Asks by a web page.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            mode: UrlMode,
            message: message.into(),
            url: url.into(),
            elicitation_id: None,
            task: None,
        }
    }

    setters! {
        /// Sets the id for [`ElicitationComplete`].
        with_elicitation_id(id: impl Into<String>) { elicitation_id = Some(id.into()) }
    }

    /// Checks that a browser can open the URL: `https` or `http`, a host, and no whitespace.
    ///
    /// # Errors
    ///
    /// Names the URL and what is wrong with it.
    pub fn check_url(&self) -> Result<(), InvalidElicitationUrl> {
        let invalid = |reason: &'static str| {
            Err(InvalidElicitationUrl::new(self.url.chars().take(200).collect::<String>(), reason))
        };
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return invalid("it has no scheme; write `https://…`");
        };
        if !["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return invalid("its scheme is neither `https` nor `http`");
        }
        if self.url.chars().any(|it| it.is_whitespace() || it.is_control()) {
            return invalid("it contains whitespace or control characters");
        }
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        if host.is_empty() || host.starts_with(':') {
            return invalid("it has no host");
        }
        Ok(())
    }
}

invalid_value! {
    /// The error for a URL that a user must not be sent to.
    InvalidElicitationUrl, "elicitation URL"
}

/// The choice of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ElicitAction {
    /// The user answered. For a web page: the user agreed to visit it; the outcome is not known.
    Accept,
    /// The user refused.
    Decline,
    /// The user closed the question without a choice.
    Cancel,
}

/// The choice of the user, and the answers.
///
/// A server must [check](FormSchema::check) the answers against its form before it uses them.
///
/// ```
/// use bowline_types::elicitation::{ElicitAction, ElicitResult};
///
/// #[derive(serde::Deserialize)]
/// struct Trip { city: String }
///
/// let json = r#"{"action":"accept","content":{"city":"Oslo"}}"#;
/// let result: ElicitResult = serde_json::from_str(json).unwrap();
/// assert_eq!(result.action, ElicitAction::Accept);
/// let trip: Trip = result.content.unwrap().parse().unwrap();
/// assert_eq!(trip.city, "Oslo");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// The choice of the user.
    pub action: ElicitAction,
    /// The answers by field, if the user accepted a form. Unchecked: call [`FormSchema::check`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Object>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ElicitResult {
    /// The user answered a form.
    pub fn accept(content: Object) -> Self {
        Self { action: ElicitAction::Accept, content: Some(content), meta: Meta::new() }
    }

    /// The user agreed to visit a web page.
    pub fn consent() -> Self {
        Self { action: ElicitAction::Accept, content: None, meta: Meta::new() }
    }

    /// The user refused.
    pub fn decline() -> Self {
        Self { action: ElicitAction::Decline, content: None, meta: Meta::new() }
    }

    /// The user closed the question without a choice.
    pub fn cancel() -> Self {
        Self { action: ElicitAction::Cancel, content: None, meta: Meta::new() }
    }
}

/// The URL elicitation that is finished (2025-11-25 only).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCompleteParams {
    /// The [`UrlParams::elicitation_id`].
    pub elicitation_id: String,
}

impl ElicitationCompleteParams {
    /// The elicitation with this id is finished.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into() }
    }
}

/// `data` of [`URL_ELICITATION_REQUIRED`](crate::error::code::URL_ELICITATION_REQUIRED): the
/// elicitations that the user must finish first (2025-11-25 only).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The elicitations, each with its id.
    pub elicitations: Vec<UrlParams>,
}

impl UrlElicitationRequired {
    /// The user must finish these first.
    pub fn new(elicitations: Vec<UrlParams>) -> Self {
        Self { elicitations }
    }
}

#[cfg(test)]
mod tests;
