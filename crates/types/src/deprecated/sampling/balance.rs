//! Checks that every tool use in a conversation is followed by exactly one result.
//!
//! Providers of models refuse a conversation in which a tool use has no result, or a result no use
//! (SAMP-12 to SAMP-15). A server that finds the mistake before it sends the question gets an error
//! that names the message.

use std::collections::BTreeSet;
use std::fmt;

use super::SamplingMessage;
use crate::content::{Content, Role};

/// Checks the tool uses and tool results of a conversation.
///
/// A message of the assistant with tool uses must be followed directly by a message of the user
/// with one result for each of them, and nothing else ([tool use balance]).
///
/// # Errors
///
/// Names the first message that breaks the rule, and the reason.
///
/// [tool use balance]: https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
pub fn check_tool_results(messages: &[SamplingMessage]) -> Result<(), UnbalancedToolUse> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (position, message) in messages.iter().enumerate() {
        let unbalanced = |reason| Err(UnbalancedToolUse { message: position, reason });
        let answered = match tool_results(message) {
            Ok(answered) => answered,
            Err(reason) => return unbalanced(reason),
        };
        for id in answered {
            if !open.remove(id) {
                return unbalanced(Reason::UnknownId(id.to_owned()));
            }
        }
        if let Some(id) = open.first() {
            return unbalanced(Reason::Unanswered((*id).to_owned()));
        }
        for id in tool_uses(message) {
            if message.role != Role::Assistant {
                return unbalanced(Reason::UseByUser);
            }
            if !open.insert(id) {
                return unbalanced(Reason::DuplicateId(id.to_owned()));
            }
        }
    }
    match open.first() {
        Some(id) => {
            let reason = Reason::Unanswered((*id).to_owned());
            Err(UnbalancedToolUse { message: messages.len(), reason })
        }
        None => Ok(()),
    }
}

/// The ids of the tool uses that a message answers. A message with a result holds nothing but
/// results (SAMP-12).
fn tool_results(message: &SamplingMessage) -> Result<Vec<&str>, Reason> {
    let ids: Vec<_> = message.content.iter().filter_map(answered_id).collect();
    if ids.is_empty() {
        return Ok(ids);
    }
    if message.role == Role::Assistant {
        return Err(Reason::ResultByAssistant);
    }
    if ids.len() < message.content.len() {
        return Err(Reason::Mixed);
    }
    Ok(ids)
}

fn answered_id(block: &Content) -> Option<&str> {
    match block {
        Content::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    }
}

/// The ids of the tool uses of a message.
fn tool_uses(message: &SamplingMessage) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|block| match block {
        Content::ToolUse(tool_use) => Some(tool_use.id.as_str()),
        _ => None,
    })
}

/// The error for a conversation with a tool use without its result, or a result without its tool
/// use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnbalancedToolUse {
    message: usize,
    reason: Reason,
}

/// Each is a way in which a conversation breaks the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Mixed,
    Unanswered(String),
    UnknownId(String),
    DuplicateId(String),
    UseByUser,
    ResultByAssistant,
}

impl fmt::Display for UnbalancedToolUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`messages[{}]`: ", self.message)?;
        match &self.reason {
            Reason::Mixed => f.write_str("tool results stand beside other content"),
            Reason::Unanswered(id) => {
                write!(f, "expected a user's message with the result of tool use `{id}`")
            }
            Reason::UnknownId(id) => {
                write!(f, "tool result `{id}` answers no tool use of the message before")
            }
            Reason::DuplicateId(id) => write!(f, "two tool uses have the id `{id}`"),
            Reason::UseByUser => f.write_str("a tool use stands in a user's message"),
            Reason::ResultByAssistant => {
                f.write_str("a tool result stands in an assistant's message")
            }
        }
    }
}

impl std::error::Error for UnbalancedToolUse {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{ToolResultContent, ToolUseContent};
    use crate::json::Object;

    fn uses(ids: &[&str]) -> SamplingMessage {
        let tool_use =
            |id: &&str| Content::ToolUse(ToolUseContent::new(*id, "t", Object::default()));
        SamplingMessage::new(Role::Assistant, ids.iter().map(tool_use).collect())
    }

    fn results(ids: &[&str]) -> SamplingMessage {
        let result = |id: &&str| Content::ToolResult(ToolResultContent::new(*id, Vec::new()));
        SamplingMessage::new(Role::User, ids.iter().map(result).collect())
    }

    fn said(text: &str) -> SamplingMessage {
        SamplingMessage::user(text)
    }

    fn complaint(messages: &[SamplingMessage]) -> String {
        check_tool_results(messages).unwrap_err().to_string()
    }

    // spec: SAMP-13, SAMP-14
    #[test]
    fn tool_uses_that_are_answered_at_once_are_accepted() {
        let conversation =
            [said("hi"), uses(&["a", "b"]), results(&["b", "a"]), uses(&["a"]), results(&["a"])];
        assert_eq!(check_tool_results(&conversation), Ok(()));
        assert_eq!(check_tool_results(&[]), Ok(()));
    }

    // spec: SAMP-12, SAMP-18
    #[test]
    fn results_stand_alone_in_their_message() {
        let mut mixed = results(&["a"]);
        mixed.content.push(Content::text("and by the way"));
        let complaint = complaint(&[uses(&["a"]), mixed]);
        assert_eq!(complaint, "`messages[1]`: tool results stand beside other content");
    }

    // spec: SAMP-13, SAMP-17
    #[test]
    fn a_tool_use_without_result_is_named() {
        for conversation in [
            vec![uses(&["a"])],
            vec![uses(&["a"]), said("never mind"), results(&["a"])],
            vec![uses(&["b", "a"]), results(&["b"])],
        ] {
            let complaint = complaint(&conversation);
            let expected = "expected a user's message with the result of tool use `a`";
            assert_eq!(complaint, format!("`messages[1]`: {expected}"));
        }
    }

    // spec: SAMP-15
    #[test]
    fn a_result_without_tool_use_is_named() {
        for conversation in [
            vec![said("hi"), results(&["a"])],
            vec![uses(&["b"]), results(&["a", "b"])],
            vec![uses(&["a"]), results(&["a", "a"])],
        ] {
            let complaint = complaint(&conversation);
            assert!(complaint.contains("tool result `a` answers no tool use"), "{complaint}");
        }
    }

    // spec: SAMP-13
    #[test]
    fn only_the_assistant_uses_tools_and_only_the_user_answers() {
        let mut by_user = uses(&["a"]);
        by_user.role = Role::User;
        assert!(complaint(&[by_user]).contains("in a user's message"));
        let mut by_assistant = results(&["a"]);
        by_assistant.role = Role::Assistant;
        assert!(complaint(&[uses(&["a"]), by_assistant]).contains("in an assistant's message"));
        assert!(complaint(&[uses(&["a", "a"])]).contains("two tool uses have the id `a`"));
    }
}
