//! The errors of a gateway for its callers: which server, and whether the call may have run.
//!
//! They hold no arguments, addresses or output of the server.

use std::fmt;
use std::time::Duration;

use bowline_client::RelayFailure;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use serde::{Deserialize, Serialize};

use crate::unavailable::{Unavailable, UnavailableKind};

/// The `data` of an error that a failure of a server behind the gateway caused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpstreamFailure {
    /// The configured name of the server.
    pub server: String,
    /// Whether the server may have run the call. If not, it can be repeated safely.
    pub may_have_run: bool,
}

/// The keys of the configuration file that change limits; `None` without such a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keys {
    list: Option<&'static str>,
    start: Option<&'static str>,
}

impl Keys {
    /// Those of the `gateway` section.
    pub(crate) const OF_GATEWAY: Self =
        Self { list: Some("listSeconds"), start: Some("startSeconds") };
}

/// How long a server had, and how it gets longer.
struct Waited {
    limit: Duration,
    key: Option<&'static str>,
}

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "within {} s", self.limit.as_secs())?;
        self.key.map_or(Ok(()), |key| write!(f, "; `{key}` waits longer"))
    }
}

/// The server does not run, or not yet, so the call was not made.
pub(crate) fn unavailable(server: &str, why: &Unavailable, keys: Keys) -> ErrorObject {
    let what = match why.kind {
        UnavailableKind::Slow(limit) => {
            let waited = Waited { limit, key: keys.start };
            return failed(server, &format!("did not start {waited}"), false);
        }
        UnavailableKind::Ended => "is not running: it ended by itself",
        UnavailableKind::Stopped => "is not running: it was stopped",
        UnavailableKind::NotStarted => "is not running: it could not be started",
    };
    failed(server, what, false)
}

/// The server was stopped for good.
pub(crate) fn closed(server: &str) -> ErrorObject {
    unavailable(server, &Unavailable::stopped(), Keys::default())
}

/// The server ended before it answered.
pub(crate) fn ended(server: &str, may_have_run: bool) -> ErrorObject {
    failed(server, "ended before it answered", may_have_run)
}

/// The call failed on its way to the server, or its answer on the way back.
pub(crate) fn undelivered(server: &str, error: &ErrorObject, may_have_run: bool) -> ErrorObject {
    let data = UpstreamFailure { server: server.to_owned(), may_have_run };
    ErrorObject::internal(RelayFailure::message_for(error, server)).with_data(&data)
}

/// The server took longer for a list than this.
pub(crate) fn slow(server: &str, limit: Duration, keys: Keys) -> ErrorObject {
    let waited = Waited { limit, key: keys.list };
    failed(server, &format!("did not answer {waited}"), false)
}

/// The server did not begin to report changes, so the caller does not follow the resource.
pub(crate) fn unattached(server: &str) -> ErrorObject {
    failed(server, "did not begin to report changes in time", false)
}

/// Other callers use all processes or sessions of the server that the owner of the call may have.
pub(crate) fn busy(server: &str) -> ErrorObject {
    failed(server, "is busy with calls of other callers; try again later", false)
}

/// Calls from the address of this one use all processes or sessions that are not left to others.
pub(crate) fn busy_with_peer(server: &str) -> ErrorObject {
    let what = "is busy with other calls from your network address; try again later";
    failed(server, what, false)
}

/// The call asked, and other calls needed its process or session before the caller answered.
pub(crate) fn recalled(server: &str) -> ErrorObject {
    failed(server, "was needed by other callers while this call waited for an answer", true)
}

/// Too many processes or sessions of the server are in use.
pub(crate) fn full(server: &str) -> ErrorObject {
    failed(server, "has too many callers", false)
}

fn failed(server: &str, what: &str, may_have_run: bool) -> ErrorObject {
    let data = UpstreamFailure { server: server.to_owned(), may_have_run };
    ErrorObject::internal(format!("the server `{server}` {what}")).with_data(&data)
}

/// Whether a call of this method changes nothing, so that a second one does no harm. Hints of tools
/// are not trusted for this.
pub(crate) fn is_repeatable(method: Method) -> bool {
    is_list(method)
        || matches!(method, Method::ResourcesRead | Method::PromptsGet | Method::CompletionComplete)
}

/// Whether the method lists something.
pub(crate) fn is_list(method: Method) -> bool {
    matches!(
        method,
        Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::ResourcesTemplatesList
    )
}
