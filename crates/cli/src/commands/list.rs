//! `bowline list`: the tools, resources, templates and prompts of a server.

use bowline::Client;
use bowline::client::{List, Result as ClientResult};
use bowline::types::prompt::PromptDefinition;
use bowline::types::resource::{ResourceDefinition, ResourceTemplate};
use bowline::types::text::counted;
use bowline::types::tool::ToolDefinition;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::print::table::Table;
use crate::print::{self, TerminalText, json, table, text};
use crate::request::{RequestArgs, with_client};
use crate::schema;

/// Lists the tools, resources, templates and prompts of a server
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline list [OPTIONS] TARGET [KIND…]
       bowline list [OPTIONS] [KIND…] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, and what to list: tools, resources, templates, prompts; all unless named
    #[arg(value_name = "TARGET] [KIND")]
    words: Vec<String>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline list -- bowline demo --stdio
  bowline list https://mcp.example.com/mcp
  bowline list tools prompts -- npx -y @modelcontextprotocol/server-everything
  bowline list 'uvx mcp-server-git' tools --json | jq -r '.tools[].name'
";

/// What to list.
#[derive(Clone, Copy, Debug)]
struct Kinds {
    tools: bool,
    resources: bool,
    templates: bool,
    prompts: bool,
}

impl Kinds {
    fn of(words: &[String]) -> Result<Self, Failure> {
        let all = words.is_empty();
        let mut kinds = Self { tools: all, resources: all, templates: all, prompts: all };
        for word in words {
            match word.as_str() {
                "tools" => kinds.tools = true,
                "resources" => kinds.resources = true,
                "templates" => kinds.templates = true,
                "prompts" => kinds.prompts = true,
                other => {
                    let kinds = "one of `tools`, `resources`, `templates`, `prompts`";
                    return Err(Failure::usage(text!("`{other}` is not {kinds}")));
                }
            }
        }
        Ok(kinds)
    }
}

/// The lists; `None` where the server offers nothing of the kind, or it was not asked for.
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
}

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        let kinds = Kinds::of(&self.words)?;
        let read = async |client: &Client| Ok(read(client, kinds).await?);
        let lists = with_client(target, self.request.client(), read).await?;
        match self.request.json {
            true => json::print(&lists),
            false => print::text(shown(&lists, table::width())),
        }
        Ok(Exit::Done)
    }
}

async fn read(client: &Client, kinds: Kinds) -> ClientResult<Lists> {
    let offered = client.capabilities();
    let (tools, resources) = (offered.tools.is_some(), offered.resources.is_some());
    Ok(Lists {
        tools: listed(kinds.tools && tools, client.tools()).await?,
        resources: listed(kinds.resources && resources, client.resources()).await?,
        templates: listed(kinds.templates && resources, client.resource_templates()).await?,
        prompts: listed(kinds.prompts && offered.prompts.is_some(), client.prompts()).await?,
    })
}

async fn listed<T: Send + 'static>(wanted: bool, list: List<T>) -> ClientResult<Option<Vec<T>>> {
    if wanted { list.all().await.map(Some) } else { Ok(None) }
}

/// The lists as text.
fn shown(lists: &Lists, width: usize) -> TerminalText {
    let shown: Vec<_> = tables(lists).iter().map(|table| table.render(width)).collect();
    match shown.is_empty() {
        true => "the server offers none of these".into(),
        false => TerminalText::joined(shown, "\n"),
    }
}

fn tables(lists: &Lists) -> Vec<Table> {
    let mut tables = Vec::new();
    if let Some(tools) = &lists.tools {
        let row = |it: &ToolDefinition| (schema::signature(it), about(&it.description, &it.title));
        tables.push(table("tool", tools, row));
    }
    if let Some(resources) = &lists.resources {
        let row = |it: &ResourceDefinition| {
            (it.uri.clone(), named(&it.description, it.display_name(), &it.uri))
        };
        tables.push(table("resource", resources, row));
    }
    if let Some(templates) = &lists.templates {
        let row = |it: &ResourceTemplate| {
            (it.uri_template.clone(), named(&it.description, it.display_name(), &it.uri_template))
        };
        tables.push(table("template", templates, row));
    }
    if let Some(prompts) = &lists.prompts {
        let row = |it: &PromptDefinition| (prompt_signature(it), about(&it.description, &it.title));
        tables.push(table("prompt", prompts, row));
    }
    tables
}

fn table<T>(noun: &str, items: &[T], row: impl Fn(&T) -> (String, String)) -> Table {
    let mut table = Table::new(text!("{}", counted(items.len(), noun)));
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
