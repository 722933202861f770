//! A client that follows its things: it changes them by calls, which any replica may run, and waits to
//! be notified on a stream.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::following::Following;
use super::{ClientBase, SILENCE, legacy, messages, modern};
use crate::ledger::End;
use crate::wire::{HttpRequest, HttpResponse};

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_millis(200);

/// How long the client waits for a notification at the end of the run.
const LAST: Duration = Duration::from_secs(8);

/// How long a client with a session keeps a stream at most, in milliseconds.
const LONGEST_STREAM: u64 = 15_000;

/// How long such a client has no stream at most, in milliseconds.
const LONGEST_PAUSE: u64 = 300;

/// Follows and changes things with a session until the run is over. `reader` is the half of the
/// client that reads the streams.
pub(super) async fn run_legacy(caller: ClientBase, reader: ClientBase) {
    let following = Following::new(caller.number);
    tokio::select! {
        () = follow_with_session(reader, &following) => {}
        () = touch(caller, &following) => {}
    }
}

/// The same without a session.
pub(super) async fn run_modern(caller: ClientBase, reader: ClientBase) {
    let following = Following::new(caller.number);
    tokio::select! {
        () = follow_without_session(reader, &following) => {}
        () = touch(caller, &following) => {}
    }
}

/// Changes things again and again. A client with a session calls in it, or without.
async fn touch(mut base: ClientBase, following: &Following) {
    while !base.is_over() {
        base.think().await;
        let Some(subscribed) = following.session() else { continue };
        let session = subscribed.filter(|_| base.random.is_once_in(2));
        let mut call = base.new_call(session.clone());
        (call.wanted, call.questions) = (0, 0);
        call.touches = Some(following.client());
        following.sent(call.nonce, call.began);
        call.end = match &session {
            Some(session) => legacy::follow(&mut base, &mut call, session).await,
            None => modern::follow(&mut base, &mut call).await,
        };
        if call.ended.is_zero() {
            call.ended = base.now();
        }
        following.ended(&call, &base.setting.recorder);
        base.setting.recorder.call(call);
    }
    while following.is_waiting(base.now(), LAST) {
        sleep(PAUSE).await;
    }
    following.give_up(&base.setting.recorder);
}

/// Opens a session, subscribes and reads GET streams; after the session is lost, again.
async fn follow_with_session(mut base: ClientBase, following: &Following) {
    loop {
        if let Some(session) = legacy::open(&base).await
            && subscribe(&base, &session, following).await
        {
            read_get_streams(&mut base, &session, following).await;
            following.unsubscribed();
        }
        sleep(PAUSE).await;
    }
}

/// Subscribes. Returns whether the server has acknowledged.
async fn subscribe(base: &ClientBase, session: &str, following: &Following) -> bool {
    let request = messages::subscribe(session, &following.uri());
    let Some(response) = legacy::ask(base, "subscribe", Some(session), &request).await else {
        return false;
    };
    let is_subscribed = response.body().await.is_ok_and(|body| body.contains("\"result\""));
    if is_subscribed {
        following.subscribed(Some(session), &base.setting.recorder);
    }
    is_subscribed
}

/// Reads one GET stream after another, until the session is lost.
async fn read_get_streams(base: &mut ClientBase, session: &str, following: &Following) {
    let recorder = base.setting.recorder.clone();
    let (mut position, mut has_gap) = (None, false);
    loop {
        let request = messages::get_stream(session, position.as_deref());
        match base.send(&request, SILENCE).await {
            Ok(mut response) => {
                // The client does not know what it missed, so it reads everything again.
                if std::mem::take(&mut has_gap) {
                    following.subscribed(Some(session), &recorder);
                }
                let longest = Duration::from_millis(base.random.between(500, LONGEST_STREAM));
                let read = read_get_stream(base, &mut response, following, &mut position);
                if let Ok(Err(end)) = timeout(longest, read).await {
                    recorder.refused("GET stream", Some(session), end);
                }
                drop(response);
                sleep(Duration::from_millis(base.random.between(0, LONGEST_PAUSE))).await;
                continue;
            }
            Err(End::Status(400)) => {
                (position, has_gap) = (None, true);
                recorder.refused("GET stream", Some(session), End::Gap);
            }
            Err(end) => {
                let is_lost = end == End::SessionLost;
                recorder.refused("GET stream", Some(session), end);
                if is_lost {
                    return;
                }
            }
        }
        sleep(PAUSE).await;
    }
}

/// Reads a GET stream up to its end.
async fn read_get_stream(
    base: &ClientBase,
    response: &mut HttpResponse,
    following: &Following,
    position: &mut Option<String>,
) -> Result<(), End> {
    while let Some((id, text)) = next_event(response).await? {
        if id.is_some() {
            *position = id;
        }
        following.read(&text, &base.setting.recorder);
    }
    Ok(())
}

/// Listens again and again.
async fn follow_without_session(mut base: ClientBase, following: &Following) {
    loop {
        let id = base.new_id();
        let request = messages::listen(id, &following.uri());
        if let Err(end) = listen(&base, following, id, &request).await {
            base.setting.recorder.refused_without_store("listen", end);
        }
        sleep(PAUSE).await;
    }
}

/// Listens until the server ends the stream, with the result as its last message.
async fn listen(
    base: &ClientBase,
    following: &Following,
    id: u64,
    request: &HttpRequest,
) -> Result<(), End> {
    let recorder = &base.setting.recorder;
    let mut response = base.send(request, SILENCE).await?;
    let mut has_result = false;
    while let Some((_, text)) = next_event(&mut response).await? {
        if !text.is_empty() {
            has_result = messages::is_result(&text, id);
        }
        if messages::is_acknowledgement(&text) {
            following.subscribed(None, recorder);
        }
        following.read(&text, recorder);
    }
    if has_result { Ok(()) } else { Err(End::Cut) }
}

/// The id and the data of the next event or comment. `None` at the end of the stream.
async fn next_event(response: &mut HttpResponse) -> Result<Option<(Option<String>, String)>, End> {
    match timeout(SILENCE, response.event_or_comment()).await {
        Err(_) => Err(End::Overdue),
        Ok(Err(_)) => Err(End::Cut),
        Ok(Ok(event)) => Ok(event.map(|event| (event.id, event.data))),
    }
}
