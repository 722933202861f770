//! Tools with a view: HTML that a host shows with their results (MCP Apps).

use bowline_proto::request::Parts;
use bowline_types::ext::apps::{META_KEY, SCHEME, ToolUi, Visibility};
use bowline_types::tool::CallToolResult;

use super::Tool;

impl Tool {
    /// Names the view that hosts with MCP Apps show for the results of the tool: the `ui://` URI of a
    /// resource, usually made with [`Resource::ui`](crate::Resource::ui).
    ///
    /// Other clients call the tool like any tool and get the same result. So the result must have
    /// content that makes sense without the view; a result without any is an error.
    /// [`Server::build`](crate::Server::build) fails if no resource has the URI.
    ///
    /// ```
    /// use bowline_server::{Resource, Server, Tool};
    ///
    /// const VIEW: &str = "<!DOCTYPE html><title>Weather</title><p id=weather>";
    ///
    /// let server = Server::new("weather", "1.0.0")
    ///     .tool(Tool::new("forecast", || async { "rain" }).ui("ui://weather/view"))
    ///     .resource(Resource::ui("ui://weather/view", VIEW));
    /// assert!(server.build().is_ok());
    /// ```
    #[must_use]
    pub fn ui(self, uri: impl Into<String>) -> Self {
        self.edit_ui(|ui| ui.resource_uri = Some(uri.into()))
    }

    /// Lets only views of this server call the tool, not the model: for example a button that fetches
    /// newer data.
    ///
    /// Clients without MCP Apps do not see the tool, since they would offer it to the model. This is
    /// no protection: any client can declare that it has MCP Apps.
    #[must_use]
    pub fn app_only(self) -> Self {
        self.edit_ui(|ui| ui.visibility = Some(vec![Visibility::App]))
    }

    /// Lets only the model call the tool, not views.
    #[must_use]
    pub fn model_only(self) -> Self {
        self.edit_ui(|ui| ui.visibility = Some(vec![Visibility::Model]))
    }

    fn edit_ui(self, change: impl FnOnce(&mut ToolUi)) -> Self {
        let mut ui = self.definition.ui().unwrap_or_default();
        change(&mut ui);
        self.meta(META_KEY, &ui)
    }

    /// Checks what the definition says of a view, and hides a tool that is not for models from
    /// clients that do not know views.
    ///
    /// # Errors
    ///
    /// Says what is wrong.
    pub(super) fn check_view(&mut self) -> Result<(), String> {
        let Some(ui) = self.definition.ui() else { return Ok(()) };
        if let Some(uri) = ui.resource_uri.as_ref().filter(|_| !ui.has_ui_scheme()) {
            return Err(format!("has the view `{uri}`, but URIs of views begin with `{SCHEME}`"));
        }
        if !ui.is_visible_to_model() {
            self.core.limit(Parts::shows_views);
        }
        self.ui = Some(ui);
        Ok(())
    }

    /// Checks that a result says something to clients that do not show the view (APP-8).
    ///
    /// # Errors
    ///
    /// If it does not.
    pub(super) fn check_content(&self, result: &CallToolResult) -> Result<(), String> {
        let has_view = self.ui.as_ref().is_some_and(|ui| ui.resource_uri.is_some());
        if has_view && result.content.is_empty() {
            let reason = "its result has no content, which clients that do not show its view need";
            return Err(reason.to_owned());
        }
        Ok(())
    }
}
