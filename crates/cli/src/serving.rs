//! What the commands that serve have in common: the bridge to one server, and where to serve.

use std::net::ToSocketAddrs as _;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bowline::client::{ClientBuilder, ClientLayer};
use bowline::http::Http;
use bowline::{Client, Server, StateKeys};
use bowline_gateway::park::{ParkLimits, Parking, ParkingLot};
use bowline_gateway::{
    Dial, DialError, GatewayLimits, Lanes, ServerDescription, layered_client_builder,
};
use bowline_types::capability::ClientCapabilities;
use bowline_types::implementation::Implementation;
use bowline_types::text::with_causes;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::interrupt::{StopSignal, stopped, until_second_signal};
use crate::observe::Observation;
use crate::open_files;
use crate::print::{self, json, line, text};
use crate::request::within;
use crate::target::Target;

/// Where `serve` and `gateway` serve over HTTP unless the user names another address.
pub(crate) const ADDRESS: &str = "127.0.0.1:8809";

/// How long a server may be silent before the user reads that it is.
const SILENCE: Duration = Duration::from_secs(3);

/// The options of commands that serve over HTTP.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Accepts requests for this host name besides `localhost`; can be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Accepts requests from web pages of this origin; can be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Serves on an address that other machines reach, without any authorization
    #[arg(long)]
    allow_network: bool,
    /// Prints the URL as JSON once it serves
    #[arg(long)]
    json: bool,
}

impl HttpArgs {
    /// Serves over HTTP until the process is interrupted or terminated.
    ///
    /// # Errors
    ///
    /// If the address cannot be used.
    pub(crate) async fn serve(
        &self,
        mut http: Http,
        address: &str,
        observation: &Observation,
    ) -> Result<(), Failure> {
        for host in &self.hosts {
            http = http.host(host);
        }
        for origin in &self.origins {
            http = http.origin(origin);
        }
        if self.allow_network {
            http = http.allow_unauthenticated_network();
        }
        open_files::raise_limit();
        let unusable = |error: &(dyn std::error::Error + 'static)| {
            let text = text!("cannot serve at {address}: {}", with_causes(error));
            Failure::new(Exit::Unreachable, text).hint("`--http` names another address")
        };
        if !self.allow_network && is_reachable(address) {
            let text = text!(
                "{address} can be reached from the network, and clients need no authorization"
            );
            return Err(Failure::usage(text).hint(
                "name an address such as `127.0.0.1:8809`; or add `--allow-network` and put a proxy \
                 in front of it that authenticates clients",
            ));
        }
        let bound = http.listen(address).await.map_err(|error| unusable(&error))?;
        let address = bound.address().map_err(|error| unusable(&error))?;
        // Before the announcement, since a supervisor may send a signal as soon as it reads the URL.
        let signal = stopped();
        self.announce(&format!("http://{address}/mcp"), observation.admin_url());
        observation.set_ready(true);
        let endpoint = bound.endpoint().clone();
        observation.endpoint(&endpoint);
        let stopping = async {
            let signal = signal.await;
            observation.set_ready(false);
            if signal == StopSignal::Interrupt {
                // A process with a store serves on for some seconds, unless a user waits for its end.
                endpoint.stop();
            }
        };
        until_second_signal(bound.serve_until(stopping)).await;
        Ok(())
    }

    fn announce(&self, url: &str, admin: Option<&str>) {
        #[derive(Serialize)]
        struct Serving<'u> {
            url: &'u str,
            #[serde(skip_serializing_if = "Option::is_none")]
            admin: Option<&'u str>,
        }
        if self.json {
            return json::print(&Serving { url, admin });
        }
        if let Some(admin) = admin {
            print::note(text!("metrics at {admin}/metrics"));
        }
        print::note(text!("serving {url}; Ctrl-C stops it"));
    }
}

/// Whether other machines reach an address.
fn is_reachable(address: &str) -> bool {
    let resolved = address.to_socket_addrs().ok().and_then(|mut all| all.next());
    resolved.is_some_and(|it| !it.ip().is_loopback())
}

/// Serves one client on standard input and output, until it closes its end.
///
/// # Errors
///
/// If standard input and output cannot be used, or break.
pub(crate) async fn over_stdio(server: &Server) -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::new(Exit::Unreachable, line(error));
    let stdio = bowline_transport::stdio::Stdio::take().map_err(|error| failed(&error))?;
    let stop = async {
        stopped().await;
    };
    until_second_signal(server.serve_until(stdio, stop)).await.map_err(|error| failed(&error))
}

/// The bridge to one server: connected once, so that a server that cannot be reached is reported at
/// once, and with the right exit code.
///
/// # Errors
///
/// If the server cannot be started or reached, or demands authorization.
pub(crate) async fn bridge_to(target: Target, options: BridgeOptions) -> Result<Bridge, Failure> {
    let BridgeOptions { callers, timeout, layer, keys } = options;
    let mut limits = target.message.gateway(GatewayLimits::default());
    limits.start = timeout;
    let declared = Lanes::every_question();
    let dial = TargetDial { target, first: FirstConnection::default(), layer };
    let connecting = dial.target.clone().connect(dial.builder(declared.clone(), &limits));
    // Boxed: what a connection needs until it stands is many times what a command needs.
    let connecting = Box::pin(connecting);
    let (first, _login) = within(timeout, noticed(&dial.target.label, connecting)).await?;
    let met = ServerDescription::of(&first);
    let info = met.info.clone();
    // Callers hear it in errors. The command line and the address are not for them: both can hold
    // secrets.
    let name = info.as_ref().map_or("server", |info| &info.name);
    dial.first.keep(first, declared);
    let first = dial.first.clone();
    tokio::spawn(first.clone().close_after(limits.idle));
    let lanes = Lanes::new(name, Arc::new(dial), limits);
    let lanes = match callers {
        Callers::One => lanes.for_one_caller(),
        Callers::Many => lanes,
    };
    let lot = match keys {
        Some(keys) => ParkingLot::with_keys(keys, ParkLimits::default()),
        None => ParkingLot::new(ParkLimits::default()),
    };
    let lot = lot.map_err(|error| Failure::new(Exit::Unreachable, line(error)))?;
    Ok(Bridge { lanes: lanes.described_by_server().knowing(met), first, info, lot })
}

/// Does the work, and says after some seconds that a server has not answered.
async fn noticed<T>(label: &str, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    if let Ok(outcome) = tokio::time::timeout(SILENCE, work.as_mut()).await {
        return outcome;
    }
    print::note(text!("{label} has not answered yet; Ctrl-C stops the waiting"));
    work.await
}

/// How a server is bridged.
pub(crate) struct BridgeOptions {
    pub(crate) callers: Callers,
    /// How long the server may take to start and to answer first.
    pub(crate) timeout: Duration,
    pub(crate) layer: Option<Arc<dyn ClientLayer>>,
    pub(crate) keys: Option<StateKeys>,
}

/// How many callers a bridge serves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callers {
    One,
    Many,
}

/// A server behind this process.
pub(crate) struct Bridge {
    lanes: Lanes,
    first: FirstConnection,
    info: Option<Implementation>,
    lot: Arc<ParkingLot>,
}

impl Bridge {
    /// What clients connect to.
    pub(crate) fn server(&self) -> Server {
        let parking = Parking::new(self.lanes.clone(), "server", self.lot.clone());
        bowline_gateway::bridge(parking, self.info.clone())
    }

    /// Ends the server behind this process.
    pub(crate) async fn close(&self) {
        self.lanes.close().await;
        self.first.close().await;
    }
}

/// The connection with which a bridge begins, until a call takes it over, with what it declared. As
/// later ones it is closed when it is idle for too long.
#[derive(Clone, Default)]
struct FirstConnection(Arc<Mutex<Option<(Client, ClientCapabilities)>>>);

impl FirstConnection {
    fn keep(&self, client: Client, declared: ClientCapabilities) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((client, declared));
    }

    fn take(&self) -> Option<(Client, ClientCapabilities)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Closes it, unless a call has taken it over.
    async fn close(&self) {
        if let Some((client, _)) = self.take() {
            client.close().await;
        }
    }

    async fn close_after(self, idle: Duration) {
        tokio::time::sleep(idle).await;
        self.close().await;
    }
}

/// Connects to a target; the first time it gives the connection that is there already.
struct TargetDial {
    target: Target,
    first: FirstConnection,
    layer: Option<Arc<dyn ClientLayer>>,
}

impl TargetDial {
    fn builder(&self, declared: ClientCapabilities, limits: &GatewayLimits) -> ClientBuilder {
        layered_client_builder(declared, limits, self.layer.clone())
    }
}

impl Dial for TargetDial {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> Pin<Box<dyn Future<Output = Result<Client, DialError>> + Send>> {
        let first = self.first.take();
        let is_fit = |(client, was): &(Client, ClientCapabilities)| {
            *was == declared || client.revision().has_input_requests()
        };
        let unfit = match first {
            Some(first) if is_fit(&first) => return Box::pin(async move { Ok(first.0) }),
            unfit => unfit,
        };
        let (target, builder) = (self.target.clone(), self.builder(declared, limits));
        Box::pin(async move {
            if let Some((unfit, _)) = unfit {
                unfit.close().await;
            }
            let connected = target.connect(builder).await;
            let (client, _login) = connected.map_err(|failure| failure.to_string())?;
            Ok(client)
        })
    }

    fn is_process(&self) -> bool {
        self.target.launch.is_process()
    }
}

#[cfg(test)]
mod tests;
