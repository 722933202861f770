//! What a client that follows changes knows: which changes it made, and which of them it was notified
//! of.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;

use crate::ledger::{Call, Change, End, Notice, Notified, Recorder};

/// Shared by the two halves of a client: one calls, the other reads the streams.
pub(super) struct Following {
    /// The number of the client, which is part of the URI that it follows.
    client: u64,
    state: Mutex<FollowingState>,
}

#[derive(Default)]
struct FollowingState {
    /// When the last subscription was acknowledged, while there is one, and its session.
    subscription: Option<(Duration, Option<String>)>,
    /// The changes whose calls are not answered, or of which the client was not notified.
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    change: Change,
    is_answered: bool,
}

impl Following {
    pub(super) fn new(client: u64) -> Self {
        Self { client, state: Mutex::default() }
    }

    pub(super) fn client(&self) -> u64 {
        self.client
    }

    /// What the client follows: all its things.
    pub(super) fn uri(&self) -> String {
        format!("chaos://things/{}", self.client)
    }

    /// Notes that the server has acknowledged a subscription, or a stream after a gap. The client reads
    /// everything again, so it knows of every change whose call was sent before.
    pub(super) fn subscribed(&self, session: Option<&str>, recorder: &Recorder) {
        let now = recorder.now();
        self.lock().subscription = Some((now, session.map(str::to_owned)));
        self.notify(recorder, Notice::Subscribed, |_| true);
    }

    /// Notes that the session is lost, and the subscription with it.
    pub(super) fn unsubscribed(&self) {
        self.lock().subscription = None;
    }

    /// The session of the subscription, if there is one. `None` if the client follows nothing now.
    pub(super) fn session(&self) -> Option<Option<String>> {
        self.lock().subscription.as_ref().map(|(_, session)| session.clone())
    }

    /// Notes that the client sends a call that changes a thing.
    pub(super) fn sent(&self, nonce: u64, sent: Duration) {
        let mut state = self.lock();
        let Some((followed, session)) = state.subscription.clone() else { return };
        let (answered, notified) = (Duration::MAX, None);
        let change = Change { nonce, session, followed, sent, answered, notified };
        state.waiting.insert(nonce, Waiting { change, is_answered: false });
    }

    /// Notes the end of that call. A change whose call was not answered may never have been made.
    pub(super) fn ended(&self, call: &Call, recorder: &Recorder) {
        let mut state = self.lock();
        if call.end != End::Answered {
            state.waiting.remove(&call.nonce);
        }
        if let Some(waiting) = state.waiting.get_mut(&call.nonce) {
            waiting.change.answered = call.ended;
            waiting.is_answered = true;
        }
        state.record(recorder);
    }

    /// Notes what a message of the server says about changes.
    pub(super) fn read(&self, text: &str, recorder: &Recorder) {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        if message["method"] != "notifications/resources/updated" {
            return;
        }
        let (uri, all) = (message["params"]["uri"].as_str().unwrap_or_default(), self.uri());
        if uri == all {
            return self.notify(recorder, Notice::Everything, |_| true);
        }
        let nonce = uri.strip_prefix(&all).and_then(|rest| rest.strip_prefix('/')?.parse().ok());
        self.notify(recorder, Notice::Change, |other| Some(other) == nonce);
    }

    /// Whether the client still waits for a notification, for each so long.
    pub(super) fn is_waiting(&self, now: Duration, patience: Duration) -> bool {
        let state = self.lock();
        let mut answered = state.waiting.values().map(|waiting| waiting.change.answered);
        answered.any(|answered| now < answered.saturating_add(patience))
    }

    /// Records the changes that the client was not notified of.
    pub(super) fn give_up(&self, recorder: &Recorder) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        let answered = waiting.into_values().filter(|waiting| waiting.is_answered);
        answered.for_each(|waiting| recorder.change(waiting.change));
    }

    fn notify(&self, recorder: &Recorder, by: Notice, is_meant: impl Fn(u64) -> bool) {
        let mut state = self.lock();
        let at = recorder.now();
        let meant = state.waiting.values_mut().filter(|waiting| is_meant(waiting.change.nonce));
        for waiting in meant {
            waiting.change.notified.get_or_insert(Notified { at, by });
        }
        state.record(recorder);
    }

    fn lock(&self) -> MutexGuard<'_, FollowingState> {
        self.state.lock().expect("no user panics")
    }
}

impl FollowingState {
    /// Records the changes whose calls were answered and that the client knows of.
    fn record(&mut self, recorder: &Recorder) {
        let is_done = |_: &u64, waiting: &mut Waiting| {
            waiting.is_answered && waiting.change.notified.is_some()
        };
        let done = self.waiting.extract_if(.., is_done);
        done.for_each(|(_, waiting)| recorder.change(waiting.change));
    }
}
