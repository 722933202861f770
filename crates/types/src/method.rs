//! The one table of methods: which side may send which method in which revision.
//!
//! Dispatch, admission, HTTP headers, the client's API and tests all read this table. A method that
//! has no row for a revision does not exist there, even if a server registers a handler for it.
//! Methods of extensions that a program registers have rows of their own ([`CustomMethod`]).

use std::fmt;

mod custom;

pub use custom::{CustomMethod, InvalidMethod};

use crate::revision::Revision;
use MessageKind::{Notification, Request};
use MethodDirection::{Both, FromClient, FromServer};
use Revision::{V2025_06_18, V2025_11_25, V2026_07_28};

/// Declares [`Method`], and the place of each variant in [`METHODS`].
macro_rules! methods {
    ($($name:ident,)+) => {
        /// A request or notification that the specification, an official extension or an extension
        /// of the program defines. A name on the wire that is none of these is unknown, and answered
        /// with -32601 if it is a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is the camel case of its wire name in `METHODS`")]
        pub enum Method {
            $($name,)+
            /// A method of an extension that the program registered.
            Custom(CustomMethod),
        }

        /// The variants without a value, so that each has a number.
        #[derive(Clone, Copy)]
        enum Position {
            $($name,)+
        }

        impl Method {
            /// The place of the row in [`METHODS`], or the row of a registered method.
            fn position(self) -> Result<usize, CustomMethod> {
                match self {
                    $(Self::$name => Ok(Position::$name as usize),)+
                    Self::Custom(custom) => Err(custom),
                }
            }
        }
    };
}

methods! {
    Initialize,
    Ping,
    ServerDiscover,
    ToolsList,
    ToolsCall,
    ResourcesList,
    ResourcesTemplatesList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesUnsubscribe,
    PromptsList,
    PromptsGet,
    CompletionComplete,
    LoggingSetLevel,
    SubscriptionsListen,
    SamplingCreateMessage,
    RootsList,
    ElicitationCreate,
    TasksGet,
    TasksResult,
    TasksList,
    TasksCancel,
    TasksUpdate,
    Initialized,
    Cancelled,
    Progress,
    Message,
    ResourcesListChanged,
    ResourcesUpdated,
    ToolsListChanged,
    PromptsListChanged,
    RootsListChanged,
    TasksStatus,
    ElicitationComplete,
    SubscriptionsAcknowledged,
    Tasks,
}

/// Whether a method is a request or a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Has an id and is answered exactly once.
    Request,
    /// Has no id and is never answered.
    Notification,
}

/// Which side sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodDirection {
    /// Clients only.
    FromClient,
    /// Servers only.
    FromServer,
    /// Either side.
    Both,
}

/// What the specification says about one method.
///
/// What may differ between revisions is asked for through the methods of [`Method`], such as
/// [`is_from_client`](Method::is_from_client), and never read from the columns.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The method.
    pub method: Method,
    /// Its name on the wire.
    pub name: &'static str,
    /// Request or notification.
    pub kind: MessageKind,
    /// Which side sends it up to 2025-11-25.
    pub direction: MethodDirection,
    /// The first revision that has it.
    since: Revision,
    /// The last revision that has it.
    until: Revision,
    /// Which side sends it since 2026-07-28, if that differs.
    modern_direction: Option<MethodDirection>,
    /// Since 2026-07-28 part of a result, no message of its own.
    embedded: bool,
    /// It may be answered with questions (MRTR-2).
    asks: bool,
    /// Its results carry `ttlMs` and `cacheScope` (CACHE-1).
    cacheable: bool,
    streams: bool,
    /// Running it twice differs from running it once.
    acts: bool,
    extension: bool,
    named_by: Option<&'static str>,
}

/// Every method, in the order of [`Method`]. To add a method, add a variant and a row at the same
/// place; a test compares the two orders.
pub static METHODS: &[Row] = &[
    row(Method::Initialize, "initialize", Request, FromClient).until(V2025_11_25),
    row(Method::Ping, "ping", Request, Both).until(V2025_11_25),
    row(Method::ServerDiscover, "server/discover", Request, FromClient)
        .since(V2026_07_28)
        .cacheable(),
    row(Method::ToolsList, "tools/list", Request, FromClient).cacheable(),
    row(Method::ToolsCall, "tools/call", Request, FromClient).acts().may_ask().named_by("name"),
    row(Method::ResourcesList, "resources/list", Request, FromClient).cacheable(),
    row(Method::ResourcesTemplatesList, "resources/templates/list", Request, FromClient)
        .cacheable(),
    row(Method::ResourcesRead, "resources/read", Request, FromClient)
        .may_ask()
        .cacheable()
        .named_by("uri"),
    row(Method::ResourcesSubscribe, "resources/subscribe", Request, FromClient).until(V2025_11_25),
    row(Method::ResourcesUnsubscribe, "resources/unsubscribe", Request, FromClient)
        .until(V2025_11_25),
    row(Method::PromptsList, "prompts/list", Request, FromClient).cacheable(),
    row(Method::PromptsGet, "prompts/get", Request, FromClient).may_ask().named_by("name"),
    row(Method::CompletionComplete, "completion/complete", Request, FromClient),
    row(Method::LoggingSetLevel, "logging/setLevel", Request, FromClient).until(V2025_11_25),
    row(Method::SubscriptionsListen, "subscriptions/listen", Request, FromClient)
        .since(V2026_07_28)
        .streams(),
    row(Method::SamplingCreateMessage, "sampling/createMessage", Request, FromServer)
        .acts()
        .embeds(),
    row(Method::RootsList, "roots/list", Request, FromServer).embeds(),
    row(Method::ElicitationCreate, "elicitation/create", Request, FromServer)
        .acts()
        .since(V2025_06_18)
        .embeds(),
    row(Method::TasksGet, "tasks/get", Request, Both)
        .since(V2025_11_25)
        .extends(FromClient)
        .named_by("taskId"),
    row(Method::TasksResult, "tasks/result", Request, Both).since(V2025_11_25).until(V2025_11_25),
    row(Method::TasksList, "tasks/list", Request, Both).since(V2025_11_25).until(V2025_11_25),
    row(Method::TasksCancel, "tasks/cancel", Request, Both)
        .since(V2025_11_25)
        .extends(FromClient)
        .named_by("taskId"),
    row(Method::TasksUpdate, "tasks/update", Request, FromClient)
        .acts()
        .since(V2026_07_28)
        .extends(FromClient)
        .named_by("taskId"),
    row(Method::Initialized, "notifications/initialized", Notification, FromClient)
        .until(V2025_11_25),
    row(Method::Cancelled, "notifications/cancelled", Notification, Both),
    row(Method::Progress, "notifications/progress", Notification, Both).becomes(FromServer),
    row(Method::Message, "notifications/message", Notification, FromServer),
    row(
        Method::ResourcesListChanged,
        "notifications/resources/list_changed",
        Notification,
        FromServer,
    ),
    row(Method::ResourcesUpdated, "notifications/resources/updated", Notification, FromServer),
    row(Method::ToolsListChanged, "notifications/tools/list_changed", Notification, FromServer),
    row(Method::PromptsListChanged, "notifications/prompts/list_changed", Notification, FromServer),
    row(Method::RootsListChanged, "notifications/roots/list_changed", Notification, FromClient)
        .until(V2025_11_25),
    row(Method::TasksStatus, "notifications/tasks/status", Notification, Both)
        .since(V2025_11_25)
        .until(V2025_11_25),
    row(
        Method::ElicitationComplete,
        "notifications/elicitation/complete",
        Notification,
        FromServer,
    )
    .since(V2025_11_25)
    .until(V2025_11_25),
    row(
        Method::SubscriptionsAcknowledged,
        "notifications/subscriptions/acknowledged",
        Notification,
        FromServer,
    )
    .since(V2026_07_28),
    row(Method::Tasks, "notifications/tasks", Notification, FromServer)
        .since(V2026_07_28)
        .extends(FromServer),
];

impl Method {
    /// Finds a method by its name on the wire, in any revision. Whether it exists in a certain
    /// revision is another question ([`is_from_client`](Self::is_from_client)). A name that the
    /// program has not registered is never added to the table.
    pub fn named(name: &str) -> Option<Self> {
        let known = METHODS.iter().find(|row| row.name == name).map(|row| row.method);
        known.or_else(|| CustomMethod::named(name))
    }

    /// The row of this method in [`METHODS`], or the one that was made when it was registered.
    pub fn row(self) -> &'static Row {
        match self.position() {
            // The table has the order of the variants; a test checks that.
            Ok(position) => METHODS.get(position).unwrap_or(&METHODS[0]),
            Err(custom) => custom.row(),
        }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether clients send this method as a message in this revision.
    pub fn is_from_client(self, revision: Revision) -> bool {
        self.row().is_sent_by(FromClient, revision)
    }

    /// Whether servers send this method as a message in this revision.
    pub fn is_from_server(self, revision: Revision) -> bool {
        self.row().is_sent_by(FromServer, revision)
    }

    /// Whether the server may ask the client for input before it answers this request.
    pub fn may_ask(self) -> bool {
        self.row().asks
    }

    /// Whether results of this request carry caching hints (since 2026-07-28).
    pub fn is_cacheable(self) -> bool {
        self.row().cacheable
    }

    /// Whether the request stays open and carries notifications until one side ends it.
    pub fn streams(self) -> bool {
        self.row().streams
    }

    /// Whether a second run of this request has no further effect. A client may then send it again
    /// when it does not know whether the first one arrived.
    pub fn is_idempotent(self) -> bool {
        !self.row().acts
    }

    /// Whether the method belongs to an extension in this revision. It then exists only if both
    /// sides declared that extension.
    pub fn is_extension(self, revision: Revision) -> bool {
        let row = self.row();
        row.extension && (revision.has_extensions() || matches!(row.method, Self::Custom(_)))
    }

    /// The member of `params` that names the tool, resource, prompt or task. HTTP clients repeat
    /// its value in the header `Mcp-Name`.
    pub fn named_by(self) -> Option<&'static str> {
        self.row().named_by
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Row {
    /// Whether the method exists in this revision, as a message or inside `inputRequests`.
    pub fn exists_in(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }

    /// Whether the method stands inside `inputRequests` in this revision and is not a message.
    pub fn is_embedded_in(&self, revision: Revision) -> bool {
        self.embedded && revision.has_input_requests()
    }

    /// The one place where a row and a revision meet.
    fn is_sent_by(&self, side: MethodDirection, revision: Revision) -> bool {
        let direction = match self.modern_direction {
            Some(direction) if !revision.has_server_requests() => direction,
            _ => self.direction,
        };
        let sends = direction == side || direction == Both;
        sends && self.exists_in(revision) && !self.is_embedded_in(revision)
    }

    const fn since(mut self, revision: Revision) -> Self {
        self.since = revision;
        self
    }

    const fn until(mut self, revision: Revision) -> Self {
        self.until = revision;
        self
    }

    /// Since 2026-07-28 the method is in `inputRequests` of a result, and a retried request
    /// answers it.
    const fn embeds(mut self) -> Self {
        self.embedded = true;
        self
    }

    /// Since 2026-07-28 only one side sends it.
    const fn becomes(mut self, direction: MethodDirection) -> Self {
        self.modern_direction = Some(direction);
        self
    }

    /// Since 2026-07-28 the method belongs to an extension and only one side sends it.
    const fn extends(mut self, direction: MethodDirection) -> Self {
        self.extension = true;
        self.becomes(direction)
    }

    const fn may_ask(mut self) -> Self {
        self.asks = true;
        self
    }

    const fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    const fn streams(mut self) -> Self {
        self.streams = true;
        self
    }

    /// A second run has effects of its own: the method calls a tool, or asks a user or a model.
    const fn acts(mut self) -> Self {
        self.acts = true;
        self
    }

    const fn named_by(mut self, member: &'static str) -> Self {
        self.named_by = Some(member);
        self
    }
}

const fn row(
    method: Method,
    name: &'static str,
    kind: MessageKind,
    direction: MethodDirection,
) -> Row {
    Row {
        method,
        name,
        kind,
        direction,
        since: Revision::ALL[0],
        until: Revision::LATEST,
        modern_direction: None,
        embedded: false,
        asks: false,
        cacheable: false,
        streams: false,
        acts: false,
        extension: false,
        named_by: None,
    }
}

#[cfg(test)]
mod tests;
