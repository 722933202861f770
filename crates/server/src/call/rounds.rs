//! Asking since 2026-07-28: the call is answered with its questions, and made again.
//!
//! Each run of a handler is one round. Its questions are numbered in the order of asking. A question
//! whose answer is known resolves at once; all others stay open. The round ends at the first poll
//! that returns `Pending` while a question is open and no [`once`](crate::Ask::once) step runs, even
//! if another future that the handler joined could go on. Then the handler is dropped, and the open
//! questions go to the client together with the sealed [`Memory`] of the call. An answer counts only
//! for the exact question that it was given to: if the handler asks something else on its next run,
//! the client is asked again.

use std::sync::Mutex;
use std::task::Waker;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bowline_proto::limits::Limits;
use bowline_proto::sync::lock;
use bowline_types::input::{InputRequest, InputRequests, InputResponses};
use bowline_types::json::RawJson;
use bowline_types::read::{read, text};
use bowline_types::text::counted;
use chacha20_poly1305::poly1305::Poly1305;
use serde::{Deserialize, Deserializer, Serialize};

/// What is known of a call's questions, shared by its handler and the future that drives it.
#[derive(Debug)]
pub(crate) struct Rounds(Mutex<Round>);

/// One run of a handler.
#[derive(Debug)]
struct Round {
    /// What earlier rounds left.
    memory: Memory,
    /// What the client answered to the last round: untrusted.
    responses: InputResponses,
    /// How many questions were asked in this run.
    asked: usize,
    /// Whether a question differs from the one with the same key before.
    has_changed: bool,
    /// Questions that wait for an answer.
    open: Vec<UnansweredQuestion>,
    /// How many `once` steps run; the round cannot end meanwhile.
    running: usize,
    /// Wakes the task that drives the handler.
    driver: Option<Waker>,
}

/// What is remembered from round to round.
#[derive(Debug, Serialize, Deserialize)]
struct Memory {
    /// The secret with which fingerprints are made.
    secret: [u8; 32],
    /// How many rounds there were.
    rounds: usize,
    /// In how many of them the handler asked something else than in the one before.
    #[serde(default)]
    changed: usize,
    /// Questions of the last round, and answered older ones; keys are unique.
    questions: Vec<RememberedQuestion>,
    steps: Vec<RememberedStep>,
}

/// A fingerprint of a question, with a secret that the client does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint(String);

/// A question, and the answer that was given to it.
#[derive(Debug, Serialize, Deserialize)]
struct RememberedQuestion {
    key: String,
    /// Serialized as `pin`, as in the states that clients hold already.
    #[serde(rename = "pin")]
    fingerprint: Fingerprint,
    /// `None` until answered.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    answer: Option<RawJson>,
}

/// A step that was taken, and what it gave.
#[derive(Debug, Serialize, Deserialize)]
struct RememberedStep {
    key: String,
    result: RawJson,
}

/// Reads `null` as `Some(null)`.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(deserializer).map(Some)
}

/// A question that waits for an answer.
#[derive(Debug)]
pub(crate) struct UnansweredQuestion {
    pub(crate) key: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) request: InputRequest,
}

/// The end of a round: what the client is to answer, and what is to be sealed.
pub(crate) struct RoundEnd {
    pub(crate) requests: InputRequests,
    pub(crate) memory: Vec<u8>,
}

impl Rounds {
    /// The first round of a call.
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub(crate) fn first() -> Result<Self, getrandom::Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        let (questions, steps) = Default::default();
        let memory = Memory { secret, rounds: 0, changed: 0, questions, steps };
        Ok(Self::new(memory, InputResponses::default()))
    }

    /// A further round, from the opened memory of the last one and the client's answers. Returns
    /// `None` if this server did not write the memory.
    pub(crate) fn next(memory: &[u8], responses: InputResponses) -> Option<Self> {
        let memory = text(memory).and_then(read).ok()?;
        Some(Self::new(memory, responses))
    }

    fn new(memory: Memory, responses: InputResponses) -> Self {
        Self(Mutex::new(Round {
            memory,
            responses,
            asked: 0,
            has_changed: false,
            open: Vec::new(),
            running: 0,
            driver: None,
        }))
    }

    /// Ends the round if it has open questions and no step is running. Otherwise remembers the task
    /// to wake when that changes.
    ///
    /// # Errors
    ///
    /// If there were too many rounds, or the memory cannot be written.
    pub(crate) fn end_if_asking(
        &self,
        limits: &Limits,
        driver: &Waker,
    ) -> Option<Result<RoundEnd, String>> {
        let mut round = lock(&self.0);
        if round.open.is_empty() || round.running > 0 {
            round.driver = Some(driver.clone());
            return None;
        }
        Some(round.end(limits))
    }

    /// Counts one more question, and returns its key.
    pub(crate) fn next_key(&self) -> String {
        let mut round = lock(&self.0);
        round.asked += 1;
        format!("q{}", round.asked)
    }

    /// How many questions were asked so far.
    pub(crate) fn asked(&self) -> usize {
        lock(&self.0).asked
    }

    /// The fingerprint of a question, and its answer if an earlier round has one.
    pub(crate) fn find(&self, key: &str, request: &InputRequest) -> (Fingerprint, Option<RawJson>) {
        lock(&self.0).find(key, request)
    }

    /// Adds an open question, which the client is asked when the round ends. Dropping the guard
    /// closes it.
    pub(crate) fn open(&self, open: UnansweredQuestion, limits: &Limits) -> impl Drop + use<'_> {
        let guard = OpenGuard { round: &self.0, key: open.key.clone() };
        let driver = lock(&self.0).open(open, limits);
        driver.into_iter().for_each(Waker::wake);
        guard
    }

    /// The recorded result of a step.
    pub(crate) fn step(&self, key: &str) -> Option<RawJson> {
        let round = lock(&self.0);
        round.memory.steps.iter().find(|step| step.key == key).map(|step| step.result.clone())
    }

    /// Keeps the round from ending until the guard is dropped.
    pub(crate) fn begin_step(&self) -> impl Drop + '_ {
        lock(&self.0).running += 1;
        StepGuard(self)
    }

    /// Records the result of a step.
    pub(crate) fn keep_step(&self, key: &str, result: RawJson) {
        let steps = &mut lock(&self.0).memory.steps;
        steps.retain(|step| step.key != key);
        steps.push(RememberedStep { key: key.to_owned(), result });
    }
}

impl Round {
    /// The fingerprint of a question, and its answer if there is one.
    fn find(&mut self, key: &str, request: &InputRequest) -> (Fingerprint, Option<RawJson>) {
        let fingerprint = self.memory.fingerprint(request);
        let before = self.memory.questions.iter().find(|known| known.key == key);
        let known = before.filter(|before| before.fingerprint == fingerprint);
        self.has_changed |= before.is_some() && known.is_none();
        let answer = known.and_then(|known| known.answer.as_ref().or(self.responses.value(key)));
        (fingerprint, answer.cloned())
    }

    /// Adds an open question, and returns the task to wake. Questions beyond the limit wait for the
    /// next round.
    fn open(&mut self, open: UnansweredQuestion, limits: &Limits) -> Option<Waker> {
        if self.open.len() < limits.questions.max(1) {
            self.open.push(open);
        }
        self.driver.clone()
    }

    fn end(&mut self, limits: &Limits) -> Result<RoundEnd, String> {
        self.memory.changed += usize::from(self.has_changed);
        if self.memory.rounds >= limits.rounds {
            return Err(self.memory.too_many_rounds());
        }
        let unwritable = |error| format!("the answers so far cannot be kept: {error}");
        self.remember();
        let mut requests = InputRequests::new();
        for UnansweredQuestion { key, fingerprint, request } in std::mem::take(&mut self.open) {
            self.memory.questions.retain(|known| known.key != key);
            self.memory.questions.push(RememberedQuestion {
                key: key.clone(),
                fingerprint,
                answer: None,
            });
            requests.insert(key, request).map_err(|error| error.to_string())?;
        }
        let memory = serde_json::to_vec(&self.memory).map_err(unwritable)?;
        Ok(RoundEnd { requests, memory })
    }

    /// Remembers every answer to a question of the last round, unless it has to be asked again.
    fn remember(&mut self) {
        self.memory.rounds += 1;
        self.memory.questions.retain_mut(|known| {
            let is_open = self.open.iter().any(|open| open.key == known.key);
            let response = self.responses.value(&known.key).filter(|_| !is_open);
            known.answer = known.answer.take().or(response.cloned());
            known.answer.is_some()
        });
    }
}

impl Memory {
    fn too_many_rounds(&self) -> String {
        let times = counted(self.rounds, "time");
        let end = format!("the user was asked {times} in a row; there must be an end");
        if self.changed == 0 {
            return end;
        }
        let times = counted(self.changed, "time");
        format!(
            "{end}. The questions changed: the handler asked something else {times} when it ran \
             again, so the answers before did not count. Ask the same questions in the same order, \
             and keep what they depend on with `Ask::once`"
        )
    }

    /// A keyed hash: a client that does not know the key cannot find two questions with the same
    /// fingerprint.
    fn fingerprint(&self, request: &InputRequest) -> Fingerprint {
        // Empty if it cannot be serialized; then it is not sent.
        let question = serde_json::to_vec(request).unwrap_or_default();
        let mut hash = Poly1305::new(self.secret);
        hash.input(&question);
        Fingerprint(STANDARD_NO_PAD.encode(hash.tag()))
    }
}

/// Closes a question when the handler stops waiting for it.
struct OpenGuard<'a> {
    round: &'a Mutex<Round>,
    key: String,
}

impl Drop for OpenGuard<'_> {
    fn drop(&mut self) {
        lock(self.round).open.retain(|open| open.key != self.key);
    }
}

/// Keeps the round from ending while a step runs.
struct StepGuard<'a>(&'a Rounds);

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        let driver = {
            let mut round = lock(&self.0.0);
            round.running -= 1;
            round.driver.clone()
        };
        driver.into_iter().for_each(Waker::wake);
    }
}
