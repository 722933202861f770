//! Writes into a transcript what is really said.

use std::collections::BTreeMap;

use bowline_types::revision::Revision;
use serde_json::Value;

use super::play::{Player, Step, Turn};
use super::script::Side;
use super::stage::{Heard, Stage};
use super::text::{Text, Values, Words};

/// Plays steps, and gives the text of the file with what was heard in place of what was expected.
/// Lines that are right stay as they are.
///
/// # Errors
///
/// If the play cannot be carried on; with the line and the reason.
pub(crate) async fn update<S: Stage>(
    file: &str,
    side: Side,
    steps: &[Step],
    words: &Words,
    stage: &mut S,
) -> Result<String, (usize, String)> {
    let mut player = Player::new(side, stage);
    let mut edits = Edits { lines: file.lines().collect(), after: BTreeMap::new(), gone: Vec::new() };
    let mut steps = steps.iter().peekable();
    while let Some(step) = steps.next() {
        let mut expected = Vec::new();
        player.act(&step.turn).await.map_err(|reason| (step.number, reason))?;
        if step.turn.is_expected() {
            expected.push(step);
        }
        while let Some(next) = steps.next_if(|next| next.turn.is_expected()) {
            expected.push(next);
        }
        let mut heard = Vec::new();
        while let Some(one) = player.stage.spare().await {
            heard.push(one);
        }
        edits.replace(step.number, &expected, &heard, &mut player, words);
    }
    Ok(edits.finish())
}

/// What changes in a file.
struct Edits<'a> {
    lines: Vec<&'a str>,
    /// New lines, by the number of the line that they come after.
    after: BTreeMap<usize, Vec<String>>,
    /// Numbers of lines that are replaced.
    gone: Vec<usize>,
}

impl Edits<'_> {
    fn replace<S: Stage>(
        &mut self,
        number: usize,
        expected: &[&Step],
        heard: &[Heard],
        player: &mut Player<'_, S>,
        words: &Words,
    ) {
        // A handshake is one line in the file; what it expects is not written there.
        let written: Vec<_> = expected.iter().filter(|step| self.holds_expectation(step.number)).collect();
        if written.len() < expected.len() {
            return;
        }
        let mut new = Vec::new();
        for (position, one) in heard.iter().enumerate() {
            let right = expected.get(position).filter(|step| player.fits(&step.turn, one));
            let line = right.and_then(|step| self.lines.get(step.number - 1)).map(|line| (*line).to_owned());
            new.push(line.unwrap_or_else(|| abbreviated(&player.shown(one), words, &mut player.values)));
        }
        self.gone.extend(written.iter().map(|step| step.number));
        self.after.entry(number).or_default().extend(new);
    }

    fn holds_expectation(&self, number: usize) -> bool {
        self.lines.get(number - 1).is_some_and(|line| line.starts_with(['>', '<', '=']))
    }

    fn finish(self) -> String {
        let mut text = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            let number = index + 1;
            if !self.gone.contains(&number) {
                text.push_str(line);
                text.push('\n');
            }
            for line in self.after.get(&number).into_iter().flatten() {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

impl Turn {
    fn is_expected(&self) -> bool {
        matches!(self, Self::Hear(_) | Self::HearSometime(_) | Self::Learn(_))
    }
}

/// Members whose values mean something to the server only, and the names that they get.
const OPAQUE: &[(&str, &str)] = &[("requestState", "state"), ("nextCursor", "cursor")];

/// A line with the words of transcripts in it where they say the same.
fn abbreviated(line: &str, words: &Words, values: &mut Values) -> String {
    let mut line = line.replace(&format!("\"_meta\":{}", words.server), "\"_meta\":@server");
    for (member, name) in OPAQUE {
        if let Some(value) = value_of(member, &line) {
            let name = named(name, &value, values);
            line = line.replace(&format!("\"{member}\":{value}"), &format!("\"{member}\":@{name}"));
        }
    }
    line
}

/// The name of a value: the one it has already, or a new one.
fn named(name: &str, value: &str, values: &mut Values) -> String {
    if let Some((known, _)) = values.iter().find(|(_, known)| *known == value) {
        return known.clone();
    }
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let name = names.find(|name| !values.contains_key(name)).unwrap_or_default();
    values.insert(name.clone(), value.to_owned());
    name
}

/// The value of a member in a message, as JSON.
fn value_of(member: &str, line: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{member}\":"))?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    Some(values.next()?.ok()?.to_string())
}

/// Puts `@revision` where a file that is played in several revisions names the one it was updated
/// in.
pub(crate) fn generalised(text: &str, revision: Revision, original: &str) -> String {
    let known: Vec<_> = original.lines().collect();
    let lines = text.lines().map(|line| {
        if known.contains(&line) {
            return line.to_owned();
        }
        let quoted = format!("\"{revision}\"");
        line.replace(&quoted, "@revision").replace(revision.as_str(), "@revision")
    });
    lines.map(|line| format!("{line}\n")).collect()
}

impl Text {
    /// Text in which only `@any` and names stand for something else.
    pub(crate) fn literal(line: &str) -> Self {
        let words = Words { revision: Revision::LATEST, server: "{}".to_owned() };
        Self::parse(line, &words).unwrap_or_else(|_| Self::plain(line))
    }
}
