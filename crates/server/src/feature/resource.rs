//! Resources: what clients can read, at one URI or at all URIs of a template.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use bowline_types::content::Annotations;
use bowline_types::ext::apps;
use bowline_types::resource::{self as wire, ReadResourceResult};

use super::core::{FeatureCore, common_setters};
use crate::call::Call;
use crate::extract::Typed;
use crate::handler::{ErasedHandler, Handler, TemplateHandler, erase, erase_call};
use crate::layer::Fault;
use crate::respond::{IntoCompletion, IntoResourceResult};
use crate::signature::{HandlerSignature, Purpose};

mod entry;
mod reader;
mod view;

pub(crate) use entry::{CheckedResource, ResourceEntry, TemplateEntry};
pub(crate) use reader::{ResourceReader, asked};

/// A function that reads what is at a URI, or at all URIs of a template.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_server::{Json, Resource, starting_with};
/// use serde_json::{Value, json};
///
/// let config = Resource::new("config://app", || async { "log_level=info" })
///     .describe("How the application is configured")
///     .ttl(Duration::from_secs(60));
///
/// async fn profile(user_id: u64) -> Option<Json<Value>> {
///     (user_id == 42).then(|| Json(json!({ "name": "Ada" })))
/// }
///
/// let profiles = Resource::template("users://{user_id}/profile", profile)
///     .complete("user_id", |typed| async move { starting_with(typed, ["1", "2", "42"]) });
/// ```
#[derive(Clone)]
pub struct Resource {
    /// For a template, `uri` is its text.
    definition: wire::ResourceDefinition,
    kind: Kind,
    core: FeatureCore<ReadResourceResult>,
    ttl: Duration,
    is_private: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    One,
    Family,
}

/// A type that stands for one resource. `#[resource]` writes one for a function; `resources![..]`
/// uses it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "not a resource",
    note = "put `#[resource(\"..\")]` on the function"
)]
pub trait ResourceFn {
    /// The resource.
    fn resource() -> Resource;
}

impl Resource {
    /// What is at one URI, read by a function.
    ///
    /// The scheme is the server's choice; `https` is for what clients can fetch from the web
    /// themselves.
    pub fn new<M, H>(uri: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoResourceResult + 'static,
    {
        let signature = HandlerSignature::of(&[H::describe, H::Output::describe]);
        let handler = erase(handler, |contents, call| contents.into_resource_result(call.name()));
        Self::of(uri.into(), Kind::One, signature, handler)
    }

    /// What is at all URIs of a template (RFC 6570), read by a function that takes the template's
    /// variables: each as a parameter, in the order of the template, or all of them as
    /// [`Args`](crate::Args) by their names.
    ///
    /// A URI whose values cannot be read as the types of the parameters does not exist. A URI whose
    /// values hold `..` as a part of a path does not exist either, so that no template leads out of
    /// its directory. A resource registered under the exact URI is read before any template, and the
    /// template that was registered first before others.
    pub fn template<M, H>(template: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: TemplateHandler<M>,
        H::Output: IntoResourceResult + 'static,
    {
        let signature = HandlerSignature::of(&[H::describe, H::Output::describe]);
        let handler = erase_call(
            move |call: Call| handler.clone().call(call),
            |contents: H::Output, call| contents.into_resource_result(call.name()),
        );
        Self::of(template.into(), Kind::Family, signature, handler)
    }

    fn of(
        uri: String,
        kind: Kind,
        signature: HandlerSignature,
        handler: ErasedHandler<ReadResourceResult>,
    ) -> Self {
        // The name is the URI until `name` sets another.
        let mut definition = wire::ResourceDefinition::new(uri.clone(), uri);
        definition.mime_type = match view::is_view(&definition.uri) {
            true => Some(apps::MIME_TYPE.to_owned()),
            false => signature.media_type().map(str::to_owned),
        };
        Self {
            definition,
            kind,
            core: FeatureCore::new(signature, handler, Purpose::Resource),
            ttl: Duration::ZERO,
            is_private: false,
        }
    }

    common_setters! {
        "resource",
        describe: "Tells the model what the resource is.",
        hidden: "they do not find it in the list, and reading it fails as if it did not exist.",
        callee: ResourceReader, fault: Fault::Server,
        layer_error: "An error of the layer is sent to the client as an internal error."
    }

    /// Names the resource for programs. By default its name is its URI.
    #[must_use]
    pub fn name(mut self, text: impl Into<String>) -> Self {
        self.definition.name = text.into();
        self
    }

    /// Sets the media type of the contents. By default that of what the handler returns: text,
    /// bytes, JSON.
    #[must_use]
    pub fn mime(mut self, media_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(media_type.into());
        self
    }

    /// Sets the size in bytes, before any encoding.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        if self.kind == Kind::Family {
            self.core.problem = Some("has a size, but its resources may differ".to_owned());
        }
        self.definition.size = Some(bytes);
        self
    }

    /// Sets the annotations: the audience and the priority.
    #[must_use]
    pub fn annotate(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// Sets how long clients may cache the contents (2026-07-28). By default they may not.
    #[must_use]
    pub fn ttl(mut self, duration: Duration) -> Self {
        self.ttl = duration;
        self
    }

    /// Declares that cached contents may only be shown to the caller that read them (2026-07-28).
    /// This is the default if the resource is not [visible](Self::visible) to all callers, or if its
    /// handler takes an extractor that differs by caller, such as [`Context`](crate::Context).
    #[must_use]
    pub fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Suggests values for a variable of the template, from what the user has typed so far.
    /// [`starting_with`](crate::starting_with) and [`resembling`](crate::resembling) help.
    #[must_use]
    pub fn complete<F, Suggestions>(self, variable: impl Into<String>, function: F) -> Self
    where
        F: Fn(Typed) -> Suggestions + Clone + Send + Sync + 'static,
        Suggestions: Future + Send + 'static,
        Suggestions::Output: IntoCompletion + 'static,
    {
        self.complete_with(variable, function)
    }

    /// Suggests values for a variable by a handler, which can take [`Typed`], state, the values
    /// chosen before as [`Args`](crate::Args), and whatever else handlers take.
    #[must_use]
    pub fn complete_with<M, H>(mut self, variable: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoCompletion + 'static,
    {
        self.core.completers.insert(variable.into(), handler);
        self
    }

    /// The URI of the resource, or the template of its family.
    pub fn uri(&self) -> &str {
        &self.definition.uri
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resource").field(&self.definition).finish()
    }
}
