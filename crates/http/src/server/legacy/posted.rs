//! What a POST keeps of its message once a session has taken it.

use bowline_proto::frame::{Frame, Message};
use bowline_proto::server::SessionChange;
use bowline_types::id::RequestId;

/// The requests of a POST, and what they change in the session.
pub(super) struct Posted {
    requests: Requests,
    /// Empty unless several endpoints serve the session.
    changes: Vec<SessionChange>,
}

/// The ids of the requests. An array of messages is rare (2025-03-26), so a single id is not on the
/// heap.
enum Requests {
    None,
    One(RequestId),
    Batch(Vec<RequestId>),
}

impl Posted {
    /// What to keep of a message. Changes are kept only if the session `is_shared`, since nothing else
    /// can refuse them.
    pub(super) fn new(frame: &Frame, is_shared: bool) -> Self {
        let requests = match frame {
            Frame::Message(Message::Request(request)) => Requests::One(request.id.clone()),
            Frame::Message(_) => Requests::None,
            Frame::Batch(_) => {
                Requests::Batch(frame.requests().map(|request| request.id.clone()).collect())
            }
        };
        let changes = match is_shared {
            true => frame.requests().filter_map(SessionChange::of).collect(),
            false => Vec::new(),
        };
        Self { requests, changes }
    }

    /// The id of its one request. `None` for an array of messages.
    pub(super) fn id(&self) -> Option<&RequestId> {
        match &self.requests {
            Requests::One(id) => Some(id),
            Requests::None | Requests::Batch(_) => None,
        }
    }

    /// The ids of all its requests.
    pub(super) fn ids(&self) -> &[RequestId] {
        match &self.requests {
            Requests::None => &[],
            Requests::One(id) => std::slice::from_ref(id),
            Requests::Batch(ids) => ids,
        }
    }

    /// What its requests change in a shared session.
    pub(super) fn changes(&self) -> &[SessionChange] {
        &self.changes
    }
}

#[cfg(test)]
mod tests {
    use bowline_proto::limits::Limits;

    use super::*;

    fn posted(body: &str) -> Posted {
        Posted::new(&Frame::parse(&body.to_owned().into(), &Limits::default()).unwrap(), true)
    }

    const LEVEL: &str =
        r#"{"jsonrpc":"2.0","id":"a","method":"logging/setLevel","params":{"level":"error"}}"#;
    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

    #[test]
    fn a_post_names_all_its_requests_and_what_they_change() {
        let (one, note) = (posted(LEVEL), posted(NOTE));
        assert_eq!((one.id(), one.ids().len(), one.changes().len()), (Some(&"a".into()), 1, 1));
        assert_eq!((note.id(), note.ids().len(), note.changes().len()), (None, 0, 0));
        let batch = posted(&format!("[{LEVEL},{NOTE},{LEVEL}]"));
        assert_eq!((batch.id(), batch.ids().len(), batch.changes().len()), (None, 2, 2));
    }
}
