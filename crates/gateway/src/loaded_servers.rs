//! All servers of one configuration file behind one service.

use std::collections::BTreeMap;
use std::sync::Arc;

use bowline_proto::upstream::Upstream;
use bowline_server::{Server, Service};
use bowline_types::namespace::Namespace;

use crate::asking::Asking;
use crate::config::{ConfigError, ConfigFile, Launch, ServerEntry};
use crate::health::{Health, HealthMonitor};
use crate::lanes::Lanes;
use crate::layered::Layered;
use crate::limits::GatewayLimits;
use crate::memory::AskingServers;
use crate::options::GatewayOptions;
use crate::park::{Parking, ParkingLot};
use crate::permitted::{Permitted, Settings};
use crate::question_prefix::QuestionPrefix;
use crate::resource_owners::ResourceOwners;
use crate::rules::{RuleFindings, ToolFilter};

/// The servers of one configuration file.
#[derive(Debug)]
pub(crate) struct LoadedServers {
    pub(crate) service: Service,
    pub(crate) members: Vec<Member>,
    /// What is wrong with entries that were left out.
    pub(crate) notes: Vec<ConfigError>,
}

/// One server of the file.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) permitted: Permitted,
    pub(crate) lanes: Lanes,
    pub(crate) health: Health,
    namespace: Namespace,
}

impl Member {
    pub(crate) fn name(&self) -> &str {
        &self.permitted.entry.name
    }
}

impl LoadedServers {
    /// Takes the servers of `old` over whose entries say the same as before. `judge` says what to start
    /// for an entry, or why it is left out.
    ///
    /// # Errors
    ///
    /// If an entry is wrong, or two entries have one namespace.
    pub(crate) fn new(
        file: &ConfigFile,
        (options, lot): (&GatewayOptions, &Arc<ParkingLot>),
        old: &[Member],
        judge: &dyn Fn(&ServerEntry) -> Result<Launch, ConfigError>,
    ) -> Result<Self, ConfigError> {
        if let Some(fault) = file.faults.first() {
            return Err(fault.clone());
        }
        let mut limits = options.limits.clone();
        if let Some(minutes) = file.gateway.idle_minutes {
            limits.idle = std::time::Duration::from_secs(minutes.saturating_mul(60));
        }
        if let Some(patience) = file.gateway.list {
            limits = limits.with_patience(patience);
        }
        if let Some(start) = file.gateway.start {
            limits.start = start;
        }
        if let Some(bytes) = file.gateway.max_message() {
            limits = limits.with_message(bytes);
        }
        if let Some(baggage) = file.gateway.baggage {
            limits.baggage = baggage;
        }
        let settings = Settings::of(file, &limits);
        let (mut members, mut notes) = (Vec::new(), Vec::new());
        for entry in file.entries.iter().filter(|entry| !entry.disabled) {
            let namespace = namespace(entry)?;
            match judge(entry) {
                Ok(launch) => {
                    let (lanes, health) = lanes(entry, &launch, (&limits, options), old);
                    let permitted = Permitted { entry: entry.clone(), launch, settings };
                    members.push(Member { permitted, lanes, health, namespace });
                }
                Err(note) => notes.push(note),
            }
        }
        check_collisions(&members)?;
        let is_alone = members.len() == 1;
        members.iter().for_each(|member| member.lanes.set_alone(is_alone));
        let service = mount(file, &members, (&limits, options), lot)?;
        Ok(Self { service, members, notes })
    }

    /// The server with the name of this one, if it is started in the same way.
    pub(crate) fn successor(&self, member: &Member) -> Option<&Lanes> {
        let (name, launch) = (member.name(), &member.permitted.launch);
        let is_it = |it: &&Member| it.name() == name && it.permitted.launch == *launch;
        self.members.iter().find(is_it).map(|it| &it.lanes)
    }
}

/// The connections of an old load if its entry says the same, else new ones, which take over what
/// sessions follow.
fn lanes(
    entry: &ServerEntry,
    launch: &Launch,
    (limits, options): (&GatewayLimits, &GatewayOptions),
    old: &[Member],
) -> (Lanes, Health) {
    let is_same = |member: &&Member| {
        let other = &member.permitted.entry;
        member.permitted.launch == *launch
            && member.lanes.has_limits(limits)
            && other.name == entry.name
            && other.share == entry.share
            && other.isolate == entry.isolate
            && other.asks == entry.asks
    };
    if let Some(member) = old.iter().find(is_same) {
        return (member.lanes.clone(), member.health.clone());
    }
    let dial = (options.dialer)(entry, launch.clone());
    let health = Health::new(&entry.name, options.health.clone());
    let mut lanes = Lanes::of_entry(entry, dial, limits.clone()).watched_by(health.clone());
    if options.has_one_caller {
        lanes = lanes.for_one_caller();
    }
    if let Some(memory) = &options.memory {
        lanes = lanes.asking(remembered(entry, memory));
    }
    if let Some(changed) = old.iter().find(|other| other.name() == entry.name) {
        lanes = lanes.taking_over(&changed.lanes);
    }
    (lanes, health)
}

/// What is known about the questions of a server. What its entry states counts more.
fn remembered(entry: &ServerEntry, memory: &Arc<AskingServers>) -> Asking {
    let asks = entry.asks.unwrap_or_else(|| memory.knows(entry));
    let (memory, entry) = (memory.clone(), entry.clone());
    Asking::new(asks, Some(Box::new(move || memory.remember(&entry))))
}

fn mount(
    file: &ConfigFile,
    members: &[Member],
    (limits, options): (&GatewayLimits, &GatewayOptions),
    lot: &Arc<ParkingLot>,
) -> Result<Service, ConfigError> {
    let name = file.gateway.name.as_deref().unwrap_or("bowline");
    let mut server = Server::new(name, env!("CARGO_PKG_VERSION")).limits(limits.server());
    let entries = members.iter().map(|member| member.permitted.entry.clone()).collect();
    let owners = Arc::new(ResourceOwners::new(entries, options.reporter.clone()));
    for (number, member) in members.iter().enumerate() {
        let (lanes, owners) = (member.lanes.clone(), (owners.clone(), number));
        let upstream = wrapped(lanes, member, (limits, options), (lot, owners));
        server = server.mount(member.namespace.as_str(), upstream);
    }
    server.build().map_err(|error| ConfigError::new(&file.path, "", error.to_string()))
}

/// A server under the rules of its entry, whose questions have its name and may wait, and whose health
/// is noted.
fn wrapped<U: Upstream>(
    upstream: U,
    member: &Member,
    (limits, options): (&GatewayLimits, &GatewayOptions),
    (lot, owners): (&Arc<ParkingLot>, (Arc<ResourceOwners>, usize)),
) -> impl Upstream + use<U> {
    let Permitted { entry, settings, .. } = &member.permitted;
    let speaks = entry.instructions && settings.instructions;
    let instructions = if speaks { limits.instructions } else { 0 };
    let findings = RuleFindings::new(entry, options.reporter.clone());
    let name = member.name();
    let prefixed = Layered::new(QuestionPrefix::new(name), upstream);
    let parking = Parking::new(prefixed, name, lot.clone());
    let filter = ToolFilter::new(member.namespace.clone(), instructions, findings);
    let monitor = HealthMonitor::new((member.lanes.clone(), member.health.clone()), owners);
    Layered::new(monitor, Layered::new(filter, parking))
}

/// Two servers in one namespace could take each other's calls.
fn check_collisions(members: &[Member]) -> Result<(), ConfigError> {
    let mut seen: BTreeMap<&Namespace, &ServerEntry> = BTreeMap::new();
    for member in members {
        let entry = &member.permitted.entry;
        if let Some(other) = seen.insert(&member.namespace, entry) {
            let problem = format!(
                "the prefix `{}` of its names is also that of `{}`",
                member.namespace, other.name
            );
            let fault = ConfigError::new(&entry.file, entry.at.as_str(), problem);
            return Err(fault.with_advice("give one of them another `namespace`"));
        }
    }
    Ok(())
}

/// The prefix that the entry names, or one made from the name of the server.
fn namespace(entry: &ServerEntry) -> Result<Namespace, ConfigError> {
    let text = entry.namespace.clone().unwrap_or_else(|| plain(&entry.name));
    Namespace::new(text).map_err(|error| {
        let fault = ConfigError::new(&entry.file, entry.at.as_str(), error.to_string());
        fault.with_advice("set `namespace` to letters, digits and dashes")
    })
}

/// A name with the characters that prefixes may have.
fn plain(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut text: String = name.chars().map(fit).collect();
    while text.contains("__") {
        text = text.replace("__", "_");
    }
    text.truncate(32);
    text.trim_matches(['_', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigVariables, Dialect};

    #[test]
    fn a_server_that_needs_authorization_needs_it_behind_the_rules_of_its_entry_too() {
        let text = r#"{ "mcpServers": { "far": { "command": "x", "tools": { "hide": ["a"] } } } }"#;
        let member = &load(text).unwrap().members[0];
        let whoami = |caller: bowline_server::Claims| async move { caller.subject };
        let server = Server::new("far", "1.0.0").tool(bowline_server::Tool::new("whoami", whoami));
        let lot = ParkingLot::new(Default::default()).unwrap();
        let options = GatewayOptions::new(ConfigVariables::none());
        let owners = (Arc::new(ResourceOwners::new(Vec::new(), options.reporter.clone())), 0);
        let context = (&options.limits, &options);
        let wrapped = wrapped(server.build().unwrap(), member, context, (&lot, owners));
        let why = wrapped.needs_authorization().unwrap();
        assert!(why.contains("tool `whoami` takes `Claims`"), "{why}");
    }

    fn load(text: &str) -> Result<LoadedServers, String> {
        let file = ConfigFile::parse(text, "c.json", Dialect::Bowline).unwrap();
        let lot = ParkingLot::new(Default::default()).unwrap();
        let options = GatewayOptions::new(ConfigVariables::none());
        let resolve = |entry: &ServerEntry| entry.resolve(&options.variables);
        LoadedServers::new(&file, (&options, &lot), &[], &resolve)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn namespaces_are_made_from_names() {
        for (name, expected) in [
            ("git", "git"),
            ("Sequential Thinking", "Sequential-Thinking"),
            ("@scope/server__x", "scope-server_x"),
            ("_a_", "a"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn servers_with_one_namespace_are_refused() {
        let text = r#"{ "mcpServers": { "a b": { "command": "x" }, "a-b": { "command": "y" } } }"#;
        let expected = "c.json: $.mcpServers.a-b: the prefix `a-b` of its names is also that of \
                        `a b`; give one of them another `namespace`";
        assert_eq!(load(text).unwrap_err(), expected);
        let text = r#"{ "mcpServers": { "é": { "command": "x" } } }"#;
        assert!(load(text).unwrap_err().contains("set `namespace`"));
    }

    #[test]
    fn an_entry_without_its_variables_is_left_out_with_a_note() {
        let text = r#"{ "mcpServers": {
            "a": { "command": "x", "env": { "K": "${NOT_SET}" } },
            "b": { "command": "y" }, "c": { "command": "z", "disabled": true } } }"#;
        let loaded = load(text).unwrap();
        assert_eq!(loaded.members.len(), 1);
        assert!(loaded.notes[0].to_string().contains("`NOT_SET` has no value"));
    }
}
