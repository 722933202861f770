//! Sets the log level of a session (up to 2025-11-25).

use bowline_transport::connect::Link;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::legacy::set_level::{SetLevel, SetLevelParams};
use bowline_types::rpc::Rpc;

use crate::error::Result;
use crate::request;

/// Asks the server to send log messages of this level and more severe.
pub(crate) async fn set(link: &Link, level: LoggingLevel) -> Result<()> {
    let request = request::of::<SetLevel>(&SetLevelParams::new(level));
    request::ask(link, SetLevel::METHOD.name(), request).await.map(drop)
}
