//! Everything about one tool, resource, template or prompt.

use bowline_ops::schema::JsonMembers;
use bowline_ops::schema::fields::{Field, fields};
use bowline_types::json::{RawJson, Schema};
use bowline_types::prompt::PromptArgument;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::lists::ServerLists;
use crate::print::table::{Table, hanging};
use crate::print::{BOLD, TerminalText, line, lines, text};

/// One thing that a server lists, as the server describes it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct One {
    members: JsonMembers,
}

/// Finds the thing with this name or URI in the only list that was read.
///
/// # Errors
///
/// If the server does not list it.
pub(super) fn find(lists: ServerLists, name: &str) -> Result<One, Failure> {
    let ServerLists { tools, resources, templates, prompts } = lists;
    let all = [
        ("tool", "name", tools.map(|it| described(&it.items))),
        ("resource", "uri", resources.map(|it| described(&it.items))),
        ("template", "uriTemplate", templates.map(|it| described(&it.items))),
        ("prompt", "name", prompts.map(|it| described(&it.items))),
    ];
    let read = all.into_iter().find_map(|(noun, key, list)| Some((noun, key, list?)));
    let Some((noun, key, list)) = read else {
        return Err(Failure::new(Exit::Refused, "the server offers nothing of this kind"));
    };
    let names: Vec<String> = list.iter().map(|it| it.text(key).unwrap_or_default()).collect();
    match list.into_iter().zip(&names).find(|(_, it)| *it == name) {
        Some((one, _)) => Ok(one),
        None => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let failure = Failure::new(Exit::Refused, text!("the server has no {noun} `{name}`"));
            Err(failure.suggesting(name, &names))
        }
    }
}

fn described<T: Serialize>(items: &Result<Vec<T>, Failure>) -> Vec<One> {
    let one = |item: &T| Some(One { members: RawJson::from_value(item).ok()?.parse().ok()? });
    items.iter().flatten().filter_map(one).collect()
}

/// Members that have a place of their own.
const PLACED: [&str; 6] =
    ["name", "uri", "uriTemplate", "description", "inputSchema", "outputSchema"];

impl One {
    fn member(&self, name: &str) -> Option<&RawJson> {
        self.members.0.iter().find(|(there, _)| there == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.member(name)?.parse().ok()
    }

    /// Everything, for people.
    pub(super) fn shown(&self, width: usize) -> TerminalText {
        let name = ["uri", "uriTemplate", "name"].iter().find_map(|key| self.text(key));
        let mut out = BOLD.on(line(name.unwrap_or_default())) + "\n";
        let description = lines(self.text("description").unwrap_or_default().trim());
        for paragraph in description.lines() {
            let indent = if paragraph.is_empty() { "" } else { "  " };
            out = out + indent + hanging(&paragraph, width.saturating_sub(2), 2) + "\n";
        }
        let schema = |name: &str| self.member(name).and_then(|it| Schema::new(it.clone()).ok());
        let tables = [
            schema("inputSchema").map(|it| of_fields("arguments", fields(&it))),
            self.member("arguments").and_then(|it| it.parse().ok()).map(of_prompt),
            schema("outputSchema").map(|it| of_fields("structured output", fields(&it))),
            Some(self.rest()),
        ];
        for table in tables.into_iter().flatten().filter(|table| !table.is_empty()) {
            out = out + "\n" + table.render(width);
        }
        out
    }

    /// What else the server says of it; what an object holds has a row each.
    fn rest(&self) -> Table {
        let mut table = Table::new("more".into());
        let is_placed = |name: &str| PLACED.contains(&name) || name == "arguments";
        for (name, value) in self.members.0.iter().filter(|(name, _)| !is_placed(name)) {
            match value.parse::<JsonMembers>().ok().filter(|it| !it.0.is_empty()) {
                Some(members) => {
                    for (inner, value) in members.0 {
                        table.row(&format!("{name}.{inner}"), &plain(&value));
                    }
                }
                None => table.row(name, &plain(value)),
            }
        }
        table
    }
}

/// A text without its quotes, or else JSON.
fn plain(value: &RawJson) -> String {
    value.parse().unwrap_or_else(|_| value.as_str().to_owned())
}

fn of_fields(heading: &'static str, fields: Vec<Field>) -> Table {
    let mut table = Table::new(heading.into());
    for field in fields {
        let mark = if field.is_required { "" } else { "?" };
        table.row(&format!("{}{mark}", field.path), &field.described());
    }
    table
}

fn of_prompt(arguments: Vec<PromptArgument>) -> Table {
    let mut table = Table::new("arguments".into());
    for argument in arguments {
        let mark = if argument.required { "" } else { "?" };
        let text = argument.description.or(argument.title).unwrap_or_default();
        table.row(&format!("{}{mark}", argument.name), &text);
    }
    table
}
