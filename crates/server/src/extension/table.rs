//! The extensions of a built server, and who may use them.

use std::collections::HashMap;
use std::sync::Arc;

use bowline_proto::request::{Parts, Request, Response};
use bowline_types::capability::{ClientCapabilities, ServerCapabilities};
use bowline_types::error::ErrorObject;
use bowline_types::json::Object;
use bowline_types::method::Method;
use futures_core::future::BoxFuture;

use super::Extension;
use super::method::MethodEntry;
use crate::call::ServerShared;
use crate::error::BuildError;
use crate::layer::{ErasedService, Fault};
use crate::run::{innermost, invoke};
use crate::states::States;

/// The extensions of a built server, with their methods by name.
pub(crate) struct ExtensionTable {
    extensions: Vec<Extension>,
    methods: HashMap<Method, MethodTarget>,
}

/// A method, and where it is served.
struct MethodTarget {
    entry: Arc<MethodEntry>,
    /// The place of its extension.
    extension: usize,
    /// The layers around the method, if there are any.
    route: Option<ErasedService>,
}

impl ExtensionTable {
    /// Puts the extensions of a server into a table.
    ///
    /// # Errors
    ///
    /// If two of them have the same identifier or the same method, or a handler needs state that the
    /// server does not have.
    pub(super) fn new(extensions: &[Extension], states: &States) -> Result<Self, BuildError> {
        let mut methods = HashMap::new();
        for (number, extension) in extensions.iter().enumerate() {
            let identifier = &extension.identifier;
            if extensions.iter().take(number).any(|other| other.identifier == *identifier) {
                let message = format!("the extension `{identifier}` was added twice");
                return Err(BuildError::duplicate(message));
            }
            for entry in &extension.methods {
                entry.check_states(states)?;
                let target = MethodTarget {
                    entry: entry.clone(),
                    extension: number,
                    route: extension.layers.around(|| innermost::<MethodEntry>(Fault::Server)),
                };
                if let Some(other) = methods.insert(entry.method(), target) {
                    let other: &Extension = &extensions[other.extension];
                    return Err(BuildError::duplicate(format!(
                        "the extensions `{}` and `{identifier}` both have `{}`",
                        other.identifier,
                        entry.name()
                    )));
                }
            }
        }
        Ok(Self { extensions: extensions.to_vec(), methods })
    }

    /// Serves a request or a notification, if an extension has its method.
    pub(crate) fn serve(
        &self,
        request: &Request,
        shared: &Arc<ServerShared>,
    ) -> Option<BoxFuture<'static, Response>> {
        let target = self.methods.get(&request.parts.method)?;
        let extension = self.extensions.get(target.extension)?;
        let declared = match extension.needs_declaration {
            true => is_declared(&extension.identifier, &request.parts),
            false => Ok(()),
        };
        let refusal =
            declared.and_then(|()| extension.scopes.check(&request.parts, || target.label()));
        Some(match refusal {
            Err(refusal) => Box::pin(std::future::ready(Err(refusal))),
            Ok(()) => {
                Box::pin(invoke(&target.entry, target.route.as_ref(), request.clone(), shared))
            }
        })
    }

    /// Declares the extensions.
    pub(super) fn declare(&self, capabilities: &mut ServerCapabilities) {
        for extension in &self.extensions {
            // The identifier was checked when the extension was added.
            _ = capabilities.extensions.insert(&extension.identifier, extension.settings.clone());
        }
        if self.methods.values().any(|target| target.entry.signature().logs()) {
            capabilities.logging.get_or_insert_default();
        }
    }

    /// Why the server cannot be offered over HTTP without authorization, if it cannot.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        let scoped = |extension: &&Extension| !extension.scopes.is_empty();
        if let Some(extension) = self.extensions.iter().find(scoped) {
            return Some(format!("extension `{}` needs scopes", extension.identifier));
        }
        let verified = |target: &&MethodTarget| target.entry.signature().is_for_verified_callers();
        let target = self.methods.values().find(verified)?;
        Some(format!("{} takes `Claims`", target.label()))
    }
}

impl MethodTarget {
    fn label(&self) -> String {
        use crate::run::Callee as _;
        self.entry.label()
    }
}

/// Refuses a caller that did not declare the extension too (EXT-7). Up to 2025-11-25 the client
/// declares it in the handshake, and there is no error code for this case: the method does not exist
/// in its session.
fn is_declared(identifier: &str, parts: &Parts) -> Result<(), ErrorObject> {
    if parts.client.capabilities.supports_extension(identifier) {
        return Ok(());
    }
    let message = format!(
        "`{}` belongs to the extension `{identifier}`, which the client did not declare",
        parts.method
    );
    if !parts.revision.has_missing_capability_code() {
        return Err(ErrorObject::method_not_found(message));
    }
    let required = ClientCapabilities::new().with_extension(identifier, Object::default());
    Err(ErrorObject::missing_capability(required.unwrap_or_default(), message))
}
