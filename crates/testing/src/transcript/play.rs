//! Plays a transcript on a stage, line by line, and compares.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bowline_types::revision::Revision;

use super::identity::Identity;
use super::script::{Said, Script, Side};
use super::stage::{Heard, Stage};
use super::text::{Text, Values, Words};

/// One line of a transcript, as it is played in one revision.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its line in the file.
    pub(crate) number: usize,
    pub(crate) turn: Turn,
}

/// What happens in a step.
#[derive(Clone, Debug)]
pub(crate) enum Turn {
    /// The side under test is told this.
    Tell(Text),
    /// The side under test is told these bytes.
    TellRaw(Vec<u8>),
    /// The peer of the side under test closes its end.
    End,
    /// The side under test says this.
    Hear(Text),
    /// The side under test says this, before or after its neighbours of this kind.
    HearSometime(Text),
    /// Over HTTP the side under test says this, in place of what it says elsewhere; with a status,
    /// as the body of an answer.
    HearOverHttp(Option<u16>, Text),
    /// The user of the side under test does this.
    Act(Text),
    /// The user of the side under test learns this.
    Learn(Text),
    /// Time goes by.
    Pass(Duration),
}

impl Turn {
    fn is_sometime(&self) -> bool {
        matches!(self, Self::HearSometime(_))
    }

    fn is_over_http(&self) -> bool {
        matches!(self, Self::HearOverHttp(..))
    }

    /// Whether the side under test does it by itself.
    pub(crate) fn is_expected(&self) -> bool {
        let is_message = matches!(self, Self::Hear(_) | Self::HearSometime(_) | Self::Learn(_));
        is_message || self.is_over_http()
    }
}

/// The id of the handshake that `@initialize` stands for; a text, so that no other is the same.
const HANDSHAKE: &str = "\"initialize\"";

/// The steps of a script in one revision.
///
/// # Errors
///
/// Says which line makes no sense.
pub(crate) fn steps(script: &Script, words: &Words) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for line in &script.lines {
        let number = line.number;
        let turns = turns(script.side, &line.said, words)
            .map_err(|reason| format!("line {number}: {reason}"))?;
        steps.extend(turns.into_iter().map(|turn| Step { number, turn }));
    }
    Ok(steps)
}

/// The steps of a play that is not over HTTP.
pub(crate) fn but_over_http(mut steps: Vec<Step>) -> Vec<Step> {
    steps.retain(|step| !step.turn.is_over_http());
    steps
}

/// The steps of a play over HTTP: between two lines of the other side, what comes over HTTP stands
/// for all else that is expected there.
#[cfg(feature = "http")]
pub(crate) fn over_http(steps: &[Step]) -> Vec<Step> {
    let mut kept = Vec::new();
    for run in steps.chunk_by(|one, next| one.turn.is_expected() && next.turn.is_expected()) {
        let is_other = run.iter().any(|step| step.turn.is_over_http());
        kept.extend(run.iter().filter(|step| step.turn.is_over_http() || !is_other).cloned());
    }
    kept
}

fn turns(side: Side, said: &Said, words: &Words) -> Result<Vec<Turn>, String> {
    let text = |line: &str| Text::parse(line, words);
    let turn = match (side, said) {
        (_, Said::Pass(time)) => Turn::Pass(*time),
        (_, Said::Do(action)) => Turn::Act(text(action)?),
        (Side::Server, Said::Handshake(extras)) => return handshake(extras, words.revision),
        (Side::Server, Said::ByClient(line)) | (Side::Client, Said::ByServer(line)) => {
            Turn::Tell(text(line)?)
        }
        (Side::Server, Said::RawByClient(bytes)) | (Side::Client, Said::RawByServer(bytes)) => {
            Turn::TellRaw(bytes.clone())
        }
        (Side::Server, Said::ByServer(line)) | (Side::Client, Said::ByClient(line)) => {
            Turn::Hear(text(line)?)
        }
        (Side::Server, Said::ByServerSometime(line)) => Turn::HearSometime(text(line)?),
        (Side::Server, Said::ByServerOverHttp(status, line)) => {
            Turn::HearOverHttp(*status, text(line)?)
        }
        (Side::Server, Said::End) => Turn::End,
        (Side::Client, Said::Learn(event)) => Turn::Learn(text(event)?),
        _ => return Err("the side under test cannot be made to do that".to_owned()),
    };
    Ok(vec![turn])
}

/// The handshake: the request, whatever answers it, and the word that all is well.
fn handshake(extras: &str, revision: Revision) -> Result<Vec<Turn>, String> {
    let params = Identity::parse(extras)?.handshake(revision);
    let request =
        format!(r#"{{"jsonrpc":"2.0","id":{HANDSHAKE},"method":"initialize","params":{params}}}"#);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{HANDSHAKE},"result":@any}}"#);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    Ok(vec![
        Turn::Tell(Text::plain(request)),
        Turn::Hear(Text::literal(&answer)),
        Turn::Tell(Text::plain(initialized)),
    ])
}

/// A message that was said during a play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who said it.
    pub by: Side,
    /// What was said, as it stood on the wire.
    pub text: String,
}

/// Why a play failed, and where.
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

/// Plays steps on a stage and gives every message that was said; or the line and the reason of the
/// first failure.
pub(crate) async fn play<S: Stage>(
    side: Side,
    steps: &[Step],
    mut stage: S,
) -> Result<Vec<Message>, (usize, String)> {
    let mut player = Player::new(side, &mut stage);
    let mut last = 0;
    for group in steps.chunk_by(|one, next| one.turn.is_sometime() && next.turn.is_sometime()) {
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
    pub(crate) stage: &'a mut S,
    pub(crate) side: Side,
    pub(crate) values: Values,
    record: Vec<Message>,
    /// The beginning of a line whose end was not told yet.
    told: Vec<u8>,
}

impl<'a, S: Stage> Player<'a, S> {
    pub(crate) fn new(side: Side, stage: &'a mut S) -> Self {
        Self { stage, side, values: Values::new(), record: Vec::new(), told: Vec::new() }
    }
}

impl<S: Stage> Player<'_, S> {
    /// Does one of the steps, all of which may come next; gives which.
    async fn step(&mut self, steps: &[&Step]) -> Result<usize, String> {
        let Some(first) = steps.first() else { return Ok(0) };
        let Some(expected) = self.expected(&first.turn) else {
            if let Some(heard) = self.stage.spare().await {
                return Err(format!("nobody expected\n  {}", self.shown(&heard)));
            }
            self.act(&first.turn).await?;
            return Ok(0);
        };
        let values = &mut self.values;
        let may_fit = |heard: &Heard| steps.iter().any(|step| fits(&step.turn, heard, values));
        let Some(heard) = self.stage.next(may_fit).await else {
            return Err(format!("expected\n  {expected}\nbut nothing came"));
        };
        let Some(place) = steps.iter().position(|step| self.fits(&step.turn, &heard)) else {
            return Err(format!("expected\n  {expected}\ngot\n  {}", self.shown(&heard)));
        };
        self.note(&heard);
        Ok(place)
    }

    /// Does a step in which nothing is expected.
    pub(crate) async fn act(&mut self, turn: &Turn) -> Result<(), String> {
        match turn {
            Turn::Tell(text) => {
                let text = text.fill(&self.values)?;
                self.tell(format!("{text}\n").as_bytes()).await
            }
            Turn::TellRaw(bytes) => self.tell(bytes).await,
            Turn::End => {
                self.note_told(self.told.len());
                self.stage.end().await
            }
            Turn::Act(action) => self.stage.act(&action.fill(&self.values)?).await,
            Turn::Pass(time) => {
                self.stage.pass(*time).await;
                Ok(())
            }
            Turn::Hear(_) | Turn::HearSometime(_) | Turn::HearOverHttp(..) | Turn::Learn(_) => {
                Ok(())
            }
        }
    }

    async fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.told.extend_from_slice(bytes);
        while let Some(end) = self.told.iter().position(|byte| *byte == b'\n') {
            self.note_told(end + 1);
        }
        self.stage.tell(bytes).await
    }

    /// Writes down so many bytes of what was told as one message.
    fn note_told(&mut self, length: usize) {
        let line: Vec<u8> = self.told.drain(..length).collect();
        let text = String::from_utf8_lossy(&line).trim_start_matches('\u{feff}').to_owned();
        self.record.push(Message { by: self.side.other(), text });
    }

    /// Whether what was heard is what a turn expects.
    pub(crate) fn fits(&mut self, turn: &Turn, heard: &Heard) -> bool {
        fits(turn, heard, &mut self.values)
    }

    fn note(&mut self, heard: &Heard) {
        if let Heard::Message(text) | Heard::Answer { text, .. } = heard {
            self.record.push(Message { by: self.side, text: text.clone() });
        }
    }

    async fn finish(&mut self) -> Result<(), String> {
        let rest = self.stage.finish().await?;
        match rest.first() {
            Some(heard) => Err(format!("at the end nobody expected\n  {}", self.shown(heard))),
            None => Ok(()),
        }
    }

    /// What a turn expects, as a line of a transcript; `None` if it expects nothing.
    fn expected(&self, turn: &Turn) -> Option<String> {
        match turn {
            Turn::Learn(text) => Some(format!("= {text}")),
            Turn::Hear(text) | Turn::HearSometime(text) => {
                Some(format!("{} {text}", self.side.mark()))
            }
            Turn::HearOverHttp(Some(status), text) => Some(format!("<http {status} {text}")),
            Turn::HearOverHttp(None, text) => Some(format!("<http {text}")),
            _ => None,
        }
    }

    /// What was heard, as a line of a transcript.
    pub(crate) fn shown(&self, heard: &Heard) -> String {
        match heard {
            Heard::Message(text) => format!("{} {text}", self.side.mark()),
            Heard::Event(text) => format!("= {text}"),
            Heard::Answer { status, text, .. } => format!("<http {status} {text}"),
            Heard::Wrong(reason) => reason.clone(),
        }
    }
}

/// Whether what was heard is what a turn expects. Values that it names are remembered if it is.
fn fits(turn: &Turn, heard: &Heard, values: &mut Values) -> bool {
    match (turn, heard) {
        (
            Turn::Hear(text) | Turn::HearSometime(text) | Turn::HearOverHttp(None, text),
            Heard::Message(said),
        )
        | (Turn::Learn(text), Heard::Event(said)) => text.matches(said, values),
        (
            Turn::Hear(text) | Turn::HearSometime(text) | Turn::HearOverHttp(None, text),
            Heard::Answer { is_usual: true, text: said, .. },
        ) => text.matches(said, values) || text.matches(&with_null(said), values),
        (Turn::HearOverHttp(Some(wanted), text), Heard::Answer { status, text: said, .. }) => {
            wanted == status && text.matches(said, values)
        }
        _ => false,
    }
}

/// An error that answers no request has no id in the body of an HTTP answer, where other channels
/// say `null` before 2025-11-25.
fn with_null(said: &str) -> String {
    let (bare, null) = (r#"{"jsonrpc":"2.0","error""#, r#"{"jsonrpc":"2.0","id":null,"error""#);
    match said.strip_prefix(bare) {
        Some(rest) => format!("{null}{rest}"),
        None => said.to_owned(),
    }
}

impl Side {
    /// The side at the other end.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// What its lines begin with.
    pub(crate) fn mark(self) -> char {
        match self {
            Self::Client => '>',
            Self::Server => '<',
        }
    }
}
