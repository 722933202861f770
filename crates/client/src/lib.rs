//! Call Model Context Protocol servers of any revision.
//!
//! ```no_run
//! use bowline_client::{Client, Command};
//! use serde_json::json;
//!
//! # async fn example() -> bowline_client::Result<()> {
//! let git = Client::connect(Command::new("uvx").arg("mcp-server-git")).await?;
//! for tool in git.tools().all().await? {
//!     println!("{}", tool.display_name());
//! }
//! let status = git.call("git_status", json!({ "repo_path": "." })).await?.text();
//! git.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Client`] detects which revision its server speaks. A [`ClientCall`] takes options and is
//! awaited; dropping it cancels the call. A [`List`] is a stream. Questions of the server go to
//! [`ClientBuilder::on_ask`]. Every failure is an [`Error`] with predicates.
//!
//! # What servers offer
//!
//! | | listed by | used by | changes |
//! |---|---|---|---|
//! | tools | [`tools`](Client::tools) | [`call`](Client::call) | [`SubscriptionBuilder::tools`] |
//! | resources | [`resources`](Client::resources), [`resource_templates`](Client::resource_templates) | [`read`](Client::read) | [`SubscriptionBuilder::resources`], [`SubscriptionBuilder::resource`] |
//! | prompts | [`prompts`](Client::prompts) | [`prompt`](Client::prompt), [`complete`](Client::complete) | [`SubscriptionBuilder::prompts`] |
//!
//! [`Client::capabilities`] says what the server offers; a call of something else fails without
//! being sent. The result of a tool is checked against the output schema that its server listed.
//! [`Client::subscribe`] returns changes as a stream, also from servers of older revisions. With
//! [`ClientBuilder::cache`], lists and resources are kept as long as their server allows. With
//! [`ClientBuilder::keep_alive`], a silent server is pinged.
//!
//! A call fails with a timeout after 60 seconds without an answer or progress, unless
//! [`Limits::request_timeout`] or [`ClientCall::timeout`] says otherwise.
//!
//! # Control of the application
//!
//! A server's tools are foreign code, and the server may ask for data of the user. The application
//! sets its hooks before it connects:
//!
//! | when | hooks | without them |
//! |---|---|---|
//! | a tool is about to run | [`on_call`], [`trust_annotations`] | it runs |
//! | a tool has run | [`audit`] | nothing is recorded |
//! | the server asks the user | [`on_ask`], [`allow_urls`] | the client declares that it cannot be asked |
//! | the server asks the model | [`on_sample`], [`review_sampling`], [`review_sampled`] | the same |
//! | the server asks for roots | [`roots`], [`permit_roots`] | the same |
//! | the server logs, breaks a rule, or is restarted | [`on_log`], [`on_diagnostic`] | the message is dropped |
//!
//! Give each server a [`label`] and show that to the user: the name that a server gives itself
//! cannot be trusted. This library puts no answers, arguments or conversations into errors, log
//! lines or audit records. It never opens or fetches URLs. [`Limits`] bounds how often and how much
//! a server may ask.
//!
//! A [`Group`] offers the tools of several servers under names that the application chooses.
//! [`Client::relay`] makes a client a service that a server can mount.
//!
//! [`allow_urls`]: ClientBuilder::allow_urls
//! [`audit`]: ClientBuilder::audit
//! [`label`]: ClientBuilder::label
//! [`on_ask`]: ClientBuilder::on_ask
//! [`on_call`]: ClientBuilder::on_call
//! [`on_log`]: ClientBuilder::on_log
//! [`on_diagnostic`]: ClientBuilder::on_diagnostic
//! [`on_sample`]: ClientBuilder::on_sample
//! [`permit_roots`]: ClientBuilder::permit_roots
//! [`review_sampled`]: ClientBuilder::review_sampled
//! [`review_sampling`]: ClientBuilder::review_sampling
//! [`roots`]: ClientBuilder::roots
//! [`trust_annotations`]: ClientBuilder::trust_annotations

// In reading order: modules use those of their own group and of the groups below. `builder` and
// `client` use each other, as do `inbox` and `subscribe`.

// Several servers offered as one, and a client as a service that a server can mount.
mod group;
mod relay;

// What an application does with a server: the calls of each feature, as methods of the client.
mod complete;
mod prompts;
mod resources;
mod roots;
mod server_extension;
#[cfg(feature = "skills")]
mod skills;
mod task_handle;
mod tools;
mod view;

// Changes that a server reports, as streams; those that wait for their reader.
mod inbox;
mod subscribe;

// Connecting over HTTP, and logging in; the methods of features that are off.
#[cfg(not(feature = "auth"))]
mod disabled;
#[cfg(feature = "http")]
mod http;

// The handle to one server, and what is configured before it connects.
mod builder;
mod client;

// How a connection is opened: over any transport, or to a command; servers known to be legacy.
pub mod connect;
mod era;

// One call: its options, the task that it may become, and how its result is read.
mod call;
mod list;
mod log_level;
mod request;
mod task;
mod tool_outcome;

// The application behind a client: its handlers, and what they know of the server.
mod host;

// What the handlers of the application get, and what they answer.
mod answer;
mod audit;
mod caller;
mod catalogue;
mod consent;
mod extension;
mod question_tasks;
mod root_list;
mod sample;
mod sensitive;
mod server_identity;
mod task_hints;

// What everything above uses.
mod deadline;
mod error;
mod hook;
mod web_page;

#[cfg(feature = "http")]
pub use bowline_http::client::{HttpClientLimits, HttpTransport};
pub use bowline_proto::client::CacheOptions;
pub use bowline_proto::limits::Limits;
pub use bowline_proto::mirror::x_mcp_header;
pub use bowline_proto::transmit::ConnectFailure;
#[cfg(feature = "skills")]
pub use bowline_skills::{Skill, SkillFile, SkillFiles, SkillMismatch};
pub use bowline_transport::child::{Command, Restart};
pub use bowline_transport::connect::ClientLayer;
/// The vocabulary of the protocol.
pub use bowline_types as types;

pub use crate::answer::{Answer, Question};
pub use crate::audit::{ToolCallOutcome, ToolCallRecord};
pub use crate::builder::ClientBuilder;
pub use crate::call::ClientCall;
pub use crate::client::Client;
pub use crate::complete::CompletionBuilder;
pub use crate::consent::{Consent, ToolCall};
pub use crate::error::{Error, Result};
pub use crate::extension::ClientExtension;
pub use crate::group::{FromMember, Group, InvalidMember, Listing};
#[cfg(feature = "auth")]
pub use crate::http::ServerLogin;
#[cfg(feature = "http")]
pub use crate::http::{ClientAuthorization, HttpServer, ProtectedServer};
pub use crate::list::List;
pub use crate::relay::{Relay, RelayFailure};
pub use crate::resources::Contents;
pub use crate::sample::{Review, SamplingAnswer, SamplingRequest};
pub use crate::server_extension::ServerExtension;
#[cfg(feature = "skills")]
pub use crate::skills::LoadedSkill;
pub use crate::subscribe::{Change, Changes, SubscriptionBuilder};
pub use crate::task_handle::{TaskHandle, TaskState};
pub use crate::tool_outcome::ToolOutcome;
pub use crate::view::View;
pub use crate::web_page::{Suspicion, WebPage};
