//! Headers that repeat arguments of a tool (2026-07-28), between a caller and the upstream server.
//!
//! The caller's headers are checked against its arguments, as far as the tool was listed (XMH-21). The
//! client makes those for the upstream server anew. Headers that no mark of the tool asks for pass
//! (XMH-25).

use bowline_proto::members::Members;
use bowline_proto::mirror::ParamHeader;
use bowline_proto::request::Request;
use bowline_types::error::ErrorObject;

use super::Relay;

impl Relay {
    /// The headers of a call that pass to the upstream server as they are.
    ///
    /// # Errors
    ///
    /// If a header is missing or differs from the argument that it repeats.
    pub(super) fn passed_headers(
        &self,
        tool: &str,
        request: &Request,
    ) -> Result<Vec<ParamHeader>, ErrorObject> {
        let Some(headers) = &request.parts.headers else { return Ok(Vec::new()) };
        let known = self.client.application.listed(tool);
        let marks = known.as_ref().map(|known| known.marks()).unwrap_or_default();
        let arguments = request.params.bytes("arguments").unwrap_or_default();
        // Unreadable arguments are refused by the upstream server.
        headers.check(marks, &Members::cut(arguments).unwrap_or_default())?;
        match self.client.revision().has_mirrored_headers() {
            true if known.is_some() => Ok(headers.unmarked(marks)),
            // Whether a header is marked is not known, and two with one name are refused.
            _ => Ok(Vec::new()),
        }
    }
}
