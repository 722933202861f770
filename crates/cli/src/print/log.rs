//! Log messages of servers, as lines.

use bowline_types::deprecated::logging::LogMessageParams;

use super::{TerminalText, paragraph};

/// A log message as one line: its level, its logger, and its text.
pub(crate) fn line(message: &LogMessageParams) -> TerminalText {
    let logger = message.logger.as_deref().map(|it| format!("{it}: ")).unwrap_or_default();
    let text: String = message.data.parse().unwrap_or_else(|_| message.data.to_string());
    paragraph(format!("{}: {logger}{text}", message.level))
}
