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

mod client;

mod builder;

pub mod connect;

mod era;

mod host;

mod call;

mod tools;

mod result;

mod list;

mod answer;

mod error;

pub use bowline_proto::limits::Limits;
pub use bowline_transport::child::Command;
/// The vocabulary of the protocol.
pub use bowline_types as types;

pub use crate::answer::{Answer, Question};
pub use crate::builder::ClientBuilder;
pub use crate::call::Call;
pub use crate::client::Client;
pub use crate::error::{Error, Result};
pub use crate::list::List;
pub use crate::result::ToolOutcome;
