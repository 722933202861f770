//! Log messages of servers, as lines.

use bowline::types::deprecated::logging::LogMessageParams;

use super::clean;

/// A log message as one line: its level, its logger, and its text.
pub(crate) fn line(message: &LogMessageParams) -> String {
    let logger = message.logger.as_deref().map(|it| format!("{it}: "));
    let text: String = message.data.parse().unwrap_or_else(|_| message.data.to_string());
    let text = format!("{}: {}{text}", message.level, logger.unwrap_or_default());
    clean(&text).replace('\n', " ")
}
