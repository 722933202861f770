//! The gateway: all servers of a configuration file as one upstream, which can be loaded anew.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::task::{Context, Poll};
use std::time::SystemTime;

use bowline_proto::request::{Outgoing, ReportedChange, Request, Response};
use bowline_proto::sync::{lock, read, write};
use bowline_proto::upstream::Upstream;
use bowline_types::capability::ServerCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};
use futures_core::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tower_service::Service;

use crate::acknowledge::Acknowledgement;
use crate::config::{ConfigError, ConfigFile, ConfigVariables, ServerEntry};
use crate::lanes::Lanes;
use crate::limits::GatewayLimits;
use crate::loaded_servers::{LoadedServers, Member};
use crate::options::GatewayOptions;
use crate::park::ParkingLot;
use crate::permitted::{Judgement, Permitted, Settings, not_admitted};

/// Many servers as one upstream. Cheap to clone.
///
/// ```no_run
/// use bowline_gateway::config::{ConfigFile, ConfigVariables, Dialect};
/// use bowline_gateway::{Gateway, GatewayLimits, bridge};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let file = ConfigFile::read("bowline.json", Dialect::Bowline)?;
/// let variables = ConfigVariables::of_process();
/// let gateway = Gateway::new(&file, variables, GatewayLimits::default())?;
/// let server = bridge(gateway.clone(), None);
/// gateway.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    options: GatewayOptions,
    /// What the first load may start: the user named its file.
    named: Vec<Permitted>,
    lot: Arc<ParkingLot>,
    loaded: RwLock<Arc<LoadedServers>>,
    /// Held while a file is loaded, so that two loads do not start a server twice.
    loading: Mutex<()>,
    /// How often the servers were replaced.
    loads: watch::Sender<u64>,
    /// Servers of earlier loads that may run still.
    retired: Mutex<Vec<Lanes>>,
}

/// What a new load of the configuration did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Servers that are new, or whose entries changed.
    pub started: Vec<String>,
    /// Servers that are gone, or whose entries changed.
    pub stopped: Vec<String>,
    /// Entries that were left out, because a variable has no value, or because they were not admitted.
    pub notes: Vec<ConfigError>,
}

impl Gateway {
    /// A gateway to the servers of a file. Starts none of them.
    ///
    /// # Errors
    ///
    /// If an entry of the file is wrong, or two have one namespace.
    pub fn new(
        file: &ConfigFile,
        variables: ConfigVariables,
        limits: GatewayLimits,
    ) -> Result<Self, ConfigError> {
        Self::with_options(file, GatewayOptions::new(variables).limits(limits))
    }

    /// The same with more options.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(file: &ConfigFile, options: GatewayOptions) -> Result<Self, ConfigError> {
        let lot = match options.state_keys.clone() {
            Some(keys) => ParkingLot::with_keys(keys, options.limits.park.clone()),
            None => ParkingLot::new(options.limits.park.clone()),
        };
        let lot = lot.map_err(|error| ConfigError::new(&file.path, "", error.to_string()))?;
        let resolve = |entry: &ServerEntry| entry.resolve(&options.variables);
        let loaded = LoadedServers::new(file, (&options, &lot), &[], &resolve)?;
        Ok(Self(Arc::new(Inner {
            options,
            named: loaded.members.iter().map(|member| member.permitted.clone()).collect(),
            lot,
            loaded: RwLock::new(Arc::new(loaded)),
            loading: Mutex::default(),
            loads: watch::Sender::new(0),
            retired: Mutex::default(),
        })))
    }

    /// Replaces the servers by those of a file. Servers whose entries are the same go on running.
    ///
    /// An entry that would run another command, call another URL or expose more than the one of its name
    /// that is in use, or else than that of the start, is left out, with a note: a change of the file may
    /// come from a stranger, as with `git checkout`. [`reload_admitting`](Self::reload_admitting) uses
    /// such entries too.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new). The servers stay as they were then.
    pub fn reload(&self, file: &ConfigFile) -> Result<Reloaded, ConfigError> {
        self.reload_admitting(file, |_| false)
    }

    /// The enabled entries of a file that [`reload`](Self::reload) leaves out, so that a program can
    /// ask its user.
    pub fn newcomers(&self, file: &ConfigFile) -> Vec<ServerEntry> {
        let (loaded, settings) = (self.loaded(), self.settings(file));
        let is_new = |entry: &&ServerEntry| {
            !entry.disabled && matches!(self.judge((entry, settings), &loaded), Judgement::New(_))
        };
        file.entries.iter().filter(is_new).cloned().collect()
    }

    /// The keys of an entry, and those of the section `gateway`, whose values expose more than those in
    /// use. Empty if the entry is new or runs another command.
    pub fn loosened(&self, file: &ConfigFile, entry: &ServerEntry) -> Vec<&'static str> {
        let loaded = self.loaded();
        let known = self.known(entry, &loaded).filter(|known| known.entry.start == entry.start);
        known.map(|known| known.loosened(entry, self.settings(file))).unwrap_or_default()
    }

    /// The same as [`reload`](Self::reload), with those [`newcomers`](Self::newcomers) that the
    /// function admits.
    ///
    /// # Errors
    ///
    /// As [`reload`](Self::reload).
    pub fn reload_admitting(
        &self,
        file: &ConfigFile,
        admits: impl Fn(&ServerEntry) -> bool,
    ) -> Result<Reloaded, ConfigError> {
        let _loading = lock(&self.0.loading);
        let old = self.loaded();
        let Inner { options, lot, .. } = &*self.0;
        let settings = self.settings(file);
        // What is judged is what is started: files of variables may change in between.
        let judge = |entry: &ServerEntry| match self.judge((entry, settings), &old) {
            Judgement::Permitted(launch) => Ok(launch),
            Judgement::Unresolved(note) => Err(note),
            Judgement::New(_) if !admits(entry) => {
                Err(not_admitted(entry, &self.loosened(file, entry)))
            }
            Judgement::New(Some(launch)) => Ok(launch),
            Judgement::New(None) => entry.resolve(&options.variables),
        };
        let loaded = LoadedServers::new(file, (options, lot), &old.members, &judge)?;
        let is_in = |loaded: &LoadedServers, lanes: &Lanes| {
            loaded.members.iter().any(|member| member.lanes.is_same(lanes))
        };
        let mut reloaded = Reloaded { notes: loaded.notes.clone(), ..Reloaded::default() };
        for member in loaded.members.iter().filter(|member| !is_in(&old, &member.lanes)) {
            reloaded.started.push(member.name().to_owned());
        }
        for member in old.members.iter().filter(|member| !is_in(&loaded, &member.lanes)) {
            reloaded.stopped.push(member.name().to_owned());
        }
        let loaded = Arc::new(loaded);
        *write(&self.0.loaded) = loaded.clone();
        self.0.loads.send_modify(|loads| *loads += 1);
        // Only now: calls that come until here go to the earlier servers.
        for member in old.members.iter().filter(|member| !is_in(&loaded, &member.lanes)) {
            self.retire(member, loaded.successor(member));
        }
        Ok(reloaded)
    }

    /// What a reload makes of an entry: it is compared with the one of its name that is in use, or else
    /// with that of the start.
    fn judge(
        &self,
        (entry, settings): (&ServerEntry, Settings),
        loaded: &LoadedServers,
    ) -> Judgement {
        let resolve = || entry.resolve(&self.0.options.variables);
        match self.known(entry, loaded) {
            Some(known) => known.judge((entry, settings), resolve),
            None => Judgement::New(None),
        }
    }

    fn known<'a>(
        &'a self,
        entry: &ServerEntry,
        loaded: &'a LoadedServers,
    ) -> Option<&'a Permitted> {
        let in_use = loaded.members.iter().map(|member| &member.permitted);
        in_use.chain(&self.0.named).find(|known| known.entry.name == entry.name)
    }

    fn settings(&self, file: &ConfigFile) -> Settings {
        Settings::of(file, &self.0.options.limits)
    }

    /// Stops a server of an earlier load. If only settings of the gateway changed, so that the same server
    /// goes on, its running calls end first, and those that wait go to its successor.
    fn retire(&self, member: &Member, successor: Option<&Lanes>) {
        let lanes = member.lanes.clone();
        let mut retired = lock(&self.0.retired);
        retired.retain(|lanes| !lanes.is_over());
        retired.push(lanes.clone());
        drop(retired);
        match successor {
            Some(next) => lanes.retire(next.clone()),
            None => _ = tokio::spawn(async move { lanes.close().await }),
        }
    }

    /// Runs `load` whenever the file changes, and reports each load. Never ends by itself. `seen` is the
    /// state of the file before it was loaded first: a change right after that load counts too.
    ///
    /// The file is looked at once in [`GatewayLimits::reload`], because editors replace files, and a
    /// watcher of the old one would see nothing.
    pub async fn follow(
        &self,
        (path, mut seen): (&Path, FileStamp),
        load: impl AsyncFn(&Path) -> Result<Reloaded, ConfigError>,
        report: impl Fn(Result<Reloaded, ConfigError>),
    ) {
        loop {
            tokio::time::sleep(self.0.options.limits.reload).await;
            let now = FileStamp::of(path);
            if now != seen {
                seen = now;
                report(load(path).await);
            }
        }
    }

    /// The servers that do not work, as far as their last calls tell, each with the cause. For the
    /// operator: causes may hold addresses and output of the servers.
    pub fn failing(&self) -> Vec<(String, String)> {
        let loaded = self.loaded();
        let members = loaded.members.iter();
        members.filter_map(|it| Some((it.name().to_owned(), it.health.cause(&it.lanes)?))).collect()
    }

    /// The servers with their names, in the order of the file.
    pub fn servers(&self) -> Vec<(String, Lanes)> {
        let loaded = self.loaded();
        let members = loaded.members.iter();
        members.map(|member| (member.name().to_owned(), member.lanes.clone())).collect()
    }

    /// Entries of the file that were left out, because a variable has no value.
    pub fn notes(&self) -> Vec<ConfigError> {
        self.loaded().notes.clone()
    }

    /// Stops all servers, and waits until they have ended, as [`Lanes::close`] does.
    pub async fn close(&self) {
        let retired = lock(&self.0.retired).clone();
        let closing = self.servers().into_iter().map(|(_, lanes)| lanes).chain(retired);
        let closing = closing.map(|lanes| tokio::spawn(async move { lanes.close().await }));
        for closed in closing.collect::<Vec<_>>() {
            // Fails if closing panicked, and then nothing more can be done.
            let _ = closed.await;
        }
    }

    fn loaded(&self) -> Arc<LoadedServers> {
        read(&self.0.loaded).clone()
    }

    /// Serves `subscriptions/listen`, over all loads of the configuration. After a load the servers are
    /// listened to anew, before the earlier subscription ends: servers that go on running lose no
    /// change, and the subscriptions of a session are taken over.
    async fn listen(&self, request: Request) -> Response {
        let params: ListenParams =
            request.params.parse_all().map_err(ErrorObject::misread_params)?;
        let acknowledgement = Acknowledgement::default();
        let mut loads = self.0.loads.subscribe();
        loads.mark_unchanged();
        let (mut current, _) = self.listen_once(&request, &acknowledgement);
        loop {
            tokio::select! {
                response = &mut current => return response,
                // Fails only if the gateway is gone, which this holds.
                _ = loads.changed() => {}
            }
            loads.mark_unchanged();
            let (mut next, begun) = self.listen_once(&request, &acknowledgement);
            report_lists(&request, &params.notifications).await;
            let mut is_over = false;
            let ended = loop {
                tokio::select! {
                    response = &mut next => break Some(response),
                    () = begun.notified() => break None,
                    _ = &mut current, if !is_over => is_over = true,
                }
            };
            if let Some(response) = ended {
                return response;
            }
            current = next;
        }
    }

    /// Listens to the servers that there are now. Also returns what is notified when all of them are
    /// listened to.
    fn listen_once(
        &self,
        request: &Request,
        acknowledgement: &Acknowledgement,
    ) -> (BoxFuture<'static, Response>, Arc<Notify>) {
        let begun = Arc::new(Notify::new());
        let begins = begun.clone();
        let mut once = request.clone();
        let (outbox, exchange) = (&request.parts.outbox, request.parts.exchange);
        once.parts.outbox = acknowledgement.once(outbox, exchange, move || begins.notify_one());
        let mut service = self.loaded().service.clone();
        let listening = async move {
            let Ok(response) = service.call(once).await;
            response
        };
        (Box::pin(listening), begun)
    }
}

/// Reports that all lists may have changed.
async fn report_lists(request: &Request, wished: &SubscriptionFilter) {
    for change in [ReportedChange::Tools, ReportedChange::Prompts, ReportedChange::Resources] {
        if change.is_wanted_by(wished) {
            // Fails if the caller is gone; then this call is dropped.
            let _ = request.parts.outbox.send(Outgoing::Change(change)).await;
        }
    }
}

/// The state of a file: its time, and its length for changes within one tick of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp(Option<(SystemTime, u64)>);

impl FileStamp {
    /// The state that the file has now. Take it before the file is read.
    pub fn of(path: &Path) -> Self {
        let stamp = |metadata: std::fs::Metadata| Some((metadata.modified().ok()?, metadata.len()));
        Self(std::fs::metadata(path).ok().and_then(stamp))
    }
}

impl Service<Request> for Gateway {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if request.parts.method == Method::SubscriptionsListen {
            let gateway = self.clone();
            return Box::pin(async move { Ok(gateway.listen(request).await) });
        }
        let mut service = self.loaded().service.clone();
        Box::pin(async move { service.call(request).await })
    }
}

impl Upstream for Gateway {
    fn capabilities(&self) -> ServerCapabilities {
        Upstream::capabilities(&self.loaded().service)
    }

    fn instructions(&self) -> Option<String> {
        Upstream::instructions(&self.loaded().service)
    }

    fn needs_authorization(&self) -> Option<String> {
        Upstream::needs_authorization(&self.loaded().service)
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.servers().into_iter().map(|(name, _)| name).collect();
        f.debug_tuple("Gateway").field(&names).finish()
    }
}

#[cfg(test)]
mod tests;
