//! A resource or template that has been checked: matches a URI, and reads what is there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{Parts, Request, Response, Success};
use bowline_types::cache::{CacheHint, CacheScope};
use bowline_types::error::ErrorObject;
use bowline_types::resource::ReadResourceResult;
use bowline_types::revision::Revision;
use bowline_types::template::{UriTemplate, Variables};
use futures_core::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;

use super::view::is_view;
use super::{Kind, Resource};
use crate::call::{Call, CallTarget, ServerShared};
use crate::error::{BuildError, Error, Result as HandlerResult};
use crate::feature::completion::Completers;
use crate::feature::uri;
use crate::run::{Callee, GRACE, Invocation, ScopeRules, invoke};
use crate::states::States;
use crate::text_arguments::{TextArguments, TextValidator};

/// A resource or template that has been checked.
pub(crate) struct ResourceReader {
    pub(super) resource: Resource,
    /// `None` for a single resource.
    template: Option<UriTemplate>,
    /// The names of the template's variables, each once.
    variables: Arc<[String]>,
    /// What its variables have to be, if that is more than their types.
    terms: Option<TextValidator>,
}

impl ResourceReader {
    /// Checks all of a resource but its state.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the resource.
    pub(super) fn check(resource: Resource) -> Result<Self, BuildError> {
        let (template, variables, terms) = Default::default();
        let mut reader = Self { resource, template, variables, terms };
        match reader.problem() {
            None => Ok(reader),
            Some(problem) => Err(BuildError::new(format!("{} {problem}", reader.label()))),
        }
    }

    /// Reads the URI or template, and finds what is wrong.
    fn problem(&mut self) -> Option<String> {
        let parsed = match self.resource.kind {
            Kind::One if self.resource.uri().contains(['{', '}']) => {
                Err("a URI with braces is a template: use `Resource::template(..)`".to_owned())
            }
            Kind::One => uri::check_offered(self.resource.uri()),
            Kind::Family => self.parse(),
        };
        if let Err(reason) = parsed {
            return Some(format!("cannot be offered: {reason}"));
        }
        let resource = &self.resource;
        let arguments = || misfit(resource, &self.variables);
        let completion = || resource.core.completers.problem(&self.variables);
        let view = || resource.view_problem();
        resource.core.problem.clone().or_else(view).or_else(arguments).or_else(completion)
    }

    fn parse(&mut self) -> Result<(), String> {
        let template =
            UriTemplate::parse(self.resource.uri()).map_err(|error| error.to_string())?;
        uri::check_template(&template)?;
        let unusable = |error| format!("the schema of its variables cannot be used: {error}");
        self.terms = TextValidator::of(self.resource.core.signature.input()).map_err(unusable)?;
        let mut names: Vec<String> = Vec::new();
        for name in template.variables() {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        self.variables = names.into();
        self.template = Some(template);
        Ok(())
    }

    /// Checks that all the state that the resource needs is there.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(crate) fn check_states(&self, states: &States) -> Result<(), BuildError> {
        self.resource.core.check_states(&self.label(), states)
    }

    /// Whether the resource may send log messages.
    pub(crate) fn logs(&self) -> bool {
        self.resource.core.logs()
    }

    pub(crate) fn completers(&self) -> &Completers {
        &self.resource.core.completers
    }

    /// The names of the variables of the template.
    pub(crate) fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Whether it has a template.
    pub(crate) fn is_family(&self) -> bool {
        self.template.is_some()
    }

    /// Whether it is a view, or views.
    pub(crate) fn is_view(&self) -> bool {
        is_view(self.resource.uri())
    }

    /// Whether a URI is this resource, or matches this template.
    pub(crate) fn is_at(&self, uri: &str) -> bool {
        self.find(uri).is_some()
    }

    /// Refuses a caller that lacks a scope.
    ///
    /// # Errors
    ///
    /// Names the scopes that the resource needs.
    pub(crate) fn check_scopes(&self, parts: &Parts) -> Result<(), ErrorObject> {
        self.resource.core.scopes.check(parts, || self.label())
    }

    /// Why the resource cannot be offered over HTTP without authorization, if it cannot.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        self.resource.core.needs_authorization(&self.label())
    }

    /// Reads the resource through its layers.
    pub(crate) fn invoke(
        self: &Arc<Self>,
        request: Request,
        shared: &Arc<ServerShared>,
    ) -> Invocation<Self> {
        invoke(self, self.resource.core.route.as_ref(), request, shared)
    }

    /// The values of the template's variables in a URI; `None` if the URI does not match. Values
    /// that would lead out of a folder (`..`) do not match.
    fn find(&self, uri: &str) -> Option<Variables> {
        match &self.template {
            None => (self.resource.uri() == uri).then(Variables::new),
            Some(template) => template.match_uri(uri).filter(|values| !uri::is_unsafe(values)),
        }
    }

    /// Whether callers may share cached contents.
    fn scope(&self, shared: &ServerShared) -> CacheScope {
        let resource = &self.resource;
        let may_differ = resource.is_private
            || resource.core.visibility.is_limited()
            || !resource.core.scopes.is_empty()
            || resource.core.signature.may_tell_callers_apart()
            || shared.is_private;
        if may_differ { CacheScope::Private } else { CacheScope::Public }
    }
}

impl Callee for ResourceReader {
    type Output = ReadResourceResult;

    fn label(&self) -> String {
        let what = match self.resource.kind {
            Kind::One => "resource",
            Kind::Family => "resource template",
        };
        format!("{what} `{}`", self.resource.uri())
    }

    fn scopes(&self) -> Option<&ScopeRules> {
        Some(&self.resource.core.scopes)
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        let uri = asked(request).map_err(Err)?;
        let values = self
            .find(&uri)
            .ok_or_else(|| Err(ErrorObject::resource_not_found(&uri, request.parts.revision)))?;
        let words = TextArguments::of_uri(values, self.variables.clone());
        if let Some(Err(reason)) = self.terms.as_ref().map(|terms| terms.check(&words)) {
            let error = Error::misfit(reason).into_read_error(&uri, request.parts.revision);
            return Err(Err(error));
        }
        Ok(CallTarget::Other { name: uri.into(), arguments: words })
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<ReadResourceResult>> {
        (self.resource.core.handler)(call)
    }

    fn complete(&self, call: &Call, outcome: HandlerResult<ReadResourceResult>) -> Response {
        let (uri, revision) = (call.name(), call.parts().revision);
        let mut result = outcome.map_err(|error| error.into_read_error(uri, revision))?;
        if result.contents.is_empty() {
            return Err(ErrorObject::resource_not_found(uri, revision));
        }
        for contents in result.contents.iter_mut().filter(|contents| contents.uri == uri) {
            if contents.mime_type.is_none() {
                contents.mime_type.clone_from(&self.resource.definition.mime_type);
            }
            self.resource.finish_view(contents).map_err(|reason| {
                ErrorObject::internal(format!("the {} failed: {reason}", self.label()))
            })?;
        }
        let mut hint = CacheHint::public(self.resource.ttl);
        hint.scope = self.scope(call.shared());
        Ok(Success::complete(result, revision)?.with_cache(hint))
    }

    fn fail(&self, reason: String, _: Revision) -> Response {
        Err(ErrorObject::internal(format!("the {} failed: {reason}", self.label())))
    }

    fn grace(&self) -> Option<Duration> {
        self.resource.core.signature.may_clean_up().then_some(GRACE)
    }
}

impl fmt::Debug for ResourceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resource.fmt(f)
    }
}

/// The URI that is asked for.
///
/// # Errors
///
/// If there is none, or it is no URI that may be asked for.
pub(crate) fn asked(request: &Request) -> Result<String, ErrorObject> {
    let invalid = |reason: String| ErrorObject::invalid_params(format!("`params.uri`: {reason}"));
    let uri = request.params.parse::<String>("uri").map_err(ErrorObject::misread_params)?;
    let uri = uri.ok_or_else(|| invalid("missing; name the resource".to_owned()))?;
    uri::check_asked(&uri).map_err(invalid)?;
    Ok(uri)
}

/// What is wrong between the variables of a template and what the handler takes.
fn misfit(resource: &Resource, variables: &[String]) -> Option<String> {
    let signature = &resource.core.signature;
    let taken = signature.variables();
    if taken > 0 && taken != variables.len() {
        let found = variables.len();
        return Some(format!("has {found} variables, but its handler takes {taken}"));
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Input {
        properties: BTreeMap<String, Value>,
        required: Vec<String>,
    }
    let input: Input = signature.input()?.published.parse().unwrap_or_default();
    let is_unknown = |name: &&String| !variables.contains(name);
    let wanted = input.required.iter().chain(input.properties.keys()).find(is_unknown)?;
    Some(format!("has no variable `{wanted}`, which its handler takes"))
}
