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
//! A [`Client`] finds out by itself which revision its server speaks. [`Call`]s take options and are
//! awaited; dropping one cancels it. [`List`]s are streams. Servers ask the user through
//! [`ClientBuilder::on_ask`], and all that goes wrong is an [`Error`] with predicates.
//!
//! # What servers offer
//!
//! | | listed by | used by | changes |
//! |---|---|---|---|
//! | tools | [`tools`](Client::tools) | [`call`](Client::call) | [`Subscribe::tools`] |
//! | resources | [`resources`](Client::resources), [`resource_templates`](Client::resource_templates) | [`read`](Client::read) | [`Subscribe::resources`], [`Subscribe::resource`] |
//! | prompts | [`prompts`](Client::prompts) | [`prompt`](Client::prompt), [`complete`](Client::complete) | [`Subscribe::prompts`] |
//!
//! Whether a server offers any of it is known beforehand ([`Client::capabilities`]), and what it
//! does not offer is never asked of it. What a tool returns is held against the schema that its
//! server listed it with. [`Client::subscribe`] gives changes as a stream, also from servers that
//! know no subscriptions. On demand, lists and contents are [kept](ClientBuilder::cache) for as
//! long as their server says, and silent servers [asked](ClientBuilder::keep_alive) whether they are
//! still there.
//!
//! # Whose client it is
//!
//! A server's tools are somebody else's code, and what it asks for may be the user's. What the
//! application has to say to that, it says before it connects:
//!
//! | when | hooks | without them |
//! |---|---|---|
//! | a tool is about to run | [`on_call`], [`trust_annotations`] | it runs |
//! | a tool has run | [`audit`] | nothing is kept |
//! | the server asks the user | [`on_ask`], [`allow_urls`] | it is told that it cannot |
//! | the server asks the model | [`on_sample`], [`review_sampling`], [`review_sampled`] | the same |
//! | the server asks for roots | [`roots`], [`permit_roots`] | the same |
//! | the server has something to say | [`on_log`], [`on_odd`] | nobody listens |
//!
//! Give each server a [`label`] and show that: what a server calls itself is no name to rely on.
//! Answers, arguments and conversations are checked against what they answer and then passed on;
//! they stand in no error, log line or audit record of this library. URLs are never opened or
//! fetched here. How often and how much a server may ask is bounded by [`Limits`].
//!
//! Several servers make a [`Group`], in which each is called by a name of the application's own and
//! none hears of another. [`Client::relay`] makes one a service, for a server to mount.
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

mod client;

mod builder;

pub mod connect;

#[cfg(feature = "http")]
mod http;

#[cfg(not(feature = "http"))]
mod disabled;

mod era;

mod host;

mod hook;

mod server;

mod call;

mod tools;

mod resources;

mod prompts;

mod complete;

mod subscribe;

mod inbox;

mod result;

mod list;

mod answer;

mod page;

mod sensitive;

mod sample;

mod roots;

mod consent;

mod audit;

mod catalogue;

mod group;

mod relay;

mod error;

#[cfg(feature = "http")]
pub use bowline_http::client::{HttpClientLimits, HttpTransport};
pub use bowline_proto::client::CacheOptions;
pub use bowline_proto::limits::Limits;
pub use bowline_proto::mirror::x_mcp_header;
pub use bowline_transport::child::{Command, Restart};
/// The vocabulary of the protocol.
pub use bowline_types as types;

pub use crate::answer::{Answer, Question};
pub use crate::audit::{AuditOutcome, AuditRecord};
pub use crate::builder::ClientBuilder;
pub use crate::call::Call;
pub use crate::client::Client;
pub use crate::complete::Completing;
pub use crate::consent::{Consent, ToolCall};
pub use crate::error::{Error, Result};
pub use crate::group::{Group, InvalidMember, Listing, Sourced};
#[cfg(feature = "http")]
pub use crate::http::Http;
pub use crate::list::List;
pub use crate::page::{Page, Suspicion};
pub use crate::relay::Relay;
pub use crate::resources::Contents;
pub use crate::result::ToolOutcome;
pub use crate::sample::{Review, SamplingAnswer, SamplingRequest};
pub use crate::subscribe::{Change, Changes, Subscribe};
