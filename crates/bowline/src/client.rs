//! Clients: the types that a [`Client`] takes and returns.
//!
//! A [`ClientBuilder`] configures the connection and the handlers of the server's questions. The methods
//! of [`Client`] return a [`List`], a [`ClientCall`] or a [`SubscriptionBuilder`]: configure it, then
//! await it.

#[cfg(all(feature = "client", feature = "skills"))]
#[doc(inline)]
pub use bowline_client::LoadedSkill;
#[doc(inline)]
pub use bowline_client::connect::{Connect, Connector};
#[doc(inline)]
pub use bowline_client::{
    Answer, CacheOptions, Change, Changes, Client, ClientBuilder, ClientCall, ClientExtension,
    ClientLayer, Command, CompletionBuilder, ConnectFailure, Consent, Contents, Error, FromMember,
    Group, InvalidMember, List, Listing, Question, Relay, RelayFailure, Restart, Result, Review,
    SamplingAnswer, SamplingRequest, ServerExtension, SubscriptionBuilder, Suspicion, TaskHandle,
    TaskState, ToolCall, ToolCallOutcome, ToolCallRecord, ToolOutcome, View, WebPage,
};
#[cfg(feature = "http-client")]
#[doc(inline)]
pub use bowline_client::{
    ClientAuthorization, HttpClientLimits, HttpServer, HttpTransport, ProtectedServer,
};
