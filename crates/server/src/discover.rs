//! What a server says of itself, inferred from what it offers.

use bowline_types::capability::ServerCapabilities;

use crate::feature::ToolEntry;
use crate::registry::Registry;

/// What a server with these features can do.
///
/// Lists announce their changes always, because any registry can change.
pub(crate) fn capabilities(registry: &Registry) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::new();
    let tools = registry.tools();
    if tools.is_offered() {
        capabilities = capabilities.with_tools_list_changed();
    }
    if tools.iter().any(ToolEntry::logs) {
        capabilities = capabilities.with_logging();
    }
    capabilities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::Log;
    use crate::feature::Tool;

    // spec: TOOL-1
    #[test]
    fn tools_are_declared_when_there_are_any() {
        let registry = Registry::new();
        assert_eq!(capabilities(&registry), ServerCapabilities::new());
        registry.insert(Tool::new("a", || async {})).unwrap();
        assert_eq!(capabilities(&registry), ServerCapabilities::new().with_tools_list_changed());
    }

    // spec: LOG-1
    #[test]
    fn logging_is_declared_when_a_handler_logs() {
        let registry = Registry::new();
        registry.insert(Tool::new("a", |log: Log| async move { log.info("a") })).unwrap();
        assert!(capabilities(&registry).supports_logging());
    }
}
