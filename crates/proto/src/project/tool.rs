//! Tools and their results in the shapes of older revisions.
//!
//! What older clients cannot read is not just dropped: structured output of a revision without it
//! becomes text, a title moves to where that revision has it, and a value that is no object is
//! wrapped in one, in the schema and in the result alike.

use bowline_types::content::Content;
use bowline_types::json::RawJson;
use bowline_types::revision::Revision;
use bowline_types::tool::{CallToolParams, CallToolResult, ListToolsResult, ToolDefinition};

use super::{Project, keep_if, project_meta, schema};

impl Project for ListToolsResult {
    fn project(&mut self, revision: Revision) {
        self.tools.project(revision);
    }
}

impl Project for ToolDefinition {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.execution, revision.has_core_tasks());
        if !revision.has_titles()
            && let Some(title) = self.title.take()
        {
            // In 2025-03-26 the title is among the annotations.
            self.annotations.get_or_insert_default().title.get_or_insert(title);
        }
        keep_if(&mut self.annotations, revision.has_tool_annotations());
        keep_if(&mut self.icons, revision.has_icons());
        project_meta(&mut self.meta, revision);
        if !revision.has_boolean_schemas()
            && let Some(rewritten) = schema::plain_properties(&self.input_schema)
        {
            self.input_schema = rewritten;
        }
        keep_if(&mut self.output_schema, revision.has_structured_output());
        if !revision.has_structured_output_of_any_type()
            && let Some(rewritten) = self.output_schema.as_ref().and_then(schema::object_output)
        {
            self.output_schema = Some(rewritten);
        }
    }
}

impl Project for CallToolParams {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.task, revision.has_core_tasks());
    }
}

/// Up to 2025-11-25 structured content is an object; before 2025-06-18 there is none.
impl Project for CallToolResult {
    fn project(&mut self, revision: Revision) {
        if !revision.has_structured_output()
            && let Some(json) = self.structured_content.take()
            && !self.content.iter().any(|block| block.as_text().is_some())
        {
            // Older clients read only the text, so it is added if the handler gave none.
            self.content.push(Content::text(json.as_str()));
        }
        project_output(&mut self.structured_content, revision);
        self.content.project(revision);
    }
}

/// Fits structured content to a revision in which it must be an object.
pub(super) fn project_output(output: &mut Option<RawJson>, revision: Revision) {
    if !revision.has_structured_output_of_any_type() {
        *output = output.take().map(wrap_in_object);
    }
}

/// Writes a value that is not an object as `{"result": value}`, like the schema of
/// [`schema::object_output`].
fn wrap_in_object(json: RawJson) -> RawJson {
    if json.is_object() {
        return json;
    }
    RawJson::from_text(format!(r#"{{"{}":{json}}}"#, schema::RESULT)).unwrap_or(json)
}
