//! What endpoints that share a store publish to each other about their sessions.
//!
//! All sessions of a store share one topic, and each endpoint has one task that receives from it. A
//! topic may lose a message. A lost change is found at the next request or upkeep. A lost answer or
//! cancellation is like one lost on a bad connection: the question times out, the call runs on.
//!
//! Every endpoint reads what one publishes. So the messages of a client have a pace (`broadcast_pace`);
//! what changes a record is a call, and calls have a pace of their own.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::frame::{Frame, Message, MethodName, NotificationMessage};
use bowline_proto::server::Attached;
use bowline_store::backend::{BoxStream, Error};
use bowline_store::{Backend, Key};
use bowline_types::id::RequestId;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::read::{read, text};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::super::core::Core;
use super::session::HttpSession;

/// How long to wait before subscribing again to a topic that has ended.
const PAUSE: Duration = Duration::from_secs(1);

/// A message to the other endpoints about one session. A change of the record carries no content:
/// receivers read the record. So a late or repeated message does no harm.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Broadcast {
    /// The id of the session.
    pub(super) session: String,
    /// The lease of the endpoint that publishes, and so does not handle the message itself.
    pub(super) replica: String,
    /// A message of the client that other copies may need. Without it, the record has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<RawJson>,
}

/// One topic for all sessions, so that an endpoint holds one subscription and not one for each
/// session.
fn topic() -> Key {
    Key::new(["sessions"])
}

/// Publishes a message of the client, or without one that the record of a session has changed.
///
/// # Errors
///
/// If the store fails, or the message is not JSON.
pub(super) async fn publish(
    core: &Core,
    session: &str,
    message: Option<&Bytes>,
) -> Result<(), Error> {
    let message = message.map(|message| text(message).and_then(read)).transpose();
    let message = message.map_err(|error| Error::new("a message is not JSON").caused_by(error))?;
    let (session, replica) = (session.to_owned(), core.replica.clone());
    let broadcast = Broadcast { session, replica, message };
    let broadcast = serde_json::to_vec(&broadcast);
    let broadcast =
        broadcast.map_err(|error| Error::new("a broadcast cannot be written").caused_by(error))?;
    core.config.store.publish(&topic(), broadcast.into()).await
}

/// Subscribes to what the other endpoints publish.
///
/// # Errors
///
/// If the store fails.
pub(super) async fn subscribe(
    store: &Arc<dyn Backend>,
) -> Result<BoxStream<'static, Bytes>, Error> {
    store.listen(&topic()).await
}

/// Passes every message to `handle`, and subscribes again whenever the topic ends. `handle` gets `None`
/// if messages may have been missed.
///
/// Runs in a task until the endpoint is dropped. What is published while the topic is not
/// subscribed to is lost, so records are read again afterwards.
pub(super) async fn receive_all(
    store: Arc<dyn Backend>,
    mut messages: BoxStream<'static, Bytes>,
    handle: impl Fn(Option<Broadcast>) + Send,
) {
    loop {
        while let Some(message) = std::future::poll_fn(|cx| messages.as_mut().poll_next(cx)).await {
            // An endpoint of another version may publish what this one cannot read.
            match text(&message).and_then(read) {
                Ok(broadcast) => handle(Some(broadcast)),
                Err(_) if message.is_empty() => handle(None),
                Err(_) => {}
            }
        }
        messages = loop {
            tokio::time::sleep(PAUSE).await;
            if let Ok(messages) = subscribe(&store).await {
                handle(None);
                break messages;
            }
        };
    }
}

/// Hands a session a message that its client sent to another endpoint. The message is parsed again
/// and cut down to what may be for others: the endpoint that took it has served the rest.
pub(super) fn hand_over(message: &RawJson, session: &Arc<HttpSession>) {
    let message = Bytes::copy_from_slice(message.as_str().as_bytes());
    if let Ok(frame) = Frame::parse(&message, session.core.server.limits())
        && let Some(frame) = for_others(frame)
    {
        // Requests are never for others, so there is no answer to wait for.
        let _ = session.receive(frame.into(), Attached::default(), None);
    }
}

/// Whether a message that came to this copy may be for another. `is_open` says whether a question of
/// this copy has an id and is not answered yet.
pub(super) fn is_for_others(frame: &Frame, is_open: impl Fn(&RequestId) -> bool) -> bool {
    match frame {
        Frame::Message(message) => may_concern(message, &is_open),
        Frame::Batch(items) => items.iter().flatten().any(|item| may_concern(item, &is_open)),
    }
}

/// The part of a message that may be for other copies than the one that took it. An array of
/// messages (2025-03-26) is cut item by item.
fn for_others(frame: Frame) -> Option<Frame> {
    let may_concern = |message: &Message| may_concern(message, &|_| false);
    match frame {
        Frame::Message(message) => may_concern(&message).then_some(Frame::Message(message)),
        Frame::Batch(mut items) => {
            items.retain(|item| item.as_ref().is_ok_and(&may_concern));
            Some(Frame::Batch(items))
        }
    }
}

/// Whether a message may be for a copy that did not take it. Answers and progress are for the copy that
/// asked: for another one unless the question is open here. The number of the copy in the id does not
/// tell, because two copies have the same one after the store lost data. A cancellation is for the copy
/// that serves the call; the client chose the call's id, so it does not tell which copy that is.
fn may_concern(message: &Message, is_open: &impl Fn(&RequestId) -> bool) -> bool {
    let is_foreign = |id: Option<RequestId>| {
        id.is_some_and(|id| id.as_integer().is_some_and(|number| number >= 0) && !is_open(&id))
    };
    match message {
        Message::Request(_) => false,
        Message::Response(response) => is_foreign(response.id.clone()),
        Message::Notification(NotificationMessage { method, params }) => match method {
            MethodName::Known(Method::Cancelled) => true,
            MethodName::Known(Method::Progress) => {
                let params = params.parse_all::<ProgressParams>();
                is_foreign(params.ok().map(|params| params.progress_token.0))
            }
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use bowline_proto::limits::Limits;

    use super::*;

    fn frame(text: &str) -> Frame {
        Frame::parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
    }

    #[test]
    fn answers_and_progress_go_to_the_copy_that_asked() {
        let asked = (2_i64 << 32) + 7;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{{}}}}"#);
        let params = format!(r#"{{"progressToken":{asked},"progress":1}}"#);
        let progress =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
        for text in [answer, progress] {
            assert!(!is_for_others(&frame(&text), |id| id.as_integer() == Some(asked)), "{text}");
            assert!(is_for_others(&frame(&text), |_| false), "{text}");
        }
    }

    #[test]
    fn messages_that_other_copies_do_not_need_are_not_passed_on() {
        let texts = [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
            r#"{"jsonrpc":"2.0","id":"ours?","result":{}}"#,
        ];
        for text in texts {
            assert!(!is_for_others(&frame(text), |_| false), "{text}");
        }
    }

    #[test]
    fn other_copies_take_no_requests_of_a_batch() {
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#;
        let batch = frame(&format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"ping"}},{cancel}]"#));
        assert!(is_for_others(&batch, |_| false));
        let Some(Frame::Batch(items)) = for_others(batch) else { panic!("no batch") };
        assert!(matches!(&items[..], [Ok(Message::Notification(_))]));
    }
}
