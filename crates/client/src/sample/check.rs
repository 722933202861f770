//! Checks sampling requests and answers against the rules of the specification.

use bowline_types::content::{Content, Role};
use bowline_types::deprecated::sampling::{
    CreateMessageParams, CreateMessageResult, SamplingMessage, StopReason, ToolChoiceMode,
    check_tool_results,
};
use bowline_types::error::ErrorObject;

/// Checks a request before any hook sees it.
///
/// # Errors
///
/// Names the place and the rule, but quotes nothing of the conversation.
pub(super) fn request(params: &CreateMessageParams) -> Result<(), ErrorObject> {
    for (position, message) in params.messages.iter().enumerate() {
        turn(message).map_err(|(place, reason)| {
            ErrorObject::invalid_params(format!("`messages[{position}].{place}`: {reason}"))
        })?;
    }
    check_tool_results(&params.messages)
        .map_err(|error| ErrorObject::invalid_params(error.to_string()))
}

fn turn(message: &SamplingMessage) -> Result<(), (String, &'static str)> {
    if !matches!(message.role, Role::User | Role::Assistant) {
        return Err(("role".to_owned(), "neither `user` nor `assistant`"));
    }
    for (position, block) in message.content.iter().enumerate() {
        let wrong = |reason| Err((format!("content[{position}]"), reason));
        let bytes = match block {
            Content::Text(_) | Content::ToolUse(_) | Content::ToolResult(_) => continue,
            Content::Image(image) => &image.data,
            Content::Audio(audio) => &audio.data,
            _ => return wrong("not of a type that models are asked with"),
        };
        if bytes.decode().is_err() {
            return wrong("`data` is not base64");
        }
    }
    Ok(())
}

/// Checks an answer against its request.
///
/// # Errors
///
/// Says which rule the answer breaks.
pub(super) fn result(
    params: &CreateMessageParams,
    result: &CreateMessageResult,
) -> Result<(), String> {
    let is_foreign = |block: &Content| {
        matches!(block, Content::Resource(_) | Content::ResourceLink(_) | Content::ToolResult(_))
    };
    if result.content.iter().any(is_foreign) {
        return Err("models answer with text, images, sounds and tool uses only".to_owned());
    }
    let uses = result.content.iter().any(|block| matches!(block, Content::ToolUse(_)));
    let mode = params.tool_choice.as_ref().and_then(|choice| choice.mode.as_ref());
    let is_cut = result.stop_reason == Some(StopReason::MaxTokens);
    match mode {
        _ if uses && params.tools.is_empty() => {
            Err("it uses a tool, and the server offers none".to_owned())
        }
        Some(ToolChoiceMode::None) if uses => {
            Err("it uses a tool, which `toolChoice` forbids".to_owned())
        }
        Some(ToolChoiceMode::Required) if !uses && !is_cut => {
            Err("it uses no tool, which `toolChoice` requires".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use bowline_types::content::ToolUseContent;
    use bowline_types::deprecated::sampling::ToolChoice;
    use bowline_types::json::{Object, Schema};
    use bowline_types::tool::ToolDefinition;

    use super::*;

    fn asked(content: Content) -> Result<(), String> {
        let messages = [SamplingMessage::user("hi"), SamplingMessage::assistant(content)];
        request(&CreateMessageParams::new(messages, 1)).map_err(|error| error.to_string())
    }

    // spec: SAMP-21, SAMP-30
    #[test]
    fn a_conversation_holds_what_models_understand() {
        assert_eq!(asked(Content::image(b"bytes", "image/png")), Ok(()));
        assert_eq!(asked(Content::audio(b"bytes", "audio/wav")), Ok(()));
        let link = asked(Content::resource_link("a://b", "b")).unwrap_err();
        let expected =
            "`messages[1].content[0]`: not of a type that models are asked with (-32602)";
        assert_eq!(link, expected);
        let image = r#"{"type":"image","data":"%%","mimeType":"image/png"}"#;
        let image = asked(serde_json::from_str(image).unwrap()).unwrap_err();
        assert_eq!(image, "`messages[1].content[0]`: `data` is not base64 (-32602)");
        let stranger = SamplingMessage::new(Role::Other("system".to_owned()), Vec::new());
        let error = request(&CreateMessageParams::new([stranger], 1)).unwrap_err();
        assert_eq!(error.message, "`messages[0].role`: neither `user` nor `assistant`");
    }

    fn answered(mode: Option<ToolChoiceMode>, block: impl Into<Content>) -> Result<(), String> {
        let mut params =
            CreateMessageParams::new([], 1).with_tool(ToolDefinition::new("t", Schema::default()));
        params.tool_choice = mode.map(ToolChoice::new);
        result(&params, &CreateMessageResult::new("m", block))
    }

    fn tool_use() -> Content {
        Content::ToolUse(ToolUseContent::new("1", "t", Object::default()))
    }

    // spec: SAMP-16
    #[test]
    fn an_answer_obeys_the_tool_choice() {
        for mode in [None, Some(ToolChoiceMode::Auto)] {
            assert_eq!(answered(mode.clone(), "text"), Ok(()));
            assert_eq!(answered(mode, tool_use()), Ok(()));
        }
        assert_eq!(answered(Some(ToolChoiceMode::Required), tool_use()), Ok(()));
        assert_eq!(answered(Some(ToolChoiceMode::None), "text"), Ok(()));
        let forbidden = answered(Some(ToolChoiceMode::None), tool_use()).unwrap_err();
        assert_eq!(forbidden, "it uses a tool, which `toolChoice` forbids");
        let required = answered(Some(ToolChoiceMode::Required), "text").unwrap_err();
        assert_eq!(required, "it uses no tool, which `toolChoice` requires");
    }

    #[test]
    fn an_answer_that_was_cut_short_may_lack_the_tool() {
        let params = CreateMessageParams::new([], 1)
            .with_tool(ToolDefinition::new("t", Schema::default()))
            .with_tool_choice(ToolChoice::new(ToolChoiceMode::Required));
        let cut = CreateMessageResult::new("m", "te").with_stop_reason(StopReason::MaxTokens);
        assert_eq!(result(&params, &cut), Ok(()));
    }

    #[test]
    fn a_tool_is_used_only_if_one_is_offered() {
        let params = CreateMessageParams::new([], 1);
        let error = result(&params, &CreateMessageResult::new("m", tool_use())).unwrap_err();
        assert_eq!(error, "it uses a tool, and the server offers none");
        let link = CreateMessageResult::new("m", Content::resource_link("a://b", "b"));
        assert!(result(&params, &link).is_err());
    }
}
