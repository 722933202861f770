//! What tools, prompts and resources have in common.

use std::any::type_name;
use std::sync::Arc;

use bowline_proto::request::{Parts, Request, Response};
use bowline_types::meta::Meta;
use schemars::JsonSchema;
use serde::Serialize;
use tower_layer::Layer;
use tower_service::Service;

use super::completion::Completers;
use super::visible::Visibility;
use crate::error::{BoxError, BuildError};
use crate::extract::form;
use crate::handler::ErasedHandler;
use crate::layer::{ErasedService, Fault};
use crate::run::{Callee, ScopeRules, innermost};
use crate::schema;
use crate::signature::{HandlerSignature, Purpose};
use crate::states::States;

/// The part of a feature that is the same for tools, prompts and resources: its handler, which gives
/// an `R`, the layers around it, and which callers see and may use it.
///
/// The builder methods that all three have are written by [`common_setters`].
#[derive(Clone)]
pub(super) struct FeatureCore<R> {
    pub(super) signature: Arc<HandlerSignature>,
    pub(super) handler: ErasedHandler<R>,
    /// Suggest values for the arguments of a prompt or the variables of a template.
    pub(super) completers: Completers,
    /// The layers around the handler, if there are any.
    pub(super) route: Option<ErasedService>,
    pub(super) visibility: Visibility,
    pub(super) scopes: ScopeRules,
    /// What was found wrong while the feature was described; reported when it is registered.
    pub(super) problem: Option<String>,
}

impl<R: 'static> FeatureCore<R> {
    pub(super) fn new(
        signature: HandlerSignature,
        handler: ErasedHandler<R>,
        purpose: Purpose,
    ) -> Self {
        Self {
            problem: signature.problem(purpose),
            signature: Arc::new(signature),
            handler,
            completers: Completers::default(),
            route: None,
            visibility: Visibility::default(),
            scopes: ScopeRules::default(),
        }
    }

    /// Adds a member to the `_meta` of the feature's definition.
    pub(super) fn set_meta<T: Serialize + ?Sized>(
        &mut self,
        meta: &mut Meta,
        key: &str,
        value: &T,
    ) {
        if let Err(error) = meta.set(key, value) {
            self.problem = Some(error.to_string());
        }
    }

    /// Checks that a type can be a form.
    pub(super) fn check_form<T: JsonSchema>(&mut self) {
        if let Err(reason) = form::of(&schema::form::<T>()) {
            self.problem = Some(format!("asks for `{}`, but {reason}", type_name::<T>()));
        }
    }

    /// Hides the feature from callers for whom the test fails.
    pub(super) fn limit(&mut self, test: impl Fn(&Parts) -> bool + Send + Sync + 'static) {
        self.visibility.limit(test);
    }

    /// Sets scopes that callers need. A scope that cannot be one is reported when the feature is
    /// registered.
    pub(super) fn set_scopes(&mut self, set: impl FnOnce(&mut ScopeRules) -> Result<(), String>) {
        if let Err(reason) = set(&mut self.scopes) {
            self.problem = Some(reason);
        }
    }

    /// Why the feature cannot be offered over HTTP without authorization, if it cannot; `title`
    /// names it.
    pub(super) fn needs_authorization(&self, title: &str) -> Option<String> {
        if !self.scopes.is_empty() {
            return Some(format!("{title} needs scopes"));
        }
        if self.signature.is_for_verified_callers() {
            return Some(format!("{title} takes `Claims`"));
        }
        self.completers.needs_authorization(title)
    }

    /// Whether the feature may send log messages.
    pub(super) fn logs(&self) -> bool {
        self.signature.logs() || self.completers.log()
    }

    /// Wraps a layer around the calls of a `C`.
    pub(super) fn wrap<C, L>(&mut self, layer: &L, fault: Fault)
    where
        C: Callee,
        L: Layer<ErasedService>,
        L::Service: Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        <L::Service as Service<Request>>::Error: Into<BoxError>,
        <L::Service as Service<Request>>::Future: Send + 'static,
    {
        let inner = self.route.take().unwrap_or_else(|| innermost::<C>(fault));
        self.route = Some(ErasedService::new(layer.layer(inner), fault));
    }

    /// Checks that the server has all the state that the feature needs; `title` names the feature.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(super) fn check_states(&self, title: &str, states: &States) -> Result<(), BuildError> {
        self.signature.check_states(title, states)?;
        self.completers.check_states(title, states)
    }
}

/// Writes the builder methods that [`Tool`](crate::Tool), [`Prompt`](crate::Prompt) and
/// [`Resource`](crate::Resource) share: `title`, `describe`, `icon`, `meta`, `asks`,
/// `visible`, `require_scope`, `step_up_scope` and `layer`.
///
/// The type has a `definition` with the fields of the protocol and a [`FeatureCore`] named `core`.
/// `callee` is what its layers call, and `fault` says to whom an error of a layer is reported.
macro_rules! common_setters {
    (
        $what:literal, describe: $describe:literal, hidden: $hidden:literal,
        callee: $callee:ty, fault: $fault:expr, layer_error: $layer_error:literal
    ) => {
        #[doc = concat!("Names the ", $what, " for people.")]
        #[must_use]
        pub fn title(mut self, text: impl Into<String>) -> Self {
            self.definition.title = Some(text.into());
            self
        }

        #[doc = $describe]
        #[must_use]
        pub fn describe(mut self, text: impl Into<String>) -> Self {
            self.definition.description = Some(text.into());
            self
        }

        #[doc = concat!("Adds an icon that clients may show for the ", $what, ".")]
        #[must_use]
        pub fn icon(mut self, icon: bowline_types::implementation::Icon) -> Self {
            self.definition.icons.push(icon);
            self
        }

        #[doc = concat!("Adds a member to the `_meta` of the ", $what, "'s definition.")]
        ///
        /// A key that breaks the rules of the protocol is reported when the server is built.
        #[must_use]
        pub fn meta<T: serde::Serialize + ?Sized>(mut self, key: &str, value: &T) -> Self {
            self.core.set_meta(&mut self.definition.meta, key, value);
            self
        }

        #[doc = concat!("Declares that the ", $what, " asks the user with [`Ask::form`] for a `T`, so ")]
        /// that [`Server::build`](crate::Server::build) fails if `T` cannot be a form.
        ///
        /// Without it, a handler that asks for such a `T` fails when it is called, because the type is
        /// known only in its body. A parameter [`Elicited<T>`](crate::Elicited) needs no declaration.
        ///
        /// [`Ask::form`]: crate::Ask::form
        #[must_use]
        pub fn asks<T: schemars::JsonSchema>(mut self) -> Self {
            self.core.check_form::<T>();
            self
        }

        #[doc = concat!("Hides the ", $what, " from callers for whom the test fails: ", $hidden)]
        ///
        /// If this is called more than once, all tests have to pass. A test that panics has failed.
        ///
        /// ```
        /// use bowline_server::Tool;
        ///
        /// let purge = Tool::new("purge", || async { "gone" })
        ///     .visible(|caller| caller.owner.identity().is_some());
        /// ```
        #[must_use]
        pub fn visible(
            mut self,
            test: impl Fn(&bowline_proto::request::Parts) -> bool + Send + Sync + 'static,
        ) -> Self {
            self.core.limit(test);
            self
        }

        #[doc = concat!("Offers the ", $what, " only to callers with this scope: others do not find ")]
        /// it in the list, and using it is refused with an error that names the scope. Over HTTP that
        /// is status 403 with a challenge.
        ///
        /// Several scopes are written with spaces between them, or in several calls; a caller needs
        /// all of them. Over stdio callers need no scopes. Over HTTP the server needs authorization.
        #[must_use]
        pub fn require_scope(mut self, scope: &str) -> Self {
            self.core.set_scopes(|scopes| scopes.require(scope));
            self
        }

        #[doc = concat!("Refuses callers without this scope when they use the ", $what, ", but lists ")]
        /// it for all of them: a client that uses it asks its user to grant more. Otherwise as
        /// [`require_scope`](Self::require_scope).
        #[must_use]
        pub fn step_up_scope(mut self, scope: &str) -> Self {
            self.core.set_scopes(|scopes| scopes.step_up(scope));
            self
        }

        #[doc = concat!("Wraps a tower layer around the calls of this ", $what, " only.")]
        ///
        /// The layer that was added last is the outermost.
        #[doc = $layer_error]
        ///
        /// What an attribute such as `#[tool]` makes of a function gets a layer where it is
        /// registered: `tools![search].map(|tool| tool.layer(..))` for each of a list, or
        /// `search::tool().layer(..)` for one (with `use bowline::ToolFn`).
        #[must_use]
        pub fn layer<L>(mut self, layer: L) -> Self
        where
            L: tower_layer::Layer<crate::layer::ErasedService>,
            L::Service: tower_service::Service<
                    crate::layer::Request,
                    Response = crate::layer::Response,
                > + Clone
                + Send
                + Sync
                + 'static,
            <L::Service as tower_service::Service<crate::layer::Request>>::Error:
                Into<crate::error::BoxError>,
            <L::Service as tower_service::Service<crate::layer::Request>>::Future: Send + 'static,
        {
            self.core.wrap::<$callee, L>(&layer, $fault);
            self
        }
    };
}

pub(super) use common_setters;
