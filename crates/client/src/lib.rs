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
//! | the server logs, or breaks a rule | [`on_log`], [`on_odd`] | the message is dropped |
//!
//! Give each server a [`label`] and show that to the user: the name that a server gives itself
//! cannot be trusted. This library puts no answers, arguments or conversations into errors, log
//! lines or audit records. It never opens or fetches URLs. [`Limits`] bounds how often and how much
//! a server may ask.
//!
//! A [`Group`] offers the tools of several servers under names that the application chooses.
//! [`Client::relay`] makes a client a service that a server can mount.
//!
//! # Reading order
//!
//! For readers of the source. Connecting:
//!
//! * `client`: the handle of an application to one server.
//! * `builder`: the configuration of a client before it connects.
//! * [`connect`]: what a client can connect to: a command to start, or any transport.
//! * `http`: connecting over HTTP, and logging in; `disabled`: methods of features that are off.
//! * `era`: remembers which servers begin with a handshake.
//!
//! Calls:
//!
//! * `call`: one call: its options, its answer, reading the result.
//! * `error`: the errors of a client, and whether a retry may help.
//! * `list`: paged lists as streams.
//! * `tools`: lists and calls tools.
//! * `tool_outcome`: the result of a tool, and how to read it.
//! * `deadline`: times that lie ahead.
//! * `catalogue`: the tools of the last list, against which results are checked.
//! * `resources`, `prompts`, `complete`: the calls of the other features.
//! * `skills`: lists, loads and verifies skills.
//! * `log_level`: sets the log level of a session.
//! * `server_extension`: calls of methods that extensions define.
//! * `task`: calls that the server continues as tasks.
//!
//! Changes:
//!
//! * `subscribe`: subscriptions to changes, as streams.
//! * `inbox`: the changes of one subscription that wait for their reader.
//!
//! Questions of the server:
//!
//! * `host`: the application behind a client: its handlers, and what they know of the server.
//! * `extension`: the extensions that the application declares, and their notifications.
//! * `hook`: functions that the application registered.
//! * `server_identity`: which server a question or a record belongs to.
//! * `answer`: questions to the user, and their answers.
//! * `web_page`: pages that the user is to visit, and what is suspicious about them.
//! * `sensitive`: guesses whether a text asks for a secret.
//! * `sample`: requests to the application's model.
//! * `question_tasks`: questions that the server asks as tasks.
//! * `roots`: sets the roots of a connection; `root_list`: checks them.
//!
//! Control of tool calls:
//!
//! * `consent`: asks the application before a tool call.
//! * `audit`: one record per tool call.
//!
//! Several servers, and servers behind servers:
//!
//! * `group`: several servers, offered as one.
//! * `relay`: a client as a service that a server can mount.
//!
//! [`allow_urls`]: ClientBuilder::allow_urls
//! [`audit`]: ClientBuilder::audit
//! [`label`]: ClientBuilder::label
//! [`on_ask`]: ClientBuilder::on_ask
//! [`on_call`]: ClientBuilder::on_call
//! [`on_log`]: ClientBuilder::on_log
//! [`on_odd`]: ClientBuilder::on_odd
//! [`on_sample`]: ClientBuilder::on_sample
//! [`permit_roots`]: ClientBuilder::permit_roots
//! [`review_sampled`]: ClientBuilder::review_sampled
//! [`review_sampling`]: ClientBuilder::review_sampling
//! [`roots`]: ClientBuilder::roots
//! [`trust_annotations`]: ClientBuilder::trust_annotations

// One group per group of the reading order above; the formatter sorts within a group.

mod builder;
mod client;
pub mod connect;
mod deadline;
#[cfg(not(feature = "auth"))]
mod disabled;
mod era;
#[cfg(feature = "http")]
mod http;

mod call;
mod catalogue;
mod complete;
mod error;
mod list;
mod log_level;
mod prompts;
mod resources;
mod server_extension;
#[cfg(feature = "skills")]
mod skills;
mod task;
mod tool_outcome;
mod tools;
mod view;

mod inbox;
mod subscribe;

mod answer;
mod extension;
mod hook;
mod host;
mod question_tasks;
mod root_list;
mod roots;
mod sample;
mod sensitive;
mod server_identity;
mod web_page;

mod audit;
mod consent;

mod group;
mod relay;

#[cfg(feature = "http")]
pub use bowline_http::client::{HttpClientLimits, HttpTransport, connect_failure};
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
pub use crate::task::{TaskHandle, TaskState};
pub use crate::tool_outcome::ToolOutcome;
pub use crate::view::View;
pub use crate::web_page::{Suspicion, WebPage};
