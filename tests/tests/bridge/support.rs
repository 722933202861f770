//! A server, a relay in front of it, and a client of the relay.

use std::sync::{Arc, Mutex};

use bowline::client::{ClientBuilder, Relay};
use bowline::{Client, Limits, Server};
use bowline_gateway::park::{ParkLimits, Parking, ParkingLot};
use bowline_http::server::{Endpoint, HttpConfig};
use bowline_proto::server::ServerConfig;
use bowline_proto::upstream::Upstream;
use bowline_testing::harness::connect_in_memory;
use bowline_transport::duplex::duplex;
use bowline_types::capability::ClientCapabilities;
use bowline_types::ext::apps::{self, UiSettings};
use bowline_types::implementation::Implementation;
use bowline_types::json::Object;
use bowline_types::revision::Revision;

pub(crate) const L: Revision = Revision::LATEST_LEGACY;
pub(crate) const M: Revision = Revision::LATEST;

/// One way through the bridge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) caller: Revision,
    pub(crate) upstream: Revision,
    /// Whether the caller reaches the relay over HTTP, and the relay the server.
    pub(crate) http: (bool, bool),
}

/// Every pair of eras: that of the caller, and that of the server.
pub(crate) const ALL: [(Revision, Revision); 4] = [(L, L), (L, M), (M, L), (M, M)];

/// Every way from one revision to the other.
pub(crate) fn cells(pairs: &[(Revision, Revision)]) -> impl Iterator<Item = Cell> {
    let transports = [(false, false), (true, false), (false, true), (true, true)];
    let cell = |(caller, upstream), http| Cell { caller, upstream, http };
    pairs.iter().flat_map(move |pair| transports.map(|http| cell(*pair, http)))
}

/// What a relay can pass on.
pub(crate) fn everything() -> ClientCapabilities {
    ClientCapabilities::new()
        .with_form_elicitation()
        .with_url_elicitation()
        .with_sampling_tools()
        .with_roots_list_changed()
        .with_extension(apps::IDENTIFIER, Object::of(&UiSettings::new()).unwrap())
        .unwrap()
}

impl Cell {
    /// A relay of a client of this server.
    pub(crate) async fn relay(self, server: &Server) -> Relay {
        self.relay_declaring(server, everything()).await
    }

    /// The same with a client that declares these capabilities.
    pub(crate) async fn relay_declaring(
        self,
        server: &Server,
        declared: ClientCapabilities,
    ) -> Relay {
        let mut limits = Limits::default();
        // For all callers together.
        limits.questions_per_minute = 10_000;
        let builder =
            Client::builder("bridge", "1.0.0").tasks().passing_on(declared).limits(limits);
        let builder = builder.revisions([self.upstream]);
        let client = match self.http.1 {
            false => {
                let (near, far) = duplex();
                tokio::spawn(server.clone().serve(far));
                builder.connect(near).await
            }
            true => {
                let endpoint = server.clone().http().build().unwrap();
                builder.connect(connect_in_memory(endpoint, self.upstream)).await
            }
        };
        client.unwrap().relay()
    }

    /// A client of an upstream.
    pub(crate) async fn caller(
        self,
        upstream: impl Upstream,
        describe: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Client {
        let builder = describe(Client::builder("caller", "1.0.0")).revisions([self.caller]);
        let config = Arc::new(ServerConfig::new(Implementation::new("bridge", "1.0.0")));
        let client = match self.http.0 {
            false => {
                let (near, far) = duplex();
                tokio::spawn(async move {
                    bowline_transport::serve::serve(far, upstream, config, std::future::pending())
                        .await
                });
                builder.connect(near).await
            }
            true => {
                let endpoint = Endpoint::new(upstream, config, HttpConfig::new());
                builder.connect(connect_in_memory(endpoint, self.caller)).await
            }
        };
        client.unwrap()
    }

    /// A client of a server, without a relay between.
    pub(crate) async fn client(
        self,
        server: &Server,
        describe: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Client {
        let builder = describe(Client::builder("caller", "1.0.0")).revisions([self.caller]);
        let client = match self.http.0 {
            false => {
                let (near, far) = duplex();
                tokio::spawn(server.clone().serve(far));
                builder.connect(near).await
            }
            true => {
                let endpoint = server.http().build().unwrap();
                builder.connect(connect_in_memory(endpoint, self.caller)).await
            }
        };
        client.unwrap()
    }

    /// A client of a relay of a client of a server.
    pub(crate) async fn through(
        self,
        server: &Server,
        describe: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Client {
        let relay = self.relay(server).await;
        self.caller(parked(relay), describe).await
    }
}

/// A relay whose calls are parked while callers without a session answer.
pub(crate) fn parked(relay: Relay) -> Parking<Relay> {
    Parking::new(relay, "far", ParkingLot::new(ParkLimits::default()).unwrap())
}

/// A list that a test and its hooks share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
