//! Lists and reads resources.

use std::slice;
use std::vec;

use bowline_types::json::{NotBase64, RawJson};
use bowline_types::meta::Meta;
use bowline_types::resource::{
    ListResourceTemplates, ListResources, ReadResource, ReadResourceParams, ReadResourceResult,
    ResourceContents, ResourceDefinition, ResourceTemplate,
};

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::Result;
use crate::list::List;
use crate::request;

impl Client {
    /// The resources that the server offers.
    pub fn resources(&self) -> List<ResourceDefinition> {
        List::new::<ListResources>(self.link.clone())
    }

    /// The resource templates that the server offers. Fill in a
    /// [template](ResourceTemplate::template) to get a URI to [`read`](Self::read).
    pub fn resource_templates(&self) -> List<ResourceTemplate> {
        List::new::<ListResourceTemplates>(self.link.clone())
    }

    /// Reads a resource when awaited. It need not be listed.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// let settings = match client.read("config://app").await {
    ///     Ok(contents) => contents.text(),
    ///     Err(error) if error.is_not_found() => String::new(),
    ///     Err(error) => return Err(error),
    /// };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the call fails; see the predicates of [`Error`](crate::Error). For a resource that does
    /// not exist, [`Error::is_not_found`](crate::Error::is_not_found) is true.
    pub fn read(&self, uri: impl Into<String>) -> ClientCall<'static, Contents> {
        let uri = uri.into();
        let request = self.request::<ReadResource>(&ReadResourceParams::new(&uri));
        ClientCall::new(self.link.clone(), uri, Ok(request), |uri, result: &RawJson| {
            request::read(&uri, result).map(Contents)
        })
    }
}

impl ClientCall<'_, Contents> {
    /// Reads the resource from the server, also if it is in the
    /// [cache](crate::ClientBuilder::cache).
    pub fn fresh(self) -> Self {
        self.change(|request| request.fresh = true)
    }
}

/// The contents of a resource: one item, or several when the resource is a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents(ReadResourceResult);

impl Contents {
    /// The items that are text, one after another, each on a new line; empty if there is no text.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.iter().filter_map(ResourceContents::as_text).collect();
        texts.join("\n")
    }

    /// All items as bytes, one after another; text is given as UTF-8.
    ///
    /// # Errors
    ///
    /// If the server sent bytes that are not base64.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NotBase64> {
        let items: Vec<_> =
            self.iter().map(ResourceContents::to_bytes).collect::<Result<_, _>>()?;
        Ok(items.concat())
    }

    /// The items, each with its own URI and media type.
    pub fn iter(&self) -> slice::Iter<'_, ResourceContents> {
        self.0.contents.iter()
    }

    /// The result's `_meta`.
    pub fn meta(&self) -> &Meta {
        &self.0.meta
    }

    /// The result as the server sent it, to pass it on.
    pub fn into_message(self) -> ReadResourceResult {
        self.0
    }
}

impl IntoIterator for Contents {
    type Item = ResourceContents;
    type IntoIter = vec::IntoIter<ResourceContents>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.contents.into_iter()
    }
}

impl<'a> IntoIterator for &'a Contents {
    type Item = &'a ResourceContents;
    type IntoIter = slice::Iter<'a, ResourceContents>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
