//! Plays a transcript against the side under test, line by line, and compares.
//!
//! A file is parsed into lines ([`Script`](super::script::Script)), then into steps for one
//! revision, and these are played one by one. What the side under test sends is compared at once,
//! so a failure names the line where the two part. Everything that is sent is recorded, also by the
//! play itself; tests check the record against the official schemas.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bowline_types::revision::Revision;

use super::identity::ClientIdentity;
use super::script::{LineKind, Script, Side};
use super::side_under_test::{Output, SideUnderTest};
use super::template::{MessageTemplate, Placeholders, Values};

/// One line of a transcript in one revision. Several steps may come from one line: `@initialize` is
/// three.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The number of its line in the file.
    pub(crate) number: usize,
    pub(crate) kind: StepKind,
}

/// What a step does or expects.
#[derive(Clone, Debug)]
pub(crate) enum StepKind {
    /// Sends this message to the side under test.
    Send(MessageTemplate),
    /// Sends these bytes to the side under test.
    SendBytes(Vec<u8>),
    /// Closes the peer's direction of the connection.
    Close,
    /// Expects this message of the side under test.
    Expect(MessageTemplate),
    /// Expects this message, in any order with adjacent steps of this kind.
    ExpectUnordered(MessageTemplate),
    /// Expects this message over HTTP, instead of what is expected over other transports; with a
    /// status, as the body of an HTTP response.
    ExpectOverHttp(Option<u16>, MessageTemplate),
    /// Performs this action of the user of the side under test.
    Act(MessageTemplate),
    /// Expects this event, which the side under test reports to its user.
    ExpectEvent(MessageTemplate),
    /// Advances virtual time.
    Advance(Duration),
}

impl StepKind {
    fn is_unordered(&self) -> bool {
        matches!(self, Self::ExpectUnordered(_))
    }

    fn is_over_http(&self) -> bool {
        matches!(self, Self::ExpectOverHttp(..))
    }

    /// Whether it expects an output of the side under test.
    pub(crate) fn is_expectation(&self) -> bool {
        matches!(self, Self::Expect(_) | Self::ExpectUnordered(_) | Self::ExpectEvent(_))
            || self.is_over_http()
    }
}

/// The request id of `@initialize`. It is a string, so that it differs from the ids of transcripts.
const HANDSHAKE: &str = "\"initialize\"";

/// Turns the lines of a script into steps for one revision. Placeholders that are known before the
/// play are put in here; the others stay for the play.
///
/// # Errors
///
/// Names the line that is not valid.
pub(crate) fn steps(script: &Script, placeholders: &Placeholders) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for line in &script.lines {
        let number = line.number;
        let kinds = step_kinds(script.side, &line.kind, placeholders)
            .map_err(|reason| format!("line {number}: {reason}"))?;
        steps.extend(kinds.into_iter().map(|kind| Step { number, kind }));
    }
    Ok(steps)
}

/// Removes the steps that are for HTTP only.
pub(crate) fn without_http(mut steps: Vec<Step>) -> Vec<Step> {
    steps.retain(|step| !step.kind.is_over_http());
    steps
}

/// The steps of a play over HTTP: in a run of expectations, those for HTTP replace the others.
#[cfg(feature = "http")]
pub(crate) fn over_http(steps: &[Step]) -> Vec<Step> {
    let mut kept = Vec::new();
    for run in steps.chunk_by(|one, next| one.kind.is_expectation() && next.kind.is_expectation()) {
        let has_own = run.iter().any(|step| step.kind.is_over_http());
        kept.extend(run.iter().filter(|step| step.kind.is_over_http() || !has_own).cloned());
    }
    kept
}

/// Who sends a message and who expects it follows from the side under test.
fn step_kinds(
    side: Side,
    line: &LineKind,
    placeholders: &Placeholders,
) -> Result<Vec<StepKind>, String> {
    let text = |line: &str| MessageTemplate::parse(line, placeholders);
    let kind = match (side, line) {
        (_, LineKind::Advance(time)) => StepKind::Advance(*time),
        (_, LineKind::Action(action)) => StepKind::Act(text(action)?),
        (Side::Server, LineKind::Handshake(extras)) => {
            return handshake(extras, placeholders.revision);
        }
        (Side::Server, LineKind::ClientMessage(line))
        | (Side::Client, LineKind::ServerMessage(line)) => StepKind::Send(text(line)?),
        (Side::Server, LineKind::ClientBytes(bytes))
        | (Side::Client, LineKind::ServerBytes(bytes)) => StepKind::SendBytes(bytes.clone()),
        (Side::Server, LineKind::ServerMessage(line))
        | (Side::Client, LineKind::ClientMessage(line)) => StepKind::Expect(text(line)?),
        (Side::Server, LineKind::ServerMessageUnordered(line)) => {
            StepKind::ExpectUnordered(text(line)?)
        }
        (Side::Server, LineKind::ServerMessageOverHttp(status, line)) => {
            StepKind::ExpectOverHttp(*status, text(line)?)
        }
        (Side::Server, LineKind::ClientClose) => StepKind::Close,
        (Side::Client, LineKind::Event(event)) => StepKind::ExpectEvent(text(event)?),
        _ => return Err("a line of this kind is not for the side under test".to_owned()),
    };
    Ok(vec![kind])
}

/// The handshake: `initialize`, any successful result, and `notifications/initialized`.
fn handshake(extras: &str, revision: Revision) -> Result<Vec<StepKind>, String> {
    let params = ClientIdentity::parse(extras)?.handshake(revision);
    let request =
        format!(r#"{{"jsonrpc":"2.0","id":{HANDSHAKE},"method":"initialize","params":{params}}}"#);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{HANDSHAKE},"result":@any}}"#);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    Ok(vec![
        StepKind::Send(MessageTemplate::plain(request)),
        StepKind::Expect(MessageTemplate::literal(&answer)),
        StepKind::Send(MessageTemplate::plain(initialized)),
    ])
}

/// A message that was sent during a play. In the order in which they were sent, as far as the play
/// can see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The side that sent it.
    pub by: Side,
    /// The message as it was on the wire.
    pub text: String,
}

/// Why a play failed, and where. Its text begins with `path:line:`, which editors and terminals
/// turn into a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(crate) path: PathBuf,
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.reason)
    }
}

impl std::error::Error for Failure {}

/// Plays steps and returns every message that was sent; or the line and the reason of the first
/// failure.
pub(crate) async fn play<S: SideUnderTest>(
    side: Side,
    steps: &[Step],
    mut tested: S,
) -> Result<Vec<SentMessage>, (usize, String)> {
    let mut player = Player::new(side, &mut tested);
    let mut last = 0;
    for group in steps.chunk_by(|one, next| one.kind.is_unordered() && next.kind.is_unordered()) {
        let mut group: Vec<_> = group.iter().collect();
        while let Some(step) = group.first() {
            last = step.number;
            let done = player.step(&group).await.map_err(|reason| (last, reason))?;
            group.remove(done);
        }
    }
    player.finish().await.map_err(|reason| (last, reason))?;
    Ok(player.record)
}

/// A play under way.
pub(crate) struct Player<'a, S> {
    pub(crate) tested: &'a mut S,
    pub(crate) side: Side,
    /// What `@name` stands for so far, over all lines of the play.
    pub(crate) values: Values,
    /// Every message of both sides so far.
    record: Vec<SentMessage>,
    /// The beginning of a line whose end was not sent yet.
    unfinished: Vec<u8>,
}

impl<'a, S: SideUnderTest> Player<'a, S> {
    pub(crate) fn new(side: Side, tested: &'a mut S) -> Self {
        Self { tested, side, values: Values::new(), record: Vec::new(), unfinished: Vec::new() }
    }
}

impl<S: SideUnderTest> Player<'_, S> {
    /// Plays one of `steps`, any of which may come next; returns its position.
    async fn step(&mut self, steps: &[&Step]) -> Result<usize, String> {
        let Some(first) = steps.first() else { return Ok(0) };
        let Some(expected) = self.expected(&first.kind) else {
            if let Some(output) = self.tested.try_next().await {
                return Err(format!("unexpected output\n  {}", self.shown(&output)));
            }
            self.act(&first.kind).await?;
            return Ok(0);
        };
        let values = &mut self.values;
        let may_fit = |output: &Output| steps.iter().any(|step| fits(&step.kind, output, values));
        let Some(output) = self.tested.next(may_fit).await else {
            return Err(format!("expected\n  {expected}\nbut nothing came"));
        };
        let Some(place) = steps.iter().position(|step| self.fits(&step.kind, &output)) else {
            return Err(format!("expected\n  {expected}\ngot\n  {}", self.shown(&output)));
        };
        self.record(&output);
        Ok(place)
    }

    /// Plays a step that is not an expectation.
    pub(crate) async fn act(&mut self, kind: &StepKind) -> Result<(), String> {
        match kind {
            StepKind::Send(text) => {
                let text = text.fill(&self.values)?;
                self.send(format!("{text}\n").as_bytes()).await
            }
            StepKind::SendBytes(bytes) => self.send(bytes).await,
            StepKind::Close => {
                self.record_sent(self.unfinished.len());
                self.tested.close().await
            }
            StepKind::Act(action) => self.tested.act(&action.fill(&self.values)?).await,
            StepKind::Advance(time) => {
                self.tested.advance(*time).await;
                Ok(())
            }
            StepKind::Expect(_)
            | StepKind::ExpectUnordered(_)
            | StepKind::ExpectOverHttp(..)
            | StepKind::ExpectEvent(_) => Ok(()),
        }
    }

    /// Recorded line by line, because raw bytes may hold half a message.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.unfinished.extend_from_slice(bytes);
        while let Some(end) = self.unfinished.iter().position(|byte| *byte == b'\n') {
            self.record_sent(end + 1);
        }
        self.tested.send(bytes).await
    }

    /// Records the first `length` bytes that were sent as one message.
    fn record_sent(&mut self, length: usize) {
        let line: Vec<u8> = self.unfinished.drain(..length).collect();
        let text = String::from_utf8_lossy(&line).trim_start_matches('\u{feff}').to_owned();
        self.record.push(SentMessage { by: self.side.other(), text });
    }

    /// Whether an output is what a step expects.
    pub(crate) fn fits(&mut self, kind: &StepKind, output: &Output) -> bool {
        fits(kind, output, &mut self.values)
    }

    fn record(&mut self, output: &Output) {
        if let Output::Message(text) | Output::HttpBody { text, .. } = output {
            self.record.push(SentMessage { by: self.side, text: text.clone() });
        }
    }

    /// A message that no line expects fails the play even after the last line.
    async fn finish(&mut self) -> Result<(), String> {
        let rest = self.tested.finish().await?;
        match rest.first() {
            Some(output) => Err(format!("unexpected output at the end\n  {}", self.shown(output))),
            None => Ok(()),
        }
    }

    /// The expectation of a step as a line of a transcript; `None` if it has none.
    fn expected(&self, kind: &StepKind) -> Option<String> {
        match kind {
            StepKind::ExpectEvent(text) => Some(format!("= {text}")),
            StepKind::Expect(text) | StepKind::ExpectUnordered(text) => {
                Some(format!("{} {text}", self.side.mark()))
            }
            StepKind::ExpectOverHttp(Some(status), text) => Some(format!("<http {status} {text}")),
            StepKind::ExpectOverHttp(None, text) => Some(format!("<http {text}")),
            _ => None,
        }
    }

    /// An output as a line of a transcript.
    pub(crate) fn shown(&self, output: &Output) -> String {
        match output {
            Output::Message(text) => format!("{} {text}", self.side.mark()),
            Output::Event(text) => format!("= {text}"),
            Output::HttpBody { status, text, .. } => format!("<http {status} {text}"),
            Output::Violation(reason) => reason.clone(),
        }
    }
}

/// Whether an output is what a step expects. If it is, `values` gets the values of new names.
///
/// Over HTTP a body with the status that the specification has for it fits a plain line; any other
/// status has to be written out (`<http 400 …`).
fn fits(kind: &StepKind, output: &Output, values: &mut Values) -> bool {
    match (kind, output) {
        (
            StepKind::Expect(text)
            | StepKind::ExpectUnordered(text)
            | StepKind::ExpectOverHttp(None, text),
            Output::Message(sent),
        )
        | (StepKind::ExpectEvent(text), Output::Event(sent)) => text.matches(sent, values),
        (
            StepKind::Expect(text)
            | StepKind::ExpectUnordered(text)
            | StepKind::ExpectOverHttp(None, text),
            Output::HttpBody { is_usual: true, text: sent, .. },
        ) => text.matches(sent, values) || text.matches(&with_null(sent), values),
        (
            StepKind::ExpectOverHttp(Some(wanted), text),
            Output::HttpBody { status, text: sent, .. },
        ) => wanted == status && text.matches(sent, values),
        _ => false,
    }
}

/// Adds `"id":null` to an error without id. The body of an HTTP response omits the id, where other
/// transports write `null` before 2025-11-25.
fn with_null(sent: &str) -> String {
    let (bare, null) = (r#"{"jsonrpc":"2.0","error""#, r#"{"jsonrpc":"2.0","id":null,"error""#);
    match sent.strip_prefix(bare) {
        Some(rest) => format!("{null}{rest}"),
        None => sent.to_owned(),
    }
}

impl Side {
    /// The peer of this side.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// The character that its lines begin with.
    pub(crate) fn mark(self) -> char {
        match self {
            Self::Client => '>',
            Self::Server => '<',
        }
    }
}
