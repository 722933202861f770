//! Views of tools (MCP Apps): reads their HTML, and makes the calls that they ask their host for.

use bowline_proto::client::CallError;
use bowline_transport::connect::Host as _;
use bowline_types::ext::apps::{
    self, IDENTIFIER, MIME_TYPE, ResourceUi, SCHEME, UiSettings, is_mime_type,
};
use bowline_types::tool::ToolDefinition;
use serde::Serialize;

use crate::builder::ClientBuilder;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::extension::ClientExtension;
use crate::list::List;
use crate::resources::Contents;
use crate::tool_outcome::ToolOutcome;

impl<S> ClientBuilder<S> {
    /// Declares that the application shows views of tools: HTML documents, as the extension
    /// `io.modelcontextprotocol/ui` (MCP Apps) defines them. [`Client::view`] reads one.
    ///
    /// Servers may offer such a client tools that only views call. Offer the model
    /// [`for_model`](List::for_model) of the list.
    pub fn ui(self) -> Self {
        self.extension(ClientExtension::new(IDENTIFIER).settings(&UiSettings::new()))
    }
}

impl List<ToolDefinition> {
    /// Only the tools that a model may call. Leaves out those that are only for views.
    pub fn for_model(self) -> Self {
        self.noted(|tools| tools.retain(ToolDefinition::is_for_model))
    }
}

impl Client {
    /// Reads the view of a tool, to show it beside the results of the tool. Its URI is in the
    /// definition of the tool: [`ToolDefinition::ui`].
    ///
    /// The HTML is the server's. Show it in a sandboxed frame only, with the
    /// [policy](View::content_security_policy) of the view, and show the user which server it is
    /// from.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// for tool in client.tools().all().await? {
    ///     let Some(uri) = tool.ui().and_then(|ui| ui.resource_uri) else { continue };
    ///     let view = client.view(&uri).await?;
    ///     println!("{}: {} bytes of HTML", tool.name, view.html().len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the client was built without [`ui`](ClientBuilder::ui), or the URI does not begin with
    /// `ui://`, nothing is read. If what the server sent is not one HTML document of a view,
    /// [`Error::is_invalid_answer`] is true.
    pub async fn view(&self, uri: &str) -> Result<View> {
        if !self.application.declares(IDENTIFIER) {
            return Err(Error::input(
                uri,
                "this client does not declare views; build it with `.ui()`",
            ));
        }
        if !uri.starts_with(SCHEME) {
            return Err(Error::input(
                uri,
                format_args!("the URI of a view begins with `{SCHEME}`"),
            ));
        }
        let contents = self.read(uri).await?;
        let (html, settings) = read(uri, &contents)?;
        if let Some(domain) = settings.unusable_domain() {
            self.application
                .diagnostic(&format!("the view `{uri}` names no origin, but `{domain}`"));
        }
        Ok(View { client: self.clone(), uri: uri.to_owned(), html, settings })
    }
}

/// The document and the settings of a view.
fn read(uri: &str, contents: &Contents) -> Result<(String, ResourceUi)> {
    let invalid = |reason: String| Error::call(uri, CallError::Invalid(reason));
    let mut items = contents.iter();
    let (Some(item), None) = (items.next(), items.next()) else {
        return Err(invalid("a view is one item".to_owned()));
    };
    let media_type = item.mime_type.as_deref().unwrap_or_default();
    if !is_mime_type(media_type) {
        return Err(invalid(format!(
            "a view has the media type `{MIME_TYPE}`, not `{media_type}`"
        )));
    }
    let bytes = item.to_bytes().map_err(|error| invalid(error.to_string()))?;
    let html = String::from_utf8(bytes).map_err(|_| invalid("it is no UTF-8".to_owned()))?;
    let settings = match item.meta.value(apps::META_KEY) {
        None => ResourceUi::new(),
        Some(settings) => {
            settings.parse().map_err(|error| invalid(error.within("_meta.ui").to_string()))?
        }
    };
    Ok((html, settings))
}

/// The view of a tool: HTML, and what the host has to know to show it. Made by [`Client::view`].
///
/// A view asks its host to call tools and to read resources. [`call`](Self::call) and
/// [`read`](Self::read) do that at the server that the view is from, and nowhere else.
#[derive(Clone, Debug)]
pub struct View {
    client: Client,
    uri: String,
    html: String,
    settings: ResourceUi,
}

impl View {
    /// The URI that it was read from.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The HTML document, as the server wrote it.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// What it asks its host for: origins, browser permissions, a border.
    pub fn settings(&self) -> &ResourceUi {
        &self.settings
    }

    /// The `Content-Security-Policy` to show it with: it allows the origins that the view declares
    /// and no others.
    pub fn content_security_policy(&self) -> String {
        self.settings.content_security_policy()
    }

    /// The `allow` attribute of its frame: the browser permissions that it asks for. Ask the user
    /// first; a host may grant fewer.
    pub fn allow_attribute(&self) -> String {
        self.settings.allow_attribute()
    }

    /// The origins that it reaches. Tell the user, and write them into your log.
    pub fn external_domains(&self) -> Vec<&str> {
        self.settings.external_domains()
    }

    /// Calls a tool because the view asked for it. Otherwise as [`Client::call`]:
    /// [`on_call`](ClientBuilder::on_call) can refuse it.
    ///
    /// # Errors
    ///
    /// If the server does not list the tool, or it is not for views, nothing is sent and
    /// [`Error::is_denied`] is true. Otherwise as [`Client::call`].
    pub async fn call(&self, tool: &str, arguments: impl Serialize + Send) -> Result<ToolOutcome> {
        let application = &self.client.application;
        let mut is_for_app = application.is_for_app(tool);
        if is_for_app.is_none() {
            self.client.find_tool(tool).await;
            is_for_app = application.is_for_app(tool);
        }
        match is_for_app {
            Some(true) => self.client.call(tool, arguments).await,
            Some(false) => Err(Error::denied(tool, "the tool is not for views".to_owned())),
            None => {
                Err(Error::denied(tool, "the server of the view lists no such tool".to_owned()))
            }
        }
    }

    /// Reads a resource because the view asked for it; as [`Client::read`].
    ///
    /// # Errors
    ///
    /// As [`Client::read`].
    pub async fn read(&self, uri: &str) -> Result<Contents> {
        self.client.read(uri).await
    }
}
