//! The serde types of the Model Context Protocol, for all five revisions.
//!
//! There is one set of types. It has the shape of the newest revision and reads every revision.
//! [`revision`] and [`method`] define which method and member exists in which revision;
//! `bowline-proto` enforces it. This crate knows no JSON-RPC envelopes, no transports and no time.
//!
//! Wire types have public fields, a `new` with the required ones and a `with_…` for most optional
//! ones. They ignore members that they do not know, and keep enum values that they do not know. Some
//! rules are not checked while a message is read, because one bad member should not cost the whole
//! message. A `check_…` method beside the type checks such a rule.
//!
//! # Reading order
//!
//! What the protocol is:
//!
//! * [`revision`]: the five dated revisions, and every difference between them by name.
//! * [`method`]: the one table of methods: which side sends which method in which revision.
//! * [`rpc`]: the types of params and result of each method.
//!
//! What every message has:
//!
//! * [`id`]: request ids, progress tokens and cursors.
//! * [`json`]: JSON that is passed on as text.
//! * [`quote`]: finding the end of a JSON string, and writing one.
//! * [`read`]: reading JSON into a type, with errors in plain words.
//! * [`meta`]: `_meta`, the open map in every message.
//! * [`trace`]: the keys of `_meta` that carry a trace context.
//! * [`error`]: the error object that one side sends to the other.
//! * [`empty`]: params and results without members.
//! * [`hidden`]: control characters and invisible characters.
//! * [`text`]: counts and excerpts for error messages.
//! * [`host`]: which hosts of URLs are this machine.
//!
//! Capabilities and identity:
//!
//! * [`capability`]: what each side can do, and what it lacks for a request.
//! * [`implementation`]: name, version and icons of each side.
//! * [`discover`]: the result of `server/discover`.
//!
//! What servers offer:
//!
//! * [`content`]: the blocks of tool results, prompts and sampling.
//! * [`tool`]: functions that a model may call.
//! * [`resource`]: things that a client reads by URI.
//! * [`template`]: URI templates (RFC 6570): parsing, expanding, matching.
//! * [`prompt`]: messages that a user may start from.
//! * [`completion`]: suggestions while a user types an argument.
//! * [`page`]: lists that are sent in pages.
//! * [`cache`]: how long, and for which callers, a result may be cached.
//! * [`namespace`]: prefixes that keep the names of several servers apart.
//!
//! While a request runs:
//!
//! * [`progress`]: how far a request has come.
//! * [`task`]: what tasks of all revisions have in common.
//! * [`cancel`]: cancelling a request.
//! * [`subscription`]: which changes a client wants to be notified of.
//!
//! What servers ask:
//!
//! * [`elicitation`]: asking the user, by form or by web page.
//! * [`input`]: questions inside results, and their answers inside retried requests.
//!
//! Not in every revision:
//!
//! * [`deprecated`]: sampling, roots and logging. New programs should not use them.
//! * [`legacy`]: what 2026-07-28 removed, such as the handshake.
//! * [`ext`]: official extensions.

// One group per group of the reading order above; the formatter sorts within a group.

pub mod method;
pub mod revision;
pub mod rpc;

pub mod empty;
pub mod error;
pub mod hidden;
pub mod host;
pub mod id;
pub mod json;
pub mod meta;
pub mod quote;
pub mod read;
pub mod text;
pub mod time;
pub mod trace;

pub mod capability;
pub mod discover;
pub mod implementation;

pub mod cache;
pub mod completion;
pub mod content;
pub mod namespace;
pub mod page;
pub mod prompt;
pub mod resource;
pub mod template;
pub mod tool;

pub mod cancel;
pub mod progress;
pub mod subscription;
pub mod task;

pub mod elicitation;
pub mod input;

pub mod deprecated;
pub mod ext;
pub mod legacy;

mod invalid;
mod member;
mod ordered;
#[cfg(test)]
mod round_trip;
mod setters;

pub use capability::{ClientCapabilities, ServerCapabilities};
pub use content::{Content, Role};
pub use error::ErrorObject;
pub use id::{Cursor, ProgressToken, RequestId};
pub use implementation::{Icon, Implementation};
pub use input::Outcome;
pub use json::{Base64, Object, RawJson, Schema};
pub use meta::Meta;
pub use method::Method;
pub use prompt::PromptDefinition;
pub use resource::{ResourceContents, ResourceDefinition, ResourceTemplate};
pub use revision::{Era, Revision};
pub use rpc::{Notification, Rpc};
pub use template::UriTemplate;
pub use tool::{CallToolResult, ToolDefinition};
