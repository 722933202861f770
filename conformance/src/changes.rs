//! Tools that announce changes.
//!
//! Nothing really changes: the suite lists everything three times and expects the same lists.

use bowline::{Notify, State, Tool, tool, tools};

use crate::resources::WATCHED;

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![
        test_trigger_tool_change,
        test_trigger_prompt_change,
        interop_change_resources,
        interop_update_resource,
    ]
}

/// Say that the list of tools changed
#[tool]
fn test_trigger_tool_change(State(notify): State<Notify>) {
    notify.tools_changed();
}

/// Say that the list of prompts changed
#[tool]
fn test_trigger_prompt_change(State(notify): State<Notify>) {
    notify.prompts_changed();
}

/// Say that the list of resources changed
#[tool]
fn interop_change_resources(State(notify): State<Notify>) {
    notify.resources_changed();
}

/// Say that the watched resource changed
#[tool]
fn interop_update_resource(State(notify): State<Notify>) {
    notify.resource_updated(WATCHED);
}
