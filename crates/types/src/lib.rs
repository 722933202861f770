//! The vocabulary of the Model Context Protocol: what messages say, in all five revisions.
//!
//! There is one set of types, shaped like the newest revision, that reads every revision. What may
//! be said in which revision is decided elsewhere, with the help of the first two modules here.
//! Nothing here knows of JSON-RPC envelopes, transports or time.
//!
//! Types that stand on the wire have public members, a `new` that takes the compulsory ones and
//! `with_…` for the others. They ignore members they do not know and keep words they do not know.
//! Some promise more than they check when they are read, because a peer's slip should not cost
//! the whole message; then a `check_…` beside them tells whether the promise is kept.
//!
//! # Reading order
//!
//! What the protocol is:
//!
//! * [`revision`]: the five dated revisions, and every difference between them by name.
//! * [`method`]: the one table of methods, with who sends what in which revision.
//! * [`rpc`]: ties each method to the types of its params and result.
//!
//! What every message has:
//!
//! * [`id`]: request ids, progress tokens and cursors.
//! * [`json`]: JSON that is carried and not read.
//! * [`quote`]: strings of JSON, found and written quickly.
//! * [`read`]: JSON that is read, with errors in plain words.
//! * [`meta`]: `_meta`, the open map beside everything.
//! * [`trace`]: the keys of `_meta` that belong to a trace.
//! * [`error`]: the error that one side sends the other.
//! * [`empty`]: params and results that say nothing.
//! * [`text`]: parts of messages for people.
//!
//! Who is there:
//!
//! * [`capability`]: what each side can do, and what it lacks for a request.
//! * [`implementation`]: who each side says it is, and icons.
//! * [`discover`]: what a server says about itself when asked.
//!
//! What servers offer:
//!
//! * [`content`]: the blocks that tools return, prompts say and models are asked with.
//! * [`tool`]: functions that a model may call.
//! * [`resource`]: things that can be read by their URI.
//! * [`template`]: URIs with places to fill in.
//! * [`prompt`]: messages that a user may start from.
//! * [`completion`]: suggestions while an argument is typed.
//! * [`page`]: long lists, a page at a time.
//! * [`cache`]: how long an answer stays good, and for whom.
//! * [`namespace`]: names of several servers side by side.
//!
//! What happens meanwhile:
//!
//! * [`progress`]: how far a request has come.
//! * [`cancel`]: taking a request back.
//! * [`subscription`]: hearing of changes.
//!
//! What servers ask:
//!
//! * [`elicitation`]: asking the user, by form or by web page.
//! * [`input`]: how questions and answers travel, and what a request came to.
//!
//! What only some speak:
//!
//! * [`deprecated`]: sampling, roots and logging, which nobody should adopt anew.
//! * [`legacy`]: what ended with 2025-11-25, such as the handshake.
//! * [`ext`]: official extensions.

// The groups of the reading order; within each the formatter sorts.

pub mod method;
pub mod revision;
pub mod rpc;

pub mod empty;
pub mod error;
pub mod id;
pub mod json;
pub mod meta;
pub mod quote;
pub mod read;
pub mod text;
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

pub mod elicitation;
pub mod input;

pub mod deprecated;
pub mod ext;
pub mod legacy;

mod member;
mod ordered;

pub use capability::{ClientCapabilities, ServerCapabilities};
pub use content::{Content, Role};
pub use error::ErrorObject;
pub use id::{Cursor, ProgressToken, RequestId};
pub use implementation::{Icon, Implementation};
pub use input::Outcome;
pub use json::{Base64, Json, Object, Schema};
pub use meta::Meta;
pub use method::Method;
pub use prompt::Prompt;
pub use resource::{Resource, ResourceContents, ResourceTemplate};
pub use revision::{Era, Revision};
pub use rpc::{Notice, Rpc};
pub use template::UriTemplate;
pub use tool::{CallToolResult, Tool};
