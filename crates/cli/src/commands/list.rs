//! `bowline list`: the tools, resources, templates and prompts of a server.

mod details;
mod filter;

use std::collections::BTreeMap;
use std::time::Duration;

use bowline::Client;
use bowline_ops::schema;
use bowline_types::page::LeftOutServer;
use bowline_types::prompt::PromptDefinition;
use bowline_types::resource::{ResourceDefinition, ResourceTemplate};
use bowline_types::tool::ToolDefinition;
use serde::Serialize;

use self::filter::Filter;
use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::lists::{KINDS, Kinds, ReadList, ServerLists};
use crate::logins::TargetLogin;
use crate::print::table::Table;
use crate::print::{self, TerminalText, json, table, text};
use crate::request::{RequestArgs, awaited, with_login};

/// Lists the tools, resources, templates and prompts of a server
///
/// With one KIND and a NAME, shows everything about one of them: for a tool its arguments with their
/// types and values, and its annotations. If a list fails that the server declares, the command prints
/// a note; if KIND names that list, it ends with the exit code of the failure. A gateway whose list
/// lacks one of its servers is a note too.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline list [OPTIONS] TARGET [KIND…]
       bowline list [OPTIONS] TARGET KIND NAME
       bowline list [OPTIONS] [KIND…] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, what to list (tools, resources, templates, prompts; all unless named), and the
    /// name or URI of one of them
    #[arg(value_name = "TARGET] [KIND] [NAME")]
    words: Vec<String>,
    /// Lists only what has this text in its name or description; can be repeated
    #[arg(long = "filter", value_name = "TEXT")]
    filter: Vec<String>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline list -- bowline demo --stdio
  bowline list https://mcp.example.com/mcp
  bowline list https://mcp.example.com/mcp tools search    all about one tool
  bowline list https://mcp.example.com/mcp --filter issue
  bowline list tools prompts -- npx -y @modelcontextprotocol/server-everything
  bowline list 'uvx mcp-server-git' tools --json | jq -r '.tools[].name'
";

/// What the words after the server say.
#[derive(Debug)]
struct Wanted {
    kinds: Kinds,
    /// Whether the user names the kinds.
    are_named: bool,
    /// The one thing to show.
    name: Option<String>,
}

impl Wanted {
    fn of(words: &[String]) -> Result<Self, Failure> {
        let mut kinds = Kinds::NONE;
        for (index, word) in words.iter().enumerate() {
            if kinds.add(word) {
                continue;
            }
            if index == 1 && words.len() == 2 {
                return Ok(Self { kinds, are_named: true, name: Some(word.clone()) });
            }
            let known = KINDS.map(|kind| format!("`{kind}`")).join(", ");
            return Err(Failure::usage(text!("`{word}` is not one of {known}"))
                .hint("`bowline list TARGET tools NAME` shows one tool"));
        }
        match words.is_empty() {
            true => Ok(Self { kinds: Kinds::ALL, are_named: false, name: None }),
            false => Ok(Self { kinds, are_named: true, name: None }),
        }
    }
}

/// The lists as they are shown; `None` where the server offers nothing of the kind, it was not asked
/// for, or it could not be read.
#[derive(Debug, Default, Serialize)]
struct Lists {
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolDefinition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Vec<ResourceDefinition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    templates: Option<Vec<ResourceTemplate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Vec<PromptDefinition>>,
    /// Why lists that the server declares are missing, or lack what a server behind it has.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    errors: BTreeMap<&'static str, String>,
}

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        let wanted = Wanted::of(&self.words)?;
        let noise = target.watch.noise.clone();
        let read = async |client: &Client, login: &TargetLogin| {
            let read = ServerLists::read(client, wanted.kinds, Duration::MAX, login);
            Ok(awaited("waiting for the lists".into(), Box::pin(read)).await)
        };
        let lists = with_login(target, self.request.client(Questions::Declined), read).await?;
        if let Some(noise) = noise.and_then(|noise| noise.described()) {
            print::note(TerminalText::from("note: ") + noise);
        }
        match wanted.name {
            Some(name) => self.print_one(lists, &name),
            None => self.print(lists, wanted.are_named),
        }
    }

    /// Prints the lists, and notes those that could not be read.
    fn print(&self, mut read: ServerLists, are_named: bool) -> Result<Exit, Failure> {
        let is_of_use = read.is_of_use();
        let mut failures = read.take_failures();
        let left_out = read.left_out();
        if !is_of_use && !failures.is_empty() {
            return Err(failures.remove(0).1);
        }
        let mut lists = Lists {
            tools: items(read.tools),
            resources: items(read.resources),
            templates: items(read.templates),
            prompts: items(read.prompts),
            errors: failures.iter().map(|(kind, it)| (*kind, it.to_string())).collect(),
        };
        for (LeftOutServer { server, cause, .. }, kinds) in &left_out {
            for kind in kinds {
                let reasons = lists.errors.entry(kind).or_default();
                let separator = if reasons.is_empty() { "" } else { "; " };
                reasons.push_str(&format!("{separator}the server `{server}` is missing: {cause}"));
            }
        }
        let filter = Filter::new(&self.filter);
        lists.keep(&filter);
        match self.request.json {
            true => json::print(&lists),
            false => print::text(shown(&lists, &filter, table::width())),
        }
        for (kind, failure) in &failures {
            print::note(text!("note: {kind} cannot be listed: ") + failure.text());
        }
        for (LeftOutServer { server, cause, .. }, kinds) in &left_out {
            print::note(text!("note: {} lack the server `{server}`: {cause}", kinds.join(", ")));
        }
        match failures.first() {
            Some((_, failure)) if are_named => Ok(failure.exit()),
            _ => Ok(Exit::Done),
        }
    }

    /// Prints everything about one thing.
    fn print_one(&self, mut lists: ServerLists, name: &str) -> Result<Exit, Failure> {
        if let Some((_, failure)) = lists.take_failures().into_iter().next() {
            return Err(failure);
        }
        let one = details::find(lists, name)?;
        match self.request.json {
            true => json::print(&one),
            false => print::text(one.shown(table::width())),
        }
        Ok(Exit::Done)
    }
}

impl Lists {
    /// Keeps what the filter keeps.
    fn keep(&mut self, filter: &Filter) {
        keep(&mut self.tools, |it| filter.keeps(&it.name, &about(&it.description, &it.title)));
        keep(&mut self.resources, |it| {
            filter.keeps(&format!("{} {}", it.uri, it.name), &about(&it.description, &it.title))
        });
        keep(&mut self.templates, |it| {
            let name = format!("{} {}", it.uri_template, it.name);
            filter.keeps(&name, &about(&it.description, &it.title))
        });
        keep(&mut self.prompts, |it| filter.keeps(&it.name, &about(&it.description, &it.title)));
    }
}

fn keep<T>(list: &mut Option<Vec<T>>, is_kept: impl Fn(&T) -> bool) {
    if let Some(items) = list {
        items.retain(is_kept);
    }
}

fn items<T>(list: Option<ReadList<T>>) -> Option<Vec<T>> {
    list.and_then(|list| list.items.ok())
}

/// The lists as text.
fn shown(lists: &Lists, filter: &Filter, width: usize) -> TerminalText {
    let shown: Vec<_> = tables(lists, filter).iter().map(|table| table.render(width)).collect();
    match shown.is_empty() {
        true => filter.nothing(),
        false => TerminalText::joined(shown, "\n"),
    }
}

fn tables(lists: &Lists, filter: &Filter) -> Vec<Table> {
    let mut tables = Vec::new();
    if let Some(tools) = lists.tools.as_ref().filter(|it| filter.shows(it.len())) {
        let row = |it: &ToolDefinition| (schema::signature(it), about(&it.description, &it.title));
        tables.push(table(filter.heading(tools.len(), "tool"), tools, row));
    }
    if let Some(resources) = lists.resources.as_ref().filter(|it| filter.shows(it.len())) {
        let row = |it: &ResourceDefinition| {
            (it.uri.clone(), named(&it.description, it.display_name(), &it.uri))
        };
        tables.push(table(filter.heading(resources.len(), "resource"), resources, row));
    }
    if let Some(templates) = lists.templates.as_ref().filter(|it| filter.shows(it.len())) {
        let row = |it: &ResourceTemplate| {
            (it.uri_template.clone(), named(&it.description, it.display_name(), &it.uri_template))
        };
        tables.push(table(filter.heading(templates.len(), "template"), templates, row));
    }
    if let Some(prompts) = lists.prompts.as_ref().filter(|it| filter.shows(it.len())) {
        let row = |it: &PromptDefinition| (prompt_signature(it), about(&it.description, &it.title));
        tables.push(table(filter.heading(prompts.len(), "prompt"), prompts, row));
    }
    tables
}

fn table<T>(heading: TerminalText, items: &[T], row: impl Fn(&T) -> (String, String)) -> Table {
    let mut table = Table::new(heading);
    for (name, text) in items.iter().map(row) {
        table.row(&name, &text);
    }
    table
}

/// The description, or else the title.
fn about(description: &Option<String>, title: &Option<String>) -> String {
    description.as_ref().or(title.as_ref()).cloned().unwrap_or_default()
}

/// The description, or else the name unless it repeats the URI.
fn named(description: &Option<String>, name: &str, uri: &str) -> String {
    about(description, &Some(name.to_owned()).filter(|name| name != uri))
}

/// The name of a prompt with its arguments; optional ones have a question mark.
fn prompt_signature(prompt: &PromptDefinition) -> String {
    let mark = |is_required| if is_required { "" } else { "?" };
    let arguments = prompt.arguments.iter();
    let arguments: Vec<String> =
        arguments.map(|it| format!("{}{}", it.name, mark(it.required))).collect();
    format!("{}({})", prompt.name, arguments.join(", "))
}
