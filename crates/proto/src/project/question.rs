//! Questions to the client, and its answers, in the shapes of older revisions.
//!
//! Elicitation came with 2025-06-18 with forms of simple fields, gained defaults, choices of
//! several and pages by URL with 2025-11-25, and lost the names of elicitations with 2026-07-28.
//! Sampling gained tools and messages of several blocks with 2025-11-25.

use bowline_types::content::Content;
use bowline_types::deprecated::roots::{ListRootsResult, Root};
use bowline_types::deprecated::sampling::{
    CreateMessageParams, CreateMessageResult, SamplingMessage,
};
use bowline_types::elicitation::ElicitParams;
use bowline_types::elicitation::schema::{
    FieldKind, FormField, FormSchema, MultiSelectSchema, StringSchema, TitleStyle,
};
use bowline_types::input::{InputRequest, InputRequired};
use bowline_types::resource::ResourceBody;
use bowline_types::revision::Revision;

use super::content::{json_text, left_out, link_text, replace_by_text, trim};
use super::tool::project_output;
use super::{Project, keep_if, project_meta};

impl Project for InputRequest {
    fn project(&mut self, revision: Revision) {
        match self {
            Self::Elicit(params) => params.project(revision),
            Self::CreateMessage(params) => params.project(revision),
            _ => {}
        }
    }
}

impl Project for InputRequired {
    fn project(&mut self, revision: Revision) {
        self.input_requests.iter_mut().for_each(|(_, request)| request.project(revision));
    }
}

/// A page by URL is not turned into a form: the two are answered differently, so the caller has to
/// choose.
impl Project for ElicitParams {
    fn project(&mut self, revision: Revision) {
        match self {
            Self::Form(form) => {
                keep_if(&mut form.task, revision.has_core_tasks());
                form.requested_schema.project(revision);
            }
            Self::Url(url) => {
                keep_if(&mut url.task, revision.has_core_tasks());
                keep_if(&mut url.elicitation_id, revision.has_elicitation_ids());
            }
            _ => {}
        }
    }
}

impl Project for FormSchema {
    fn project(&mut self, revision: Revision) {
        if !revision.has_elicitation_modes() {
            self.fields_mut().for_each(|(_, field)| simplify(field));
        }
    }
}

/// Writes a field in the shape of 2025-06-18: defaults only for booleans, titles of options in a
/// list of their own, and text instead of a choice of several. The answer to such a text field is
/// read back as a choice by the server layer, as far as it can be.
fn simplify(field: &mut FormField) {
    match &mut field.kind {
        FieldKind::String(text) => text.default = None,
        FieldKind::Number(number) | FieldKind::Integer(number) => number.default = None,
        FieldKind::Select(select) => {
            select.default = None;
            select.titles = TitleStyle::EnumNames;
        }
        FieldKind::MultiSelect(select) => {
            let hint = choice_of_several(select);
            field.description = Some(match field.description.take() {
                Some(description) => format!("{description} ({hint})"),
                None => hint,
            });
            field.kind = FieldKind::String(StringSchema::new());
        }
        _ => {}
    }
}

/// The hint for the user, since the form shows a plain text field.
fn choice_of_several(select: &MultiSelectSchema) -> String {
    let options: Vec<_> = select.options.iter().map(|option| option.value.as_str()).collect();
    format!("any of these, separated by commas: {}", options.join(", "))
}

/// Tools and their results become text where the revision has none, so that the conversation stays
/// complete.
impl Project for CreateMessageParams {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.task, revision.has_core_tasks());
        keep_if(&mut self.tools, revision.has_sampling_tools());
        keep_if(&mut self.tool_choice, revision.has_sampling_tools());
        self.tools.project(revision);
        for message in &mut self.messages {
            project_turn(&mut message.content, revision);
            keep_if(&mut message.meta, revision.has_sampling_tools());
        }
        if !revision.has_sampling_tools() {
            let messages = std::mem::take(&mut self.messages);
            self.messages = messages.into_iter().flat_map(one_block_each).collect();
        }
    }
}

/// Splits a message of several blocks into messages of one block. Before 2025-11-25 a message has
/// exactly one block (SAMP-37).
fn one_block_each(message: SamplingMessage) -> impl Iterator<Item = SamplingMessage> {
    let SamplingMessage { role, content, .. } = message;
    content.into_iter().map(move |block| SamplingMessage::new(role.clone(), vec![block]))
}

/// An answer of several blocks is joined into one text, because splitting it, as for params, would
/// need several answers.
impl Project for CreateMessageResult {
    fn project(&mut self, revision: Revision) {
        project_turn(&mut self.content, revision);
        if !revision.has_sampling_tools() && self.content.len() != 1 {
            let text =
                |block: &Content| block.as_text().map_or_else(|| json_text(block), str::to_owned);
            let texts: Vec<_> = self.content.iter().map(text).collect();
            self.content = vec![Content::text(texts.join("\n"))];
        }
    }
}

/// Fits the blocks of a sampling conversation. Resources do not belong there.
fn project_turn(content: &mut [Content], revision: Revision) {
    let is_closed = !revision.has_open_content();
    for block in content {
        let text = match block {
            Content::Audio(audio) if !revision.has_audio() => {
                Some(left_out("audio", &audio.mime_type, revision))
            }
            Content::ResourceLink(link) if is_closed => Some(link_text(link)),
            Content::Resource(embedded) if is_closed => Some(match &embedded.resource.body {
                ResourceBody::Text(text) => text.clone(),
                ResourceBody::Blob(_) => embedded.resource.uri.clone(),
            }),
            Content::ToolUse(_) | Content::ToolResult(_) if !revision.has_sampling_tools() => {
                Some(json_text(block))
            }
            Content::ToolResult(result) => {
                project_output(&mut result.structured_content, revision);
                result.content.project(revision);
                None
            }
            Content::Other(_) if is_closed => Some(json_text(block)),
            _ => None,
        };
        if let Some(text) = text {
            replace_by_text(block, text);
        }
        trim(block, revision);
    }
}

impl Project for ListRootsResult {
    fn project(&mut self, revision: Revision) {
        self.roots.project(revision);
    }
}

impl Project for Root {
    fn project(&mut self, revision: Revision) {
        project_meta(&mut self.meta, revision);
    }
}
