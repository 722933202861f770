//! Views: resources at `ui://` URIs, which are HTML that a host shows (MCP Apps).

use bowline_types::ext::apps::{
    META_KEY, MIME_TYPE, ResourceUi, SCHEME, is_html_document, is_mime_type,
};
use bowline_types::resource::{ResourceBody, ResourceContents};

use super::Resource;

const NO_DOCTYPE: &str = "does not begin with `<!DOCTYPE html>`";

impl Resource {
    /// A view: an HTML document that hosts with MCP Apps show for the results of the tools that name
    /// it ([`Tool::ui`](crate::Tool::ui)). Its URI begins with `ui://`.
    ///
    /// The view gets the arguments and the result of the call from its host. Do not write data of
    /// users into the HTML, but put it into the results of tools, which the view reads.
    ///
    /// A view that differs from read to read is `Resource::new("ui://..", handler)`: every resource
    /// at a `ui://` URI is a view.
    ///
    /// ```
    /// use bowline_server::{Resource, ResourceUi};
    ///
    /// let view = Resource::ui("ui://weather/view", "<!DOCTYPE html><title>Weather</title>")
    ///     .ui_settings(&ResourceUi::new().with_connect_domain("https://api.example.com"));
    /// ```
    pub fn ui(uri: impl Into<String>, html: impl Into<String>) -> Self {
        let html: String = html.into();
        let is_document = is_html_document(&html);
        let mut view = Self::new(uri, move || {
            let html = html.clone();
            async move { html }
        });
        if !is_view(view.uri()) {
            view.core.problem =
                Some(format!("is a view, but its URI does not begin with `{SCHEME}`"));
        } else if !is_document {
            view.core.problem = Some(format!("has HTML that {NO_DOCTYPE}"));
        }
        view
    }

    /// Tells hosts what the view needs: origins to load from and to connect to, browser permissions,
    /// an origin of its own, a border. Without this it may connect to nothing.
    ///
    /// [`Server::build`](crate::Server::build) fails if an origin is not of the form
    /// `https://api.example.com`.
    #[must_use]
    pub fn ui_settings(mut self, settings: &ResourceUi) -> Self {
        if !is_view(self.uri()) {
            self.core.problem =
                Some(format!("has settings of a view, but its URI does not begin with `{SCHEME}`"));
        } else if let Some(domain) = settings.unusable_domain() {
            let form = "an origin such as `https://api.example.com`";
            self.core.problem = Some(format!("asks for `{domain}`, which is not {form}"));
        }
        self.meta(META_KEY, settings)
    }

    /// What is wrong with the definition of a view.
    pub(super) fn view_problem(&self) -> Option<String> {
        let media_type = self.definition.mime_type.as_deref().unwrap_or_default();
        (is_view(self.uri()) && !is_mime_type(media_type))
            .then(|| format!("has the media type `{media_type}`, but a view has `{MIME_TYPE}`"))
    }

    /// Checks the contents of a view that was read, and adds its settings.
    ///
    /// # Errors
    ///
    /// If the contents are not those of a view.
    pub(super) fn finish_view(&self, contents: &mut ResourceContents) -> Result<(), String> {
        if !is_view(&contents.uri) {
            return Ok(());
        }
        let media_type = contents.mime_type.as_deref().unwrap_or_default();
        if !is_mime_type(media_type) {
            return Err(format!("a view has the media type `{MIME_TYPE}`, not `{media_type}`"));
        }
        let is_document = match &contents.body {
            ResourceBody::Text(text) => is_html_document(text),
            ResourceBody::Blob(data) => data
                .decode()
                .is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok_and(is_html_document)),
        };
        if !is_document {
            return Err(format!("its HTML {NO_DOCTYPE}"));
        }
        let settings: Option<ResourceUi> = ResourceUi::find(&self.definition.meta);
        if let Some(settings) = settings.filter(|_| contents.meta.value(META_KEY).is_none()) {
            contents.meta.set(META_KEY, &settings).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Whether a URI, or a template, is that of a view.
pub(super) fn is_view(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}
