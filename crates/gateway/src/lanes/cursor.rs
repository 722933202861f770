//! Cursors of one connection, which no other connection gets.
//!
//! A server may keep what a cursor means in its process or session. A new one would refuse the cursor,
//! or take it for another place. So cursors carry the number of the connection that gave them, and the
//! gateway refuses others (PAGE-7). A server over HTTP without sessions must understand its cursors in
//! any connection, and another gateway may have passed them on, so those stay as they are.

use bowline_proto::members::Members;
use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bytes::Bytes;

use super::guards::Lease;
use crate::refusal;

/// The connection that the cursor of a request belongs to, if it belongs to one.
pub(super) fn connection(request: &Request) -> Option<u64> {
    if !refusal::is_list(request.parts.method) {
        return None;
    }
    let cursor = request.params.string("cursor").ok()??;
    cursor.split_once('.')?.0.parse().ok()
}

/// The connection that cursors belong to; `None` if they do not belong to one.
pub(super) struct CursorScope(Option<u64>);

impl CursorScope {
    pub(super) fn of(lease: &Lease, is_process: bool) -> Self {
        let is_session = is_process || lease.met().revision.has_handshake();
        Self(is_session.then(|| lease.number()))
    }

    /// A request for a page, with the cursor of the server.
    ///
    /// # Errors
    ///
    /// If another connection gave the cursor.
    pub(super) fn open(&self, mut request: Request) -> Result<Request, ErrorObject> {
        let Some(number) = self.0 else { return Ok(request) };
        let cursor = request.params.string("cursor").map_err(ErrorObject::misread_params)?;
        let Some(cursor) = cursor else { return Ok(request) };
        let own = cursor.split_once('.').filter(|(own, _)| *own == number.to_string());
        let (_, own) = own.ok_or_else(|| {
            ErrorObject::invalid_params(
                "`params.cursor` is of a connection that has ended; begin again without it",
            )
        })?;
        request.params = request.params.with("cursor", own);
        Ok(request)
    }

    /// A page with a cursor that names the connection.
    ///
    /// # Errors
    ///
    /// If the page cannot be read.
    pub(super) fn close(&self, page: Success) -> Response {
        let Some(number) = self.0 else { return Ok(page) };
        let text = page.body().as_str();
        if !text.contains("\"nextCursor\"") {
            return Ok(page);
        }
        let invalid =
            |error: &dyn ToString| ErrorObject::internal(format!("a page: {}", error.to_string()));
        let members = Members::cut(Bytes::copy_from_slice(text.as_bytes()));
        let members = members.map_err(|error| invalid(&error))?;
        let next = members.string("nextCursor").map_err(|error| invalid(&error))?;
        let Some(next) = next else { return Ok(page) };
        let members = members.with("nextCursor", &format!("{number}.{next}"));
        let body = RawJson::from_text(members.as_str()).map_err(|error| invalid(&error))?;
        Ok(Success::raw(body, page.meta().clone()).with_cache(page.cache()))
    }
}
