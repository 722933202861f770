//! The mark of an open stream in a shared store: which endpoint writes it, and what it answers.
//!
//! A mark exists while its stream is open. It names the endpoint by the id of its lease
//! ([`super::replica`]), and the requests whose answers are to come. An endpoint whose client resumes
//! the stream of a dead endpoint answers them with errors.

use bowline_proto::frame::{Frame, Message, RequestMessage};
use bowline_proto::limits::Limits;
use bowline_types::id::RequestId;
use bowline_types::read::{read, text};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The requests of a POST that was parsed before. Keeping them would cost every answer that is not a
/// stream a copy.
pub(super) fn requests_of(body: &Bytes, limits: &Limits) -> Vec<RequestMessage> {
    let messages = match Frame::parse(body, limits) {
        Ok(Frame::Message(message)) => vec![message],
        Ok(Frame::Batch(items)) => items.into_iter().flatten().collect(),
        Err(_) => Vec::new(),
    };
    let requests = messages.into_iter().filter_map(|message| match message {
        Message::Request(request) => Some(request),
        Message::Response(_) | Message::Notification(_) => None,
    });
    requests.collect()
}

/// What the mark of a stream says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamMark {
    /// The lease of the endpoint that writes the stream.
    pub(super) replica: String,
    /// The requests of the POST.
    pub(super) requests: Vec<RequestId>,
}

impl StreamMark {
    /// The mark of the stream that answers a POST with this body.
    pub(super) fn new(replica: &str, body: &Bytes, limits: &Limits) -> Self {
        let requests = requests_of(body, limits).into_iter().map(|request| request.id).collect();
        Self { replica: replica.to_owned(), requests }
    }

    /// The mark as the store keeps it.
    pub(super) fn text(&self) -> Bytes {
        // All of its parts can be written as JSON.
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Reads a mark. `None` if another version has written it.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        read(text(bytes).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_all_requests_of_a_post() {
        let ping = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for (body, ids) in [
            (ping.to_owned(), vec![RequestId::from("a")]),
            (format!("[{ping},{note},{ping}]"), vec![RequestId::from("a"), RequestId::from("a")]),
            ("{".to_owned(), vec![]),
        ] {
            let mark = StreamMark::new("replica", &body.clone().into(), &Limits::default());
            assert_eq!(mark.requests, ids, "{body}");
            assert_eq!(StreamMark::parse(&mark.text()), Some(mark));
        }
    }
}
