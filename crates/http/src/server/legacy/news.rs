//! What endpoints tell each other about the sessions that they share.
//!
//! There is one topic for all sessions of a store, and one task per endpoint that listens to it. A
//! topic may lose a word: then an answer or a cancellation is lost, as it would be on a bad
//! connection, and whoever waits for it does so until its time is over.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::frame::{Frame, Message, MethodName, NotificationMessage};
use bowline_proto::request::Extensions;
use bowline_store::backend::{BoxStream, Error};
use bowline_store::{Backend, Key};
use bowline_types::id::RequestId;
use bowline_types::json::Json;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::read::{read, text};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::record::copy_of;
use super::session::Session;

/// How long to wait before listening again to a topic that has ended.
const PAUSE: Duration = Duration::from_secs(1);

/// A word about a session.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Word {
    /// Which session it is about.
    pub(super) session: String,
    /// The copy that tells, and need not hear it.
    pub(super) copy: u32,
    /// What the client said; if it is nothing, the record has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Json>,
}

fn topic() -> Key {
    Key::new(["sessions"])
}

/// Tells the others what a client said, or that a record has changed.
pub(super) async fn tell(
    store: &Arc<dyn Backend>,
    session: &str,
    copy: u32,
    message: Option<&Bytes>,
) -> Result<(), Error> {
    let message = message.map(|message| text(message).and_then(read)).transpose();
    let message = message.map_err(|error| Error::new("a message is not JSON").caused_by(error))?;
    let word = Word { session: session.to_owned(), copy, message };
    let word = serde_json::to_vec(&word);
    let word = word.map_err(|error| Error::new("a word cannot be written").caused_by(error))?;
    store.publish(&topic(), word.into()).await
}

/// Listens to what others tell.
pub(super) async fn listen(store: &Arc<dyn Backend>) -> Result<BoxStream<'static, Bytes>, Error> {
    store.listen(&topic()).await
}

/// Hands on what is heard, for as long as anybody wants it.
pub(super) async fn attend(
    store: Arc<dyn Backend>,
    mut news: BoxStream<'static, Bytes>,
    hear: impl Fn(Word) + Send,
) {
    loop {
        while let Some(word) = std::future::poll_fn(|cx| news.as_mut().poll_next(cx)).await {
            // What another version of this program tells may mean nothing to us.
            if let Ok(word) = text(&word).and_then(read) {
                hear(word);
            }
        }
        news = loop {
            tokio::time::sleep(PAUSE).await;
            if let Ok(news) = listen(&store).await {
                break news;
            }
        };
    }
}

/// Hands a session what its client said to another endpoint.
pub(super) fn hand_over(message: &Json, session: &Arc<Session>) {
    let message = Bytes::copy_from_slice(message.as_str().as_bytes());
    if let Ok(frame) = Frame::parse(&message, session.core.server.limits())
        && let Some(frame) = for_others(frame)
    {
        // What concerns others is no call, so nothing comes of it here.
        let _ = session.receive(frame.into(), Extensions::default());
    }
}

/// Whether something in what a client said to this copy may concern another.
pub(super) fn concerns_others(frame: &Frame, copy: u32) -> bool {
    match frame {
        Frame::Message(message) => may_concern(message, Some(copy)),
        Frame::Batch(items) => items.iter().flatten().any(|item| may_concern(item, Some(copy))),
    }
}

/// What of a message concerns others than whoever took it.
fn for_others(frame: Frame) -> Option<Frame> {
    match frame {
        Frame::Message(message) => may_concern(&message, None).then_some(Frame::Message(message)),
        Frame::Batch(mut items) => {
            items.retain(|item| item.as_ref().is_ok_and(|item| may_concern(item, None)));
            Some(Frame::Batch(items))
        }
    }
}

/// Answers and progress concern the copy that asked, which their id tells; a cancellation concerns
/// the copy that serves the call, and the ids of calls are the client's.
fn may_concern(message: &Message, taken_by: Option<u32>) -> bool {
    let is_foreign = |id: Option<RequestId>| {
        let number = id.and_then(|id| id.as_integer()).and_then(|id| u64::try_from(id).ok());
        number.is_some_and(|number| Some(copy_of(number)) != taken_by.map(u64::from))
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
    fn answers_and_progress_go_to_whoever_asked() {
        let asked = (2_u64 << 32) + 7;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{{}}}}"#);
        let params = format!(r#"{{"progressToken":{asked},"progress":1}}"#);
        let progress =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
        for text in [answer, progress] {
            assert!(!concerns_others(&frame(&text), 2), "{text}");
            assert!(concerns_others(&frame(&text), 0), "{text}");
        }
    }

    #[test]
    fn what_others_have_no_use_for_is_not_passed_on() {
        let texts = [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
            r#"{"jsonrpc":"2.0","id":"ours?","result":{}}"#,
        ];
        for text in texts {
            assert!(!concerns_others(&frame(text), 1), "{text}");
        }
    }

    #[test]
    fn of_a_batch_others_take_no_requests() {
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#;
        let batch = frame(&format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"ping"}},{cancel}]"#));
        assert!(concerns_others(&batch, 0));
        let Some(Frame::Batch(items)) = for_others(batch) else { panic!("no batch") };
        assert!(matches!(&items[..], [Ok(Message::Notification(_))]));
    }
}
