//! The capabilities and instructions of a server, inferred from its features.
//!
//! A program declares no capabilities: what it registers says it. So a server cannot forget to
//! declare what it has (CAP-1), or declare what it does not have.

use bowline_types::capability::ServerCapabilities;
use bowline_types::ext::{apps, tasks};
use bowline_types::json::Object;
use bowline_types::legacy::task::TasksCapability;
use bowline_types::method::Method;

use crate::mount::{Mount, join};
use crate::registry::Registry;

/// Whether clients may subscribe to single resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceSubscriptions {
    /// The server notifies them of changes.
    Offered,
    /// They may not subscribe.
    Disabled,
}

/// The capabilities of a server with these features, and of the servers that it mounts. Asked for
/// at each `server/discover` and handshake, because mounted servers may change.
pub(crate) fn capabilities(
    registry: &Registry,
    subscriptions: ResourceSubscriptions,
) -> ServerCapabilities {
    let own = own_capabilities(registry, subscriptions);
    let mounts = registry.mounts();
    let mut all = mounts.iter().fold(own, |all, mount| join(all, &mount.capabilities()));
    if mounts.iter().any(runs_tasks) {
        all = with_tasks(all);
    }
    if let (ResourceSubscriptions::Disabled, Some(resources)) = (subscriptions, &mut all.resources)
    {
        resources.subscribe = false;
    }
    all
}

/// The capabilities of a server with these features, without those of mounted servers.
///
/// Lists announce their changes always, because any registry can change.
pub(crate) fn own_capabilities(
    registry: &Registry,
    subscriptions: ResourceSubscriptions,
) -> ServerCapabilities {
    let (tools, prompts) = (registry.tools(), registry.prompts());
    let (resources, templates) = (registry.resources(), registry.templates());
    let mut capabilities = ServerCapabilities::new();
    if tools.is_offered() {
        capabilities = capabilities.with_tools_list_changed();
    }
    if prompts.is_offered() {
        capabilities = capabilities.with_prompts_list_changed();
    }
    if resources.is_offered() || templates.is_offered() {
        capabilities = capabilities.with_resources_list_changed();
        if subscriptions == ResourceSubscriptions::Offered {
            capabilities = capabilities.with_resources_subscribe();
        }
    }
    if tools.iter().any(|entry| entry.task_need().is_some()) {
        capabilities = with_tasks(capabilities);
    }
    let has_views = tools.iter().any(|entry| entry.ui().is_some())
        || resources.iter().any(|entry| entry.reader.is_view())
        || templates.iter().any(|entry| entry.reader.is_view());
    if has_views {
        // The identifier is well-formed.
        _ = capabilities.extensions.insert(apps::IDENTIFIER, Object::default());
    }
    let completes = prompts.iter().any(|entry| !entry.completers().is_empty())
        || templates.iter().any(|entry| !entry.reader.completers().is_empty());
    if completes {
        capabilities = capabilities.with_completions();
    }
    let logs = registry.declares_logging()
        || tools.iter().any(|entry| entry.logs())
        || prompts.iter().any(|entry| entry.logs())
        || resources.iter().any(|entry| entry.reader.logs())
        || templates.iter().any(|entry| entry.reader.logs());
    if logs {
        capabilities = capabilities.with_logging();
    }
    capabilities
}

/// Declares tasks, for revisions where they are in the core and for those where they are an
/// extension. Each gets what it knows.
fn with_tasks(mut capabilities: ServerCapabilities) -> ServerCapabilities {
    let tasks = TasksCapability::new().with_list().with_cancel().with_request(Method::ToolsCall);
    capabilities.tasks = Some(tasks);
    // The identifier is well-formed.
    _ = capabilities.extensions.insert(tasks::IDENTIFIER, Object::default());
    capabilities
}

/// Whether tools of a mounted server run as tasks of the server that mounts it.
pub(crate) fn runs_tasks(mount: &Mount) -> bool {
    mount.has_tasks() && has_tasks(&mount.capabilities())
}

/// Whether a server declares the tasks extension.
pub(crate) fn has_tasks(capabilities: &ServerCapabilities) -> bool {
    capabilities.supports_extension(tasks::IDENTIFIER)
}

/// The instructions of a server, followed by those of the servers that it mounts.
pub(crate) fn instructions(own: Option<&str>, registry: &Registry) -> Option<String> {
    let mounts = registry.mounts();
    let mounted = mounts.iter().filter_map(Mount::instructions);
    let texts: Vec<_> = own.map(str::to_owned).into_iter().chain(mounted).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Log, Typed};
    use crate::feature::{Feature, Prompt, Resource, Tool};

    fn declared(feature: impl Into<Feature>) -> ServerCapabilities {
        let registry = Registry::new();
        registry.insert(feature).unwrap();
        capabilities(&registry, ResourceSubscriptions::Offered)
    }

    #[test]
    fn a_server_that_offers_nothing_declares_nothing() {
        assert_eq!(
            capabilities(&Registry::new(), ResourceSubscriptions::Offered),
            ServerCapabilities::new()
        );
    }

    // spec: TOOL-1, CAP-1
    #[test]
    fn tools_are_declared_when_there_are_any() {
        let tools = declared(Tool::new("a", || async {}));
        assert_eq!(tools, ServerCapabilities::new().with_tools_list_changed());
    }

    // spec: PRMT-1, CAP-1
    #[test]
    fn prompts_are_declared_when_there_are_any() {
        let prompts = declared(Prompt::new("a", || async { "a" }));
        assert_eq!(prompts, ServerCapabilities::new().with_prompts_list_changed());
    }

    // spec: RSRC-1, CAP-1
    #[test]
    fn resources_are_declared_when_there_are_any_of_either_kind() {
        let expected =
            ServerCapabilities::new().with_resources_list_changed().with_resources_subscribe();
        assert_eq!(declared(Resource::new("a://b", || async { "a" })), expected);
        assert_eq!(declared(Resource::template("a://{b}", |b: String| async { b })), expected);
    }

    // spec: RSRC-1
    #[test]
    fn following_resources_is_declared_unless_changes_are_off() {
        let registry = Registry::new();
        registry.insert(Resource::new("a://b", || async { "a" })).unwrap();
        let expected = ServerCapabilities::new().with_resources_list_changed();
        assert_eq!(capabilities(&registry, ResourceSubscriptions::Disabled), expected);
    }

    // spec: COMP-1
    #[test]
    fn completion_is_declared_when_an_argument_is_completed() {
        let nothing = |_: Typed| async { [""; 0] };
        let family = || Resource::template("a://{b}", |b: String| async { b });
        assert!(!declared(family()).supports_completions());
        assert!(declared(family().complete("b", nothing)).supports_completions());
    }

    // spec: LOG-1
    #[test]
    fn logging_is_declared_when_a_handler_logs() {
        let log = |log: Log| async move {
            log.info("a");
            "a"
        };
        assert!(declared(Tool::new("a", log)).supports_logging());
        assert!(declared(Prompt::new("a", log)).supports_logging());
        assert!(declared(Resource::new("a://b", log)).supports_logging());
        assert!(declared(Resource::template("a://{b}", log)).supports_logging());
    }
}
