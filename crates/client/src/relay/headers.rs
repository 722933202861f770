//! Headers that repeat arguments of a tool (2026-07-28), between a caller and the upstream server.
//!
//! The caller's headers are checked against its arguments (XMH-21). Which arguments they repeat is known
//! once the tool was listed, so the first call over HTTP lists the tools, if need be: a header may be
//! missing. Later a call of an unknown tool lists them only if it has such headers. A key that
//! occurs twice in the arguments is refused, because the upstream server might read the other value. The
//! client makes those for the upstream server anew. Headers that no mark of the tool asks for pass
//! (XMH-25).

use bowline_proto::mirror::ParamHeader;
use bowline_proto::request::Request;
use bowline_types::error::ErrorObject;

use super::{Relay, refusal};

impl Relay {
    /// The headers of a call that pass to the upstream server as they are.
    ///
    /// # Errors
    ///
    /// If a header is missing or differs from the argument that it repeats, if a key of the arguments
    /// occurs twice, or if there are headers and the tools cannot be listed.
    pub(super) async fn passed_headers(
        &self,
        tool: &str,
        request: &Request,
    ) -> Result<Vec<ParamHeader>, ErrorObject> {
        let arguments = request.params.object("arguments").map_err(ErrorObject::misread_params)?;
        arguments
            .check_names_within()
            .map_err(|error| ErrorObject::misread_params(error.at_member("arguments")))?;
        let Some(headers) = &request.parts.headers else { return Ok(Vec::new()) };
        let application = &self.client.application;
        let mut known = application.listed(tool);
        // Without headers one may be missing. A tool that is in no list is looked for once.
        let may_miss = !arguments.is_empty() && !application.has_searched_tools();
        if known.is_none() && (may_miss || !headers.is_empty()) {
            let listed = self.client.tools().all().await;
            application.note_tool_search();
            if !headers.is_empty() {
                listed.map_err(|error| refusal::of(&error, request))?;
            }
            known = application.listed(tool);
        }
        let marks = known.as_ref().map(|known| known.marks()).unwrap_or_default();
        headers.check(marks, &arguments)?;
        match self.client.revision().has_mirrored_headers() {
            true if known.is_some() => Ok(headers.unmarked(marks)),
            // Whether a header is marked is not known, and two with one name are refused.
            _ => Ok(Vec::new()),
        }
    }
}
