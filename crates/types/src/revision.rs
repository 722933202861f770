//! The dated revisions of the specification, and every difference between them by name.
//!
//! Only this file and the `since` and `until` columns of [`crate::method`] compare revisions. All
//! other code asks one of the predicates here. A predicate names the difference, not the era:
//! `has_log_level_per_request` says why the code branches, `is_modern` does not.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A dated revision of the specification, oldest first.
///
/// ```
/// use bowline_types::Revision;
///
/// let revision: Revision = "2025-06-18".parse()?;
/// assert!(revision < Revision::LATEST);
/// // Ask for the difference that matters, not for the date.
/// assert!(revision.has_structured_output() && !revision.has_icons());
/// # Ok::<(), bowline_types::revision::UnknownRevision>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first published revision: stdio and HTTP+SSE.
    V2024_11_05,
    /// Adds Streamable HTTP, batches, audio and tool annotations.
    V2025_03_26,
    /// Adds structured output, elicitation, resource links and titles. Removes batches.
    V2025_06_18,
    /// Adds icons, URL elicitation, sampling with tools and experimental tasks.
    V2025_11_25,
    /// Stateless: no handshake and no sessions. A server asks its questions inside results.
    V2026_07_28,
}

/// The two ways in which client and server agree on a revision and on capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: an `initialize` handshake fixes revision and capabilities for the whole
    /// connection or session.
    Legacy,
    /// Since 2026-07-28: every request carries its revision and the client's capabilities.
    Modern,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// Constants, and the date as text.
impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];

    /// The newest revision.
    pub const LATEST: Self = V2026_07_28;

    /// The newest revision that begins with a handshake.
    pub const LATEST_LEGACY: Self = V2025_11_25;

    /// The date as it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }
}

/// What changed when the protocol became stateless on 2026-07-28.
impl Revision {
    /// The era of this revision, for code that hands a whole message to one of two paths.
    pub fn era(self) -> Era {
        if self < V2026_07_28 { Era::Legacy } else { Era::Modern }
    }

    /// Whether this revision is of [`Era::Modern`].
    ///
    /// For code that chooses between two paths. Code that only needs to know one difference asks
    /// for that difference, such as [`has_server_requests`](Self::has_server_requests).
    pub fn is_modern(self) -> bool {
        self.era() == Era::Modern
    }

    /// A connection begins with `initialize`, which fixes the revision and the capabilities of
    /// both sides.
    ///
    /// Without a handshake every request carries the revision and the client's capabilities in its
    /// `_meta`, and `server/discover` tells the server's.
    pub fn has_handshake(self) -> bool {
        self.era() == Era::Legacy
    }

    /// A server remembers a client between two requests: its log level, its subscriptions, and
    /// over HTTP a session that a GET opens a stream of and a DELETE ends.
    pub fn has_sessions(self) -> bool {
        self < V2026_07_28
    }

    /// A server sends requests of its own: sampling, elicitation, roots, `ping`.
    ///
    /// Without them, only clients send requests, and only servers send progress.
    pub fn has_server_requests(self) -> bool {
        self < V2026_07_28
    }

    /// A server asks inside a result (`inputRequests`), and the client sends its request again with
    /// the answers (`inputResponses`).
    ///
    /// Before, a server asked by [requests of its own](Self::has_server_requests).
    pub fn has_input_requests(self) -> bool {
        !self.has_server_requests()
    }

    /// Every result says by `resultType` whether it is complete or asks for input, and names the
    /// server in its `_meta`.
    pub fn has_result_type(self) -> bool {
        V2026_07_28 <= self
    }

    /// Results may say how long and for which callers they may be cached.
    pub fn has_cache_hints(self) -> bool {
        V2026_07_28 <= self
    }

    /// A request names in its `_meta` the least level of log messages that it wants; without the
    /// key it gets none.
    ///
    /// Before, `logging/setLevel` set the level of the session.
    pub fn has_log_level_per_request(self) -> bool {
        V2026_07_28 <= self
    }

    /// A client opens one stream for all changes with `subscriptions/listen`.
    ///
    /// Before, it subscribed to each resource by `resources/subscribe`, and the server sent changes
    /// of its lists to every session.
    pub fn has_listen(self) -> bool {
        V2026_07_28 <= self
    }

    /// `notifications/roots/list_changed`, and `listChanged` in the client's `roots` capability.
    pub fn has_roots_changes(self) -> bool {
        self < V2026_07_28
    }

    /// A request that needs a capability which the client lacks has an error code of its own
    /// (−32021), whose data names the capability.
    pub fn has_missing_capability_code(self) -> bool {
        V2026_07_28 <= self
    }

    /// An unknown resource has an error code of its own (−32002). Since 2026-07-28 it is an invalid
    /// parameter.
    pub fn has_resource_not_found_code(self) -> bool {
        self < V2026_07_28
    }

    /// HTTP requests repeat method, name and some arguments in the headers `Mcp-Method`,
    /// `Mcp-Name` and `Mcp-Param-…`.
    pub fn has_mirrored_headers(self) -> bool {
        V2026_07_28 <= self
    }

    /// A client may resume a broken HTTP stream after the last event that it received.
    ///
    /// Without resumption, a broken stream ends its request.
    pub fn has_resumption(self) -> bool {
        self < V2026_07_28
    }

    /// Over HTTP, a client cancels a request by closing its stream. Before, it sent
    /// `notifications/cancelled`.
    pub fn cancels_by_closing(self) -> bool {
        V2026_07_28 <= self
    }

    /// `extensions` in capabilities, and the official tasks extension. Programs may declare extensions
    /// of their own in the handshake of older revisions, too.
    pub fn has_extensions(self) -> bool {
        V2026_07_28 <= self
    }

    /// `structuredContent` may be any JSON value and `outputSchema` any schema. Before, both were
    /// objects at their root.
    pub fn has_structured_output_of_any_type(self) -> bool {
        V2026_07_28 <= self
    }

    /// The schema of a property may be `true` or `false`. Before, it was an object.
    pub fn has_boolean_schemas(self) -> bool {
        V2026_07_28 <= self
    }

    /// Content blocks and roles are sent as they are, also where the schema lists no such kind, since
    /// an extension may have defined it. Before, the lists are closed: a block of another kind becomes
    /// text, another role is left out.
    pub fn has_open_content(self) -> bool {
        V2026_07_28 <= self
    }
}

/// Messages and transports.
impl Revision {
    /// JSON arrays of messages. Only 2025-03-26 has them.
    pub fn has_batches(self) -> bool {
        self == V2025_03_26
    }

    /// An error whose request could not be read is sent without `id`.
    ///
    /// Before, it cannot be sent at all: the schema requires an id and forbids `null`.
    pub fn has_errors_without_id(self) -> bool {
        V2025_11_25 <= self
    }

    /// Streamable HTTP. Before, a server over HTTP sends everything on one stream of events.
    pub fn has_streamable_http(self) -> bool {
        V2025_03_26 <= self
    }

    /// Over HTTP, a server that protects itself is its own authorization server, at its origin.
    /// Later, a document names the authorization servers.
    pub fn has_authorization_at_origin(self) -> bool {
        self == V2025_03_26
    }

    /// HTTP requests name the revision in the header `MCP-Protocol-Version`.
    pub fn has_version_header(self) -> bool {
        V2025_06_18 <= self
    }

    /// An HTTP stream begins with an event that has an id and no message, so that a client can
    /// resume it from its very beginning. A server may then close the stream and have the client
    /// come back after a while.
    pub fn has_first_event_id(self) -> bool {
        self == V2025_11_25
    }

    /// `message` in progress notifications.
    pub fn has_progress_message(self) -> bool {
        V2025_03_26 <= self
    }
}

/// What servers offer.
impl Revision {
    /// `audio` content. Older peers get a line of text instead.
    pub fn has_audio(self) -> bool {
        V2025_03_26 <= self
    }

    /// `resource_link` content. Older peers get the link as text.
    pub fn has_resource_links(self) -> bool {
        V2025_06_18 <= self
    }

    /// `annotations` on tools.
    pub fn has_tool_annotations(self) -> bool {
        V2025_03_26 <= self
    }

    /// `structuredContent` and `outputSchema`.
    pub fn has_structured_output(self) -> bool {
        V2025_06_18 <= self
    }

    /// `title` beside `name`.
    pub fn has_titles(self) -> bool {
        V2025_06_18 <= self
    }

    /// `_meta` on tools, resources, prompts, content blocks and roots.
    pub fn has_meta_on_items(self) -> bool {
        V2025_06_18 <= self
    }

    /// `lastModified` in annotations.
    pub fn has_last_modified(self) -> bool {
        V2025_06_18 <= self
    }

    /// `icons`, and `description` and `websiteUrl` of an implementation.
    pub fn has_icons(self) -> bool {
        V2025_11_25 <= self
    }

    /// The `completions` server capability. Before, completion needed no capability.
    pub fn has_completions_capability(self) -> bool {
        V2025_03_26 <= self
    }

    /// `context` in `completion/complete`.
    pub fn has_completion_context(self) -> bool {
        V2025_06_18 <= self
    }

    /// The experimental tasks of the core protocol, and `execution` on tools. Only 2025-11-25 has
    /// them; later they are an extension.
    pub fn has_core_tasks(self) -> bool {
        self == V2025_11_25
    }
}

/// What servers ask.
impl Revision {
    /// Elicitation: a server may ask the user to fill in a form.
    pub fn has_elicitation(self) -> bool {
        V2025_06_18 <= self
    }

    /// Elicitation by form and by URL; defaults on every field; enums with titles or several
    /// choices.
    pub fn has_elicitation_modes(self) -> bool {
        V2025_11_25 <= self
    }

    /// A URL elicitation has an `elicitationId`, the server notifies the client of its completion,
    /// and error −32042 may name elicitations that a request needs first. Only 2025-11-25 has this.
    pub fn has_elicitation_ids(self) -> bool {
        self == V2025_11_25
    }

    /// Tools, tool choice and arrays of content in sampling.
    pub fn has_sampling_tools(self) -> bool {
        V2025_11_25 <= self
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error of parsing a [`Revision`]: the text is not the date of a known revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRevision(String);

impl UnknownRevision {
    /// The text that was parsed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a known revision; known are", self.0)?;
        for (position, revision) in Revision::ALL.iter().enumerate() {
            write!(f, "{} {revision}", if position == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownRevision {}

impl FromStr for Revision {
    type Err = UnknownRevision;

    #[inline]
    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
