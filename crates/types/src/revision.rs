//! The dated revisions of the specification, and every difference between them by name.
//!
//! This is the only file that compares revisions (beside the `since` and `until` columns of
//! [`crate::method`]). Everything else asks one of the predicates here, so that "what changed in
//! which revision" is read in one place.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A dated revision of the specification, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first published revision: stdio and HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP, batches, audio, tool annotations.
    V2025_03_26,
    /// Structured output, elicitation, resource links, titles; batches are gone.
    V2025_06_18,
    /// Icons, URL elicitation, sampling with tools, experimental tasks.
    V2025_11_25,
    /// Stateless: no handshake, no sessions, questions travel inside results.
    V2026_07_28,
}

/// How a client and a server come to terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// An `initialize` handshake fixes revision and capabilities for a connection or session.
    Legacy,
    /// Every request carries its revision and the client's capabilities.
    Modern,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];

    /// The newest revision.
    pub const LATEST: Self = V2026_07_28;

    /// The newest revision that begins with a handshake.
    pub const LATEST_LEGACY: Self = V2025_11_25;

    /// Whether client and server shake hands, or each request stands alone.
    pub fn era(self) -> Era {
        if self < V2026_07_28 { Era::Legacy } else { Era::Modern }
    }

    /// Whether requests stand alone ([`Era::Modern`]).
    pub fn is_modern(self) -> bool {
        self.era() == Era::Modern
    }

    /// The date as it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// JSON arrays of messages came and went with this one revision.
    pub fn has_batches(self) -> bool {
        self == V2025_03_26
    }

    /// An error whose request could not be read is sent without `id`; before, it cannot be sent
    /// at all, because the schema demands an id and forbids `null`.
    pub fn has_errors_without_id(self) -> bool {
        V2025_11_25 <= self
    }

    /// `audio` content; older peers get a line of text instead.
    pub fn has_audio(self) -> bool {
        V2025_03_26 <= self
    }

    /// `annotations` on tools.
    pub fn has_tool_annotations(self) -> bool {
        V2025_03_26 <= self
    }

    /// The `completions` server capability; before, completion needed none.
    pub fn has_completions_capability(self) -> bool {
        V2025_03_26 <= self
    }

    /// `message` in progress notifications.
    pub fn has_progress_message(self) -> bool {
        V2025_03_26 <= self
    }

    /// `resource_link` content; older peers get the link as text.
    pub fn has_resource_links(self) -> bool {
        V2025_06_18 <= self
    }

    /// `structuredContent` and `outputSchema`, whose roots are objects.
    pub fn has_structured_output(self) -> bool {
        V2025_06_18 <= self
    }

    /// `structuredContent` may be any JSON value and `outputSchema` any schema.
    pub fn has_any_structured_output(self) -> bool {
        V2026_07_28 <= self
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

    /// `context` in `completion/complete`.
    pub fn has_completion_context(self) -> bool {
        V2025_06_18 <= self
    }

    /// Servers may ask the user by form.
    pub fn has_elicitation(self) -> bool {
        V2025_06_18 <= self
    }

    /// Form and URL modes, defaults on every field, titled and multiple enums.
    pub fn has_elicitation_modes(self) -> bool {
        V2025_11_25 <= self
    }

    /// URL questions carry an `elicitationId`, announce completion, and may block a request with
    /// error −32042.
    pub fn has_elicitation_ids(self) -> bool {
        self == V2025_11_25
    }

    /// `icons`, and `description` and `websiteUrl` of a program.
    pub fn has_icons(self) -> bool {
        V2025_11_25 <= self
    }

    /// Streamable HTTP; before, a server over HTTP has one stream for all that it says.
    pub fn has_streamable_http(self) -> bool {
        V2025_03_26 <= self
    }

    /// HTTP requests name the revision in the header `MCP-Protocol-Version`.
    pub fn has_version_header(self) -> bool {
        Self::V2025_06_18 <= self
    }

    /// Streams over HTTP begin with a place to come back to, and servers may send clients away for
    /// a while.
    pub fn has_stream_places(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Tools, tool choice and content arrays in sampling.
    pub fn has_sampling_tools(self) -> bool {
        V2025_11_25 <= self
    }

    /// The experimental tasks of the core protocol, with `execution` on tools.
    pub fn has_core_tasks(self) -> bool {
        self == V2025_11_25
    }

    /// `extensions` in capabilities.
    pub fn has_extensions(self) -> bool {
        V2026_07_28 <= self
    }

    /// An unknown resource has an error code of its own (−32002); since 2026-07-28 it is an
    /// invalid parameter.
    pub fn has_resource_not_found_code(self) -> bool {
        self < V2026_07_28
    }

    /// Negotiated revision and capabilities bind both sides (a SHOULD before).
    pub fn binds_to_negotiation(self) -> bool {
        V2025_06_18 <= self
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A date that names no revision known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRevision(String);

impl UnknownRevision {
    /// The text that was to be read.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no revision known here; known are", self.0)?;
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
mod tests {
    use super::*;

    // spec: LIFE-25
    #[test]
    fn a_revision_is_read_from_its_whole_date_only() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        for near in ["2025-06-19", "2025-06", "2025-06-18 ", "2025-6-18", "DRAFT-2026-v1", ""] {
            assert_eq!(near.parse::<Revision>().unwrap_err().as_str(), near);
        }
    }

    #[test]
    fn only_the_latest_revision_is_stateless() {
        let modern: Vec<_> = Revision::ALL.into_iter().filter(|r| r.is_modern()).collect();
        assert_eq!(modern, [Revision::LATEST]);
    }

    #[test]
    fn an_unknown_revision_says_which_are_known() {
        let error = "1.0".parse::<Revision>().unwrap_err().to_string();
        assert!(error.contains("`1.0`") && error.contains("2024-11-05, 2025-03-26"), "{error}");
    }
}
