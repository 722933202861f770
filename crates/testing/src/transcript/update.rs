//! Writes into a transcript what is really said.

use std::collections::BTreeMap;

use bowline_types::revision::Revision;
use serde_json::Value;

use super::play::{Player, Step};
use super::script::Side;
use super::stage::{Heard, Stage};
use super::text::{Values, Words};

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
    let mut edits =
        Edits { lines: file.lines().collect(), after: BTreeMap::new(), gone: Vec::new() };
    // What comes by itself, before anything is said or done, stands before the first line.
    let mut place = steps.first().map_or(0, |first| first.number - 1);
    let mut steps = steps.iter().peekable();
    loop {
        let mut expected = Vec::new();
        while let Some(step) = steps.next_if(|step| step.turn.is_expected()) {
            expected.push(step);
        }
        let mut heard = Vec::new();
        while let Some(one) = player.stage.spare().await {
            heard.push(one);
        }
        edits.replace(place, &expected, &heard, &mut player, words);
        let Some(step) = steps.next() else { return Ok(edits.finish()) };
        place = step.number;
        player.act(&step.turn).await.map_err(|reason| (place, reason))?;
    }
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
        let written: Vec<_> =
            expected.iter().filter(|step| self.holds_expectation(step.number)).collect();
        if written.len() < expected.len() {
            return;
        }
        let mut new = Vec::new();
        for (position, one) in heard.iter().enumerate() {
            let right = expected.get(position).filter(|step| player.fits(&step.turn, one));
            let line = right
                .and_then(|step| self.lines.get(step.number - 1))
                .map(|line| (*line).to_owned());
            new.push(line.unwrap_or_else(|| player.written(one, words)));
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

impl<S: Stage> Player<'_, S> {
    /// What was heard, as it is written into a file. What a client says has been said to it before,
    /// so only what a server says is abbreviated.
    fn written(&mut self, heard: &Heard, words: &Words) -> String {
        let line = self.shown(heard);
        match self.side {
            Side::Server => abbreviated(&line, words, &mut self.values),
            Side::Client => line,
        }
    }
}

/// Members whose values mean something to the server only, and the names that they get.
const OPAQUE: &[(&str, &str)] =
    &[("requestState", "state"), ("nextCursor", "cursor"), ("elicitationId", "page")];

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

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words { revision: Revision::LATEST, server: r#"{"by":"kit"}"#.to_owned() }
    }

    #[test]
    fn what_only_the_server_understands_gets_a_name() {
        let mut values = Values::new();
        let mut short = |line: &str| abbreviated(line, &words(), &mut values);
        let first = r#"< {"_meta":{"by":"kit"},"requestState":"a\"b"}"#;
        assert_eq!(short(first), r#"< {"_meta":@server,"requestState":@state}"#);
        assert_eq!(short(r#"< {"requestState":"c"}"#), r#"< {"requestState":@state2}"#);
        assert_eq!(short(r#"< {"requestState":"a\"b"}"#), r#"< {"requestState":@state}"#);
        assert_eq!(short(r#"< {"nextCursor":"2"}"#), r#"< {"nextCursor":@cursor}"#);
    }

    #[test]
    fn new_lines_of_a_file_for_several_revisions_name_none() {
        let original = "> {\"a\":\"2025-06-18\"}\n";
        let text = format!("{original}< {{\"b\":\"2025-06-18\",\"c\":\"in 2025-06-18\"}}\n");
        let expected = format!("{original}< {{\"b\":@revision,\"c\":\"in @revision\"}}\n");
        assert_eq!(generalised(&text, Revision::V2025_06_18, original), expected);
    }
}
