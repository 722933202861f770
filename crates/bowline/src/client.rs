//! Clients: what a [`Client`] takes and gives.
//!
//! A [`ClientBuilder`] says whom to connect to and who answers the server's questions. The methods of
//! [`Client`] give a [`List`], a [`ClientCall`] or a [`SubscriptionBuilder`], which are awaited or
//! configured first.

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
