//! The tools of the last list, and the check of results against their output schemas.
//!
//! A tool that was never listed can be called; its results are not checked. The catalogue is emptied
//! when the server reports that its list has changed, so that no result is checked against an old
//! schema.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use bowline_json_schema::{SchemaError, Validator};
use bowline_proto::mirror::x_mcp_header::{MirroredParam, mirrored};
use bowline_proto::sync::lock;
use bowline_types::json::Schema;
use bowline_types::tool::{CallToolResult, TaskSupport, ToolAnnotations, ToolDefinition};
use serde_json::Value;

/// The most bytes of definitions that are remembered. Results of further tools are not checked.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The tools that a server has listed.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<Listed>);

#[derive(Debug, Default)]
struct Listed {
    tools: HashMap<String, Arc<KnownTool>>,
    bytes: usize,
    /// Whether the whole list was asked for, to find tools that are not in it.
    is_searched: bool,
}

/// A tool from the list.
#[derive(Debug)]
pub(crate) struct KnownTool {
    definition: ToolDefinition,
    output: OnceLock<OutputCheck>,
    marks: OnceLock<Vec<MirroredParam>>,
}

/// How the results of a tool are checked; decided when it is first called.
#[derive(Debug)]
pub(crate) enum OutputCheck {
    /// Against its output schema.
    Checked(Validator),
    /// Not at all: the tool has no output schema, or one that is not supported, for this reason.
    Unchecked(Option<SchemaError>),
    /// The schema refers to another document, which is never fetched.
    Unresolvable(SchemaError),
}

impl Catalogue {
    /// Remembers listed tools and replaces those of the same name; returns how many did not fit.
    pub(crate) fn note(&self, tools: &[ToolDefinition]) -> usize {
        let mut listed = self.lock();
        tools.iter().filter(|tool| !listed.note(tool)).count()
    }

    /// Forgets all tools, because their list has changed.
    pub(crate) fn forget(&self) {
        *self.lock() = Listed::default();
    }

    /// The server's annotations of a tool.
    pub(crate) fn annotations(&self, tool: &str) -> Option<ToolAnnotations> {
        self.find(tool)?.definition.annotations.clone()
    }

    /// The tool of this name, if it was listed.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<KnownTool>> {
        self.lock().tools.get(name).cloned()
    }

    /// Whether the whole list was asked for, since it changed last.
    pub(crate) fn is_searched(&self) -> bool {
        self.lock().is_searched
    }

    /// Notes that the whole list was asked for.
    pub(crate) fn note_search(&self) {
        self.lock().is_searched = true;
    }

    fn lock(&self) -> MutexGuard<'_, Listed> {
        lock(&self.0)
    }
}

impl Listed {
    /// Remembers a tool; returns whether it fits.
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
            let known = KnownTool {
                definition: tool.clone(),
                output: OnceLock::new(),
                marks: OnceLock::new(),
            };
            self.tools.insert(tool.name.clone(), Arc::new(known));
        }
        fits
    }
}

impl KnownTool {
    /// Whether a call runs as a task of 2025-11-25.
    pub(crate) fn task_support(&self) -> TaskSupport {
        self.definition.task_support()
    }

    /// Whether views may call it.
    pub(crate) fn is_for_app(&self) -> bool {
        self.definition.is_for_app()
    }

    /// The arguments that are repeated in headers; none if they are marked wrongly.
    pub(crate) fn marks(&self) -> &[MirroredParam] {
        self.marks.get_or_init(|| mirrored(&self.definition.input_schema).unwrap_or_default())
    }

    /// How its results are checked. Calls `report` once if its schema is not supported.
    pub(crate) fn output(&self, report: impl FnOnce(&str)) -> &OutputCheck {
        self.output.get_or_init(|| {
            let output = OutputCheck::of(self.definition.output_schema.as_ref());
            if let OutputCheck::Unchecked(Some(error)) = &output {
                let name = &self.definition.name;
                report(&format!("the results of `{name}` cannot be checked: its output {error}"));
            }
            output
        })
    }

    /// Checks a result.
    ///
    /// # Errors
    ///
    /// Says what does not fit, and where.
    pub(crate) fn check(&self, result: &CallToolResult) -> Result<(), String> {
        self.output.get().map_or(Ok(()), |output| output.check(result))
    }
}

impl OutputCheck {
    fn of(schema: Option<&Schema>) -> Self {
        let Some(schema) = schema else { return Self::Unchecked(None) };
        // A schema was parsed as JSON before, so this cannot fail.
        let schema: Value = schema.parse().unwrap_or_default();
        match Validator::compile(&schema) {
            Ok(validator) => Self::Checked(validator),
            Err(error) if error.is_external_reference() => Self::Unresolvable(error),
            Err(error) => Self::Unchecked(Some(error)),
        }
    }

    /// Checks a result. The result of a tool that failed need not fit the schema.
    ///
    /// # Errors
    ///
    /// Says what does not fit, and where.
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
    fn a_result_is_checked_against_the_schema() {
        let output =
            OutputCheck::of(Some(&schema(r#"{"type":"array","items":{"type":"integer"}}"#)));
        assert_eq!(output.check(&result("[1,2]")), Ok(()));
        let problem = output.check(&result(r#"[1,"2"]"#)).unwrap_err();
        assert!(problem.starts_with("`structuredContent[1]`: "), "{problem}");
        let problem = output.check(&CallToolResult::from_text("1, 2")).unwrap_err();
        let expected = "`structuredContent`: missing, but the tool has an output schema";
        assert_eq!(problem, expected);
        assert_eq!(output.check(&CallToolResult::error("no numbers")), Ok(()));
    }

    #[test]
    fn the_last_list_counts_and_its_schemas_are_compiled_once() {
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
    fn a_schema_that_is_not_supported_is_reported_once() {
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
    fn the_catalogue_is_bounded() {
        let catalogue = Catalogue::default();
        let long = "x".repeat(MOST_BYTES / 2);
        let tools = ["a", "b", "c"].map(|name| tool(name, "{}").with_description(long.clone()));
        assert_eq!(catalogue.note(&tools), 2);
        assert_eq!(catalogue.note(&tools[..1]), 0, "it is there already");
        assert!(catalogue.find("a").is_some());
    }
}
