//! Asking the user: by a form that the client shows, or by a web page that the user visits.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::ClientCapabilities;
use crate::json::{Json, Object};
use crate::legacy::task::TaskMetadata;
use crate::member::{self, constant};
use crate::meta::Meta;
use crate::method::Method;
use crate::rpc::{Notice, Rpc};

pub mod schema;

use schema::FormSchema;

/// `elicitation/create`.
pub enum Elicit {}

impl Rpc for Elicit {
    const METHOD: Method = Method::ElicitationCreate;
    type Params = ElicitParams;
    type Result = ElicitResult;
}

/// `notifications/elicitation/complete`: what began with a URL is done (2025-11-25 only).
pub enum ElicitationComplete {}

impl Notice for ElicitationComplete {
    const METHOD: Method = Method::ElicitationComplete;
    type Params = ElicitationCompleteParams;
}

/// What to ask the user, and how.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// By a form. Missing `mode` means this, and this is written without it, because 2025-06-18
    /// knows no modes.
    Form(FormParams),
    /// By a web page.
    Url(UrlParams),
    /// In a way that this library does not know; to be refused.
    Other(Json),
}

impl ElicitParams {
    /// Asks by a form.
    pub fn form(message: impl Into<String>, schema: FormSchema) -> Self {
        Self::Form(FormParams::new(message, schema))
    }

    /// Asks by a web page.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(UrlParams::new(message, url))
    }

    /// What a client must declare to be asked this. Nothing is known of unknown ways.
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

        let json = Json::deserialize(deserializer)?;
        let Tagged { mode } = json.parse().map_err(serde::de::Error::custom)?;
        match mode.as_deref() {
            None | Some("form") => member::variant(&json, "elicitation", "form").map(Self::Form),
            Some("url") => member::variant(&json, "elicitation", "url").map(Self::Url),
            Some(_) => Ok(Self::Other(json)),
        }
    }
}

/// A form to show. Never ask for secrets this way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FormParams {
    /// What is asked, and why.
    pub message: String,
    /// The fields.
    pub requested_schema: FormSchema,
    /// Asks for a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl FormParams {
    /// Asks by a form.
    pub fn new(message: impl Into<String>, schema: FormSchema) -> Self {
        Self { message: message.into(), requested_schema: schema, task: None }
    }
}

constant!(UrlMode = "url");

/// A web page to visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UrlParams {
    mode: UrlMode,
    /// What is asked, and why.
    pub message: String,
    /// Where. What a peer sent is checked by [`UrlParams::check_url`], not when it is read.
    pub url: String,
    /// Names the question for [`ElicitationComplete`] (2025-11-25 only, and compulsory there).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Asks for a task (2025-11-25 only).
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

    /// Names the question.
    #[must_use]
    pub fn with_elicitation_id(mut self, id: impl Into<String>) -> Self {
        self.elicitation_id = Some(id.into());
        self
    }

    /// Checks that the URL is one a browser opens: `https` or `http`, a host, and no blanks.
    ///
    /// # Errors
    ///
    /// Names the URL and what is wrong with it.
    pub fn check_url(&self) -> Result<(), InvalidUrl> {
        let invalid =
            |reason| Err(InvalidUrl { url: self.url.chars().take(200).collect(), reason });
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return invalid("it has no scheme; write `https://…`");
        };
        if !["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return invalid("its scheme is neither `https` nor `http`");
        }
        if self.url.chars().any(|it| it.is_whitespace() || it.is_control()) {
            return invalid("it holds blanks or control characters");
        }
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        if host.is_empty() || host.starts_with(':') {
            return invalid("it has no host");
        }
        Ok(())
    }
}

/// A URL that cannot be visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidUrl {
    url: String,
    reason: &'static str,
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elicitation URL `{}`: {}", self.url, self.reason)
    }
}

impl std::error::Error for InvalidUrl {}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ElicitAction {
    /// Answered. For a web page: agreed to visit it, and no more than that.
    Accept,
    /// Said no.
    Decline,
    /// Made no choice.
    Cancel,
}

/// What the user did, and the answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The answers, by field; only of a form that was accepted. They are checked by
    /// [`FormSchema::check`], not when they are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Object>,
    /// Anything beside.
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

    /// The user said no.
    pub fn decline() -> Self {
        Self { action: ElicitAction::Decline, content: None, meta: Meta::new() }
    }

    /// The user made no choice.
    pub fn cancel() -> Self {
        Self { action: ElicitAction::Cancel, content: None, meta: Meta::new() }
    }
}

/// Which question is done (2025-11-25 only).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCompleteParams {
    /// Its name.
    pub elicitation_id: String,
}

impl ElicitationCompleteParams {
    /// This one is done.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into() }
    }
}

/// `data` of [`URL_ELICITATION_REQUIRED`](crate::error::code::URL_ELICITATION_REQUIRED): what must
/// be done first (2025-11-25 only).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The questions, each with its name.
    pub elicitations: Vec<UrlParams>,
}

impl UrlElicitationRequired {
    /// These must be done first.
    pub fn new(elicitations: Vec<UrlParams>) -> Self {
        Self { elicitations }
    }
}

#[cfg(test)]
mod tests;
