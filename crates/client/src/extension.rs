//! Extensions that a client declares, and the notifications that they define.

use std::collections::BTreeMap;

use bowline_types::capability::{ClientCapabilities, DeclaredExtensions};
use bowline_types::json::{Object, RawJson};
use bowline_types::method::{CustomMethod, MessageKind, Method};
use bowline_types::read::ReadError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::hook::Observer;

/// An extension that a client supports: an identifier, settings, and the notifications that it
/// takes.
///
/// The client declares it in its capabilities. What the extension defines is used only with servers
/// that declare the same identifier.
///
/// ```
/// use bowline_client::{Client, ClientExtension};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Found {
///     title: String,
/// }
///
/// let search = ClientExtension::new("com.example/search")
///     .on_notification("notifications/search/found", |found: Found| println!("{}", found.title));
/// let builder = Client::builder("my-app", "1.0.0").extension(search);
/// ```
#[derive(Clone, Debug)]
pub struct ClientExtension {
    identifier: String,
    settings: Object,
    notifications: Vec<NotificationObserver>,
    problem: Option<String>,
}

/// Takes a notification.
#[derive(Clone, Debug)]
struct NotificationObserver {
    method: Method,
    /// Why params do not fit the type of the function, if they do not.
    misfit: fn(&RawJson) -> Option<ReadError>,
    observe: Observer<RawJson>,
}

impl ClientExtension {
    /// An extension with this identifier, such as `com.example/search`.
    pub fn new(identifier: impl Into<String>) -> Self {
        let identifier = identifier.into();
        let checked = DeclaredExtensions::new().insert(&identifier, Object::default());
        let problem = checked.err().map(|error| error.to_string());
        Self { identifier, settings: Object::default(), notifications: Vec::new(), problem }
    }

    /// Sets the settings that servers read: a value that serializes as a JSON object. Without this,
    /// they are `{}`.
    #[must_use]
    pub fn settings<T: Serialize + ?Sized>(mut self, settings: &T) -> Self {
        match Object::of(settings) {
            Ok(settings) => self.settings = settings,
            Err(reason) => self.note(format!("its settings {reason}")),
        }
        self
    }

    /// Takes a notification of servers that declare the extension, too. Params that do not fit the
    /// type are reported to [`on_diagnostic`](crate::ClientBuilder::on_diagnostic), and the function is not called.
    ///
    /// The function runs in the task that drives the connection and must return quickly.
    #[must_use]
    pub fn on_notification<T, F>(mut self, name: &str, observe: F) -> Self
    where
        T: DeserializeOwned,
        F: Fn(T) + Send + Sync + 'static,
    {
        let observe = Observer::new(move |params: &RawJson| {
            if let Ok(params) = params.parse() {
                observe(params);
            }
        });
        match CustomMethod::register(name, MessageKind::Notification) {
            Ok(method) => self.notifications.push(NotificationObserver {
                method: Method::Custom(method),
                misfit: |params| params.parse::<T>().err(),
                observe,
            }),
            Err(error) => self.note(error.to_string()),
        }
        self
    }

    fn note(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }
}

/// What a client declares beside its handlers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions {
    list: Vec<ClientExtension>,
    experimental: BTreeMap<String, Object>,
    problem: Option<(String, String)>,
}

impl Extensions {
    /// Reports the first mistake of the application.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.problem {
            Some((subject, reason)) => Err(Error::input(subject, reason)),
            None => Ok(()),
        }
    }

    pub(crate) fn declare(&self, mut capabilities: ClientCapabilities) -> ClientCapabilities {
        for extension in &self.list {
            // `check` reports an identifier that is refused here.
            _ = capabilities.extensions.insert(&extension.identifier, extension.settings.clone());
        }
        capabilities.experimental.extend(self.experimental.clone());
        capabilities
    }

    pub(crate) fn add_experimental(&mut self, name: &str, settings: Result<Object, String>) {
        match settings {
            Ok(settings) => _ = self.experimental.insert(name.to_owned(), settings),
            Err(reason) => {
                let reason = format!("its settings {reason}");
                self.problem.get_or_insert((name.to_owned(), reason));
            }
        }
    }

    pub(crate) fn contains(&self, identifier: &str) -> bool {
        self.list.iter().any(|extension| extension.identifier == identifier)
    }

    /// Passes a notification to the function that takes it, if the server declares its extension.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the notification.
    pub(crate) fn observe(
        &self,
        method: Method,
        params: &RawJson,
        is_offered: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let found = self.list.iter().find_map(|extension| {
            let mut observers = extension.notifications.iter();
            Some((extension, observers.find(|observer| observer.method == method)?))
        });
        let Some((extension, observer)) = found else { return Ok(()) };
        if !is_offered(&extension.identifier) {
            let identifier = &extension.identifier;
            return Err(format!("`{method}`: the server does not declare `{identifier}`"));
        }
        match (observer.misfit)(params) {
            Some(error) => Err(format!("`{method}`: {}", error.within("params"))),
            None => {
                observer.observe.call(params);
                Ok(())
            }
        }
    }

    pub(crate) fn add(&mut self, extension: ClientExtension) {
        let identifier = &extension.identifier;
        let names = |other: &ClientExtension| {
            let mut own = extension.notifications.iter();
            own.find(|own| other.notifications.iter().any(|other| own.method == other.method))
                .map(|own| own.method.name())
        };
        let problem = if let Some(problem) = &extension.problem {
            Some(problem.clone())
        } else if self.contains(identifier) {
            Some("the extension was added twice".to_owned())
        } else {
            let shared = self.list.iter().find_map(names);
            shared.map(|name| format!("another extension takes `{name}`, too"))
        };
        if let Some(problem) = problem {
            self.problem.get_or_insert((identifier.clone(), problem));
        }
        self.list.push(extension);
    }
}
