//! Rewrites the expectations of a transcript with what the side under test really sends.
//!
//! The steps of the file are played as usual, but outputs are collected instead of compared. A run
//! of expectations is then replaced as a whole. Values that a server makes up (states, cursors, ids
//! of pages) become placeholders, because they differ from play to play.

use std::collections::BTreeMap;

use bowline_types::revision::Revision;
use serde_json::Value;

use super::play::{Player, Step};
use super::script::Side;
use super::side_under_test::{Output, SideUnderTest};
use super::template::{Placeholders, Values};

/// Plays steps, and returns the text of the file with the real outputs in place of the expected ones.
/// Lines that match stay as they are.
///
/// # Errors
///
/// If a line cannot be played; with its number and the reason.
pub(crate) async fn update<S: SideUnderTest>(
    file: &str,
    side: Side,
    steps: &[Step],
    placeholders: &Placeholders,
    tested: &mut S,
) -> Result<String, (usize, String)> {
    let mut player = Player::new(side, tested);
    let mut edits =
        Edits { lines: file.lines().collect(), after: BTreeMap::new(), gone: Vec::new() };
    // Outputs that come before the first step go above the first line.
    let mut place = steps.first().map_or(0, |first| first.number - 1);
    let mut steps = steps.iter().peekable();
    loop {
        let mut expected = Vec::new();
        while let Some(step) = steps.next_if(|step| step.kind.is_expectation()) {
            expected.push(step);
        }
        let mut outputs = Vec::new();
        while let Some(output) = player.tested.try_next().await {
            outputs.push(output);
        }
        edits.replace(place, &expected, &outputs, &mut player, placeholders);
        let Some(step) = steps.next() else { return Ok(edits.finish()) };
        place = step.number;
        player.act(&step.kind).await.map_err(|reason| (place, reason))?;
    }
}

/// The changes of a file. Lines keep their numbers until the end, so that steps can refer to them.
struct Edits<'a> {
    lines: Vec<&'a str>,
    /// New lines, by the number of the line that they come after.
    after: BTreeMap<usize, Vec<String>>,
    /// The numbers of the lines that are removed.
    gone: Vec<usize>,
}

impl Edits<'_> {
    /// Lines that still fit are kept with their placeholders and their spelling.
    fn replace<S: SideUnderTest>(
        &mut self,
        number: usize,
        expected: &[&Step],
        outputs: &[Output],
        player: &mut Player<'_, S>,
        placeholders: &Placeholders,
    ) {
        // `@initialize` is one line, and its expectation is not in the file.
        let written: Vec<_> =
            expected.iter().filter(|step| self.holds_expectation(step.number)).collect();
        if written.len() < expected.len() {
            return;
        }
        let mut new = Vec::new();
        for (position, output) in outputs.iter().enumerate() {
            let right = expected.get(position).filter(|step| player.fits(&step.kind, output));
            let line = right
                .and_then(|step| self.lines.get(step.number - 1))
                .map(|line| (*line).to_owned());
            new.push(line.unwrap_or_else(|| player.written(output, placeholders)));
        }
        self.gone.extend(written.iter().map(|step| step.number));
        self.after.entry(number).or_default().extend(new);
    }

    /// Whether the line is an expectation, and not `@initialize`, which stands for several steps.
    fn holds_expectation(&self, number: usize) -> bool {
        self.lines.get(number - 1).is_some_and(|line| line.starts_with(['>', '<', '=']))
    }

    /// The new text of the file: kept lines, with new ones after those that they belong to.
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

impl<S: SideUnderTest> Player<'_, S> {
    /// An output as it is written into the file. Placeholders are put only into messages of a server:
    /// a client repeats what the file sent to it.
    fn written(&mut self, output: &Output, placeholders: &Placeholders) -> String {
        let line = self.shown(output);
        match self.side {
            Side::Server => abbreviated(&line, placeholders, &mut self.values),
            Side::Client => line,
        }
    }
}

/// Members with opaque values of the server, and the names of their placeholders.
const OPAQUE: &[(&str, &str)] =
    &[("requestState", "state"), ("nextCursor", "cursor"), ("elicitationId", "page")];

/// Puts placeholders into a line.
fn abbreviated(line: &str, placeholders: &Placeholders, values: &mut Values) -> String {
    let mut line = line.replace(&format!("\"_meta\":{}", placeholders.server), "\"_meta\":@server");
    for (member, name) in OPAQUE {
        if let Some(value) = value_of(member, &line) {
            let name = named(name, &value, values);
            line = line.replace(&format!("\"{member}\":{value}"), &format!("\"{member}\":@{name}"));
        }
    }
    line
}

/// Returns the name of a value: its present one, or a new one.
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

/// Finds the value of a member in a message, as JSON.
fn value_of(member: &str, line: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{member}\":"))?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    Some(values.next()?.ok()?.to_string())
}

/// Replaces the revision of the play by `@revision` in new lines, for files with several revisions.
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

    fn placeholders() -> Placeholders {
        Placeholders { revision: Revision::LATEST, server: r#"{"by":"kit"}"#.to_owned() }
    }

    #[test]
    fn an_opaque_value_of_the_server_becomes_a_named_placeholder() {
        let mut values = Values::new();
        let mut short = |line: &str| abbreviated(line, &placeholders(), &mut values);
        let first = r#"< {"_meta":{"by":"kit"},"requestState":"a\"b"}"#;
        assert_eq!(short(first), r#"< {"_meta":@server,"requestState":@state}"#);
        assert_eq!(short(r#"< {"requestState":"c"}"#), r#"< {"requestState":@state2}"#);
        assert_eq!(short(r#"< {"requestState":"a\"b"}"#), r#"< {"requestState":@state}"#);
        assert_eq!(short(r#"< {"nextCursor":"2"}"#), r#"< {"nextCursor":@cursor}"#);
    }

    #[test]
    fn a_new_line_of_a_file_for_several_revisions_has_the_revision_placeholder() {
        let original = "> {\"a\":\"2025-06-18\"}\n";
        let text = format!("{original}< {{\"b\":\"2025-06-18\",\"c\":\"in 2025-06-18\"}}\n");
        let expected = format!("{original}< {{\"b\":@revision,\"c\":\"in @revision\"}}\n");
        assert_eq!(generalised(&text, Revision::V2025_06_18, original), expected);
    }
}
