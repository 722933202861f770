//! The tools as their server listed them last, and their results held against what it published.
//!
//! A tool that was never listed is called all the same; nothing is known of it, so nothing is
//! checked. What is remembered ends with the server's word that its list changed, so that a result
//! is never held against a schema of before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bowline_proto::mirror::x_mcp_header::{MirroredParam, mirrored};
use bowline_proto::schema::{SchemaError, Validator};
use bowline_types::json::Schema;
use bowline_types::tool::{CallToolResult, TaskSupport, ToolAnnotations, ToolDefinition};
use serde_json::Value;

/// Bytes of all definitions that are remembered. A server that lists more than that is not checked
/// in full.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The tools that a server listed.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<Listed>);

#[derive(Debug, Default)]
struct Listed {
    tools: HashMap<String, Arc<Known>>,
    bytes: usize,
}

/// A tool that was listed.
#[derive(Debug)]
pub(crate) struct Known {
    definition: ToolDefinition,
    output: OnceLock<Output>,
    marks: OnceLock<Vec<MirroredParam>>,
}

/// How the results of a tool are checked; found out when it is first called.
#[derive(Debug)]
pub(crate) enum Output {
    /// Against its schema.
    Checked(Validator),
    /// Not at all: there is no schema, or none that can be used, and why.
    Unchecked(Option<SchemaError>),
    /// They cannot be: the schema refers to something outside of itself, which is never fetched.
    Unresolvable(SchemaError),
}

impl Catalogue {
    /// Remembers tools that were listed, instead of those of the same name; gives how many there
    /// was no room for.
    pub(crate) fn note(&self, tools: &[ToolDefinition]) -> usize {
        let mut listed = self.lock();
        tools.iter().filter(|tool| !listed.note(tool)).count()
    }

    /// Forgets everything: the server says that its list changed.
    pub(crate) fn forget(&self) {
        *self.lock() = Listed::default();
    }

    /// What the server says that a tool may do.
    pub(crate) fn annotations(&self, tool: &str) -> Option<ToolAnnotations> {
        self.find(tool)?.definition.annotations.clone()
    }

    /// The tool of this name, if it was listed.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Known>> {
        self.lock().tools.get(name).cloned()
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned list is a good one.
    fn lock(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listed {
    /// Remembers a tool, if there is room.
    fn note(&mut self, tool: &ToolDefinition) -> bool {
        if self.tools.get(&tool.name).is_some_and(|known| known.definition == *tool) {
            return true;
        }
        if let Some(old) = self.tools.remove(&tool.name) {
            self.bytes -= size(&old.definition);
        }
        let bytes = size(tool);
        let fits = self.bytes + bytes <= MOST_BYTES;
        if fits {
            self.bytes += bytes;
            let known =
                Known { definition: tool.clone(), output: OnceLock::new(), marks: OnceLock::new() };
            self.tools.insert(tool.name.clone(), Arc::new(known));
        }
        fits
    }
}

impl Known {
    /// Whether it may not be called plainly.
    pub(crate) fn runs_only_as_task(&self) -> bool {
        self.definition.task_support() == TaskSupport::Required
    }

    /// The arguments that it wants repeated in headers. One that marks them wrongly wants none.
    pub(crate) fn marks(&self) -> &[MirroredParam] {
        self.marks.get_or_init(|| mirrored(&self.definition.input_schema).unwrap_or_default())
    }

    /// How its results are checked. `odd` is told, once, if they cannot be.
    pub(crate) fn output(&self, odd: impl FnOnce(&str)) -> &Output {
        self.output.get_or_init(|| {
            let output = Output::of(self.definition.output_schema.as_ref());
            if let Output::Unchecked(Some(error)) = &output {
                let name = &self.definition.name;
                odd(&format!("the results of `{name}` cannot be checked: its output {error}"));
            }
            output
        })
    }

    /// Checks a result.
    ///
    /// # Errors
    ///
    /// With what does not fit, and where.
    pub(crate) fn check(&self, result: &CallToolResult) -> Result<(), String> {
        self.output.get().map_or(Ok(()), |output| output.check(result))
    }
}

impl Output {
    fn of(schema: Option<&Schema>) -> Self {
        let Some(schema) = schema else { return Self::Unchecked(None) };
        // What was cut out of a message as JSON is JSON.
        let schema: Value = schema.parse().unwrap_or_default();
        match Validator::compile(&schema) {
            Ok(validator) => Self::Checked(validator),
            Err(error) if error.is_external_reference() => Self::Unresolvable(error),
            Err(error) => Self::Unchecked(Some(error)),
        }
    }

    /// Checks a result. A tool that failed owes nothing to its schema.
    ///
    /// # Errors
    ///
    /// With what does not fit, and where.
    fn check(&self, result: &CallToolResult) -> Result<(), String> {
        let Self::Checked(validator) = self else { return Ok(()) };
        if result.is_error {
            return Ok(());
        }
        let Some(content) = &result.structured_content else {
            return Err(
                "`structuredContent`: missing, but the tool has an output schema".to_owned()
            );
        };
        let content: Value = content.parse().map_err(|error| error.to_string())?;
        validator.check("structuredContent", &content).map_err(|violations| violations.to_string())
    }
}

/// About how many bytes a definition takes.
fn size(tool: &ToolDefinition) -> usize {
    let schema = |schema: &Schema| schema.as_str().len();
    tool.name.len()
        + tool.description.as_ref().map_or(0, String::len)
        + schema(&tool.input_schema)
        + tool.output_schema.as_ref().map_or(0, schema)
}

#[cfg(test)]
mod tests {
    use bowline_types::json::RawJson;

    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::new(RawJson::from_text(text).unwrap()).unwrap()
    }

    fn tool(name: &str, output: &str) -> ToolDefinition {
        ToolDefinition::new(name, Schema::default()).with_output_schema(schema(output))
    }

    fn result(content: &str) -> CallToolResult {
        RawJson::from_text(format!(r#"{{"content":[],"structuredContent":{content}}}"#))
            .unwrap()
            .parse()
            .unwrap()
    }

    // spec: TOOL-30, TOOL-48, SCH-1, SCH-3
    #[test]
    fn a_result_is_held_against_the_schema() {
        let output = Output::of(Some(&schema(r#"{"type":"array","items":{"type":"integer"}}"#)));
        assert_eq!(output.check(&result("[1,2]")), Ok(()));
        let problem = output.check(&result(r#"[1,"2"]"#)).unwrap_err();
        assert!(problem.starts_with("`structuredContent[1]`: "), "{problem}");
        let problem = output.check(&CallToolResult::from_text("1, 2")).unwrap_err();
        let expected = "`structuredContent`: missing, but the tool has an output schema";
        assert_eq!(problem, expected);
        assert_eq!(output.check(&CallToolResult::error("no numbers")), Ok(()));
    }

    #[test]
    fn what_was_listed_last_counts_and_is_compiled_once() {
        let catalogue = Catalogue::default();
        assert!(catalogue.find("sum").is_none());
        catalogue.note(&[tool("sum", r#"{"type":"string"}"#)]);
        let first = catalogue.find("sum").unwrap();
        first.output(|_| {});
        catalogue.note(&[tool("sum", r#"{"type":"string"}"#)]);
        assert!(catalogue.find("sum").unwrap().output.get().is_some());
        catalogue.note(&[tool("sum", r#"{"type":"number"}"#)]);
        let second = catalogue.find("sum").unwrap();
        assert_eq!(second.output(|_| {}).check(&result("1")), Ok(()));
        catalogue.forget();
        assert!(catalogue.find("sum").is_none());
        assert_eq!(catalogue.lock().bytes, 0);
    }

    // spec: SCH-4
    #[test]
    fn a_schema_that_cannot_be_used_is_told_once() {
        let schema = r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}"#;
        let catalogue = Catalogue::default();
        catalogue.note(&[tool("sum", schema)]);
        let known = catalogue.find("sum").unwrap();
        let mut told = Vec::new();
        for _ in 0..2 {
            assert_eq!(known.output(|what| told.push(what.to_owned())).check(&result("1")), Ok(()));
        }
        let [what] = &told[..] else { panic!("{told:?}") };
        assert!(what.starts_with("the results of `sum` cannot be checked: its output schema at "));
        assert!(what.contains("draft-04"), "{what}");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let catalogue = Catalogue::default();
        let long = "x".repeat(MOST_BYTES / 2);
        let tools = ["a", "b", "c"].map(|name| tool(name, "{}").with_description(long.clone()));
        assert_eq!(catalogue.note(&tools), 2);
        assert_eq!(catalogue.note(&tools[..1]), 0, "it is there already");
        assert!(catalogue.find("a").is_some());
    }
}
