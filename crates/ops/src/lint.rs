//! What hosts and models stumble over in the lists of a server.

use std::collections::BTreeMap;

use bowline_json_schema::Validator;
use bowline_types::json::Schema;
use bowline_types::page::LeftOutServer;
use bowline_types::prompt::PromptDefinition;
use bowline_types::resource::{ResourceDefinition, ResourceTemplate};
use bowline_types::tool::{ToolDefinition, check_name};
use serde::Serialize;

use crate::tokens;

/// The lists of a server.
#[derive(Debug, Default)]
pub struct Lists {
    /// `tools/list`.
    pub tools: Vec<ToolDefinition>,
    /// `resources/list`.
    pub resources: Vec<ResourceDefinition>,
    /// `resources/templates/list`.
    pub templates: Vec<ResourceTemplate>,
    /// `prompts/list`.
    pub prompts: Vec<PromptDefinition>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Clients may refuse it, or it cannot work.
    Error,
    /// A model or a host may handle it badly.
    Warning,
}

/// Something that should be mended.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What it is about, such as "tool `add`".
    pub subject: String,
    /// What is wrong.
    pub text: String,
}

/// The longest name of a tool that the interfaces of all large models take.
const LONGEST_NAME: usize = 64;
/// The longest description that needs no second look, in characters.
const LONGEST_DESCRIPTION: usize = 2000;
/// How many tools a model chooses from without trouble.
const MOST_TOOLS: usize = 50;
/// How many tokens a list of tools may cost before it is worth a remark.
const MOST_TOKENS: usize = 10_000;

/// The finding about text on standard output that is no message.
pub fn noise(text: &str) -> Finding {
    let text = format!("{text}; logs belong on standard error");
    Finding { level: Level::Warning, subject: "standard output".to_owned(), text }
}

/// The finding about a server that a gateway left out of these lists.
pub fn left_out(missing: &LeftOutServer, kinds: &[&str]) -> Finding {
    let LeftOutServer { server, cause, .. } = missing;
    let text = format!("lack the server `{server}`: {cause}");
    Finding { level: Level::Warning, subject: kinds.join(", "), text }
}

/// All findings, errors first.
pub fn findings(lists: &Lists) -> Vec<Finding> {
    let mut found = Found::default();
    for tool in &lists.tools {
        found.tool(tool);
    }
    found.whole_list(&lists.tools);
    found.twice("tool", lists.tools.iter().map(|it| it.name.as_str()), "name");
    found.twice("tool", lists.tools.iter().filter_map(|it| it.title.as_deref()), "title");
    found.twice("resource", lists.resources.iter().map(|it| it.uri.as_str()), "URI");
    for template in lists.templates.iter().filter(|it| is_empty(&it.description)) {
        found.warn(subject("template", &template.uri_template), "has no description");
    }
    found.twice("prompt", lists.prompts.iter().map(|it| it.name.as_str()), "name");
    for prompt in lists.prompts.iter().filter(|it| is_empty(&it.description)) {
        found.warn(subject("prompt", &prompt.name), "has no description");
    }
    found.0.sort_by_key(|finding| finding.level);
    found.0
}

#[derive(Default)]
struct Found(Vec<Finding>);

impl Found {
    fn error(&mut self, subject: String, text: impl Into<String>) {
        self.0.push(Finding { level: Level::Error, subject, text: text.into() });
    }

    fn warn(&mut self, subject: String, text: impl Into<String>) {
        self.0.push(Finding { level: Level::Warning, subject, text: text.into() });
    }

    fn tool(&mut self, tool: &ToolDefinition) {
        let about = || subject("tool", &tool.name);
        match check_name(&tool.name) {
            Err(error) => self.error(about(), error.to_string()),
            Ok(()) if tool.name.len() > LONGEST_NAME => {
                let text = format!(
                    "its name has more than {LONGEST_NAME} characters; some models refuse it"
                );
                self.warn(about(), text);
            }
            Ok(()) if tool.name.contains('.') => {
                self.warn(about(), "its name has a dot; some models refuse it");
            }
            Ok(()) => {}
        }
        match tool.description.as_deref().map_or(0, |it| it.chars().count()) {
            0 => self.warn(about(), "has no description, so a model cannot know when to call it"),
            count if count > LONGEST_DESCRIPTION => {
                self.warn(about(), format!("its description has {count} characters"));
            }
            _ => {}
        }
        self.schema(tool, "input", &tool.input_schema);
        if let Some(schema) = &tool.output_schema {
            self.schema(tool, "output", schema);
        }
    }

    fn schema(&mut self, tool: &ToolDefinition, which: &str, schema: &Schema) {
        let about = subject("tool", &tool.name);
        let Ok(value) = schema.parse::<serde_json::Value>() else {
            return self.error(about, format!("its {which} schema is no JSON"));
        };
        if value.get("type").and_then(|it| it.as_str()) != Some("object") {
            let text = format!("its {which} schema does not say `\"type\": \"object\"`");
            self.error(about.clone(), text);
        }
        match Validator::compile(&value) {
            Ok(_) => {}
            Err(error) if error.is_external_reference() => {
                let text = format!("its {which} schema refers to another document: {error}");
                self.error(about.clone(), text);
            }
            Err(error) => self.error(about.clone(), format!("its {which} schema: {error}")),
        }
    }

    fn whole_list(&mut self, tools: &[ToolDefinition]) {
        let about = || "the list of tools".to_owned();
        if tools.len() > MOST_TOOLS {
            let text = format!(
                "has {} tools; models choose worse from more than {MOST_TOOLS}",
                tools.len()
            );
            self.warn(about(), text);
        }
        let tokens = tokens::of_tools(tools);
        if tokens > MOST_TOKENS {
            let largest = tools.iter().max_by_key(|tool| tokens::of_tool(tool));
            let largest = largest.map(|it| format!("; the largest is `{}`", it.name));
            let text =
                format!("costs a model about {tokens} tokens{}", largest.unwrap_or_default());
            self.warn(about(), text);
        }
    }

    /// Names that are there more than once.
    fn twice<'a>(&mut self, noun: &str, names: impl Iterator<Item = &'a str>, what: &str) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in names {
            *counts.entry(name).or_default() += 1;
        }
        for (name, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
            let text = format!("{count} {noun}s have this {what}");
            match what {
                "title" => self.warn(subject(what, name), text),
                _ => self.error(subject(noun, name), text),
            }
        }
    }
}

fn subject(noun: &str, name: &str) -> String {
    format!("{noun} `{name}`")
}

fn is_empty(text: &Option<String>) -> bool {
    text.as_deref().is_none_or(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(json: &str) -> ToolDefinition {
        serde_json::from_str(json).unwrap()
    }

    fn texts(tools: &[&str]) -> Vec<String> {
        let tools = tools.iter().map(|json| tool(json)).collect();
        let lists = Lists { tools, ..Lists::default() };
        let text = |it: Finding| format!("{:?} {}: {}", it.level, it.subject, it.text);
        findings(&lists).into_iter().map(text).collect()
    }

    #[test]
    fn a_good_tool_has_no_findings() {
        let good = r#"{"name":"add","description":"Add","inputSchema":{"type":"object",
            "properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}}"#;
        assert_eq!(texts(&[good]), [""; 0]);
    }

    #[test]
    fn names_schemas_and_descriptions_are_checked() {
        let found = texts(&[
            r#"{"name":"my tool","description":"x","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a.b","title":"Same","description":"x","inputSchema":{"type":"object"}}"#,
            r#"{"name":"twice","title":"Same","inputSchema":{"type":"object"}}"#,
            r#"{"name":"twice","description":"x","inputSchema":{"type":"string"}}"#,
            r##"{"name":"far","description":"x","inputSchema":{"type":"object",
                "properties":{"x":{"$ref":"https://example.com/schema.json"}}}}"##,
            r#"{"name":"odd","description":"x","inputSchema":{"type":"object",
                "properties":{"x":{"type":"strin"}}}}"#,
        ]);
        let has = |parts: &[&str]| {
            let fits = |text: &String| parts.iter().all(|part| text.contains(part));
            assert!(found.iter().any(fits), "{parts:?}: {found:#?}");
        };
        has(&["Error tool `my tool`:", "' '"]);
        has(&["Warning tool `a.b`:", "dot"]);
        has(&["Warning title `Same`: 2 tools have this title"]);
        has(&["Error tool `twice`: 2 tools have this name"]);
        has(&["Warning tool `twice`: has no description"]);
        has(&["Error tool `twice`:", r#""type": "object""#]);
        has(&["Error tool `far`:", "another document"]);
        has(&["Error tool `odd`: its input schema"]);
        assert_eq!(found.len(), 8, "{found:#?}");
    }

    #[test]
    fn long_lists_are_remarked_on() {
        let text = "word ".repeat(300);
        let tools: Vec<String> = (0..51)
            .map(|it| {
                format!(
                    r#"{{"name":"t{it}","description":"{text}","inputSchema":{{"type":"object"}}}}"#
                )
            })
            .collect();
        let found = texts(&tools.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(found[0].contains("has 51 tools"), "{found:?}");
        assert!(found[1].contains("tokens; the largest is"), "{found:?}");
    }
}
