//! Which entries of a file a gateway may use after a reload: those that the user named at the start, and
//! those that the program admitted since. A change of the file may come from a stranger, as with `git
//! checkout`. Stricter rules count at once.

use crate::config::{
    ConfigError, ConfigFile, Isolation, Launch, ServerEntry, Sharing, Start, ToolRules,
};
use crate::limits::GatewayLimits;

/// The settings of a gateway that count for each of its entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) baggage: bool,
    pub(crate) instructions: bool,
}

impl Settings {
    pub(crate) fn of(file: &ConfigFile, limits: &GatewayLimits) -> Self {
        let baggage = file.gateway.baggage.unwrap_or(limits.baggage);
        Self { baggage, instructions: file.gateway.instructions != Some(false) }
    }
}

/// An entry that the gateway may use.
#[derive(Clone, Debug)]
pub(crate) struct Permitted {
    pub(crate) entry: ServerEntry,
    pub(crate) launch: Launch,
    pub(crate) settings: Settings,
}

/// What a reload makes of an entry.
pub(crate) enum Judgement {
    /// It does what it did, or less.
    Permitted(Launch),
    /// It cannot be started.
    Unresolved(ConfigError),
    /// It needs consent. Its file of variables is read before that only if the rest of the entry is
    /// known.
    New(Option<Launch>),
}

impl Permitted {
    /// Compares an entry with this one, which has its name. What stands in the entry is compared first,
    /// so that the file of variables of a stranger's entry is not read.
    pub(crate) fn judge(
        &self,
        (entry, settings): (&ServerEntry, Settings),
        resolve: impl FnOnce() -> Result<Launch, ConfigError>,
    ) -> Judgement {
        if self.entry.start != entry.start {
            return Judgement::New(None);
        }
        match resolve() {
            Err(note) => Judgement::Unresolved(note),
            Ok(launch) if launch == self.launch && self.loosened(entry, settings).is_empty() => {
                Judgement::Permitted(launch)
            }
            Ok(launch) => Judgement::New(Some(launch)),
        }
    }

    /// The keys whose values expose more in this entry.
    pub(crate) fn loosened(&self, new: &ServerEntry, settings: Settings) -> Vec<&'static str> {
        let old = &self.entry;
        let speaks =
            |entry: &ServerEntry, settings: Settings| entry.instructions && settings.instructions;
        let keys = [
            ("tools.show", shows_more(&old.tools, &new.tools)),
            ("tools.hide", old.tools.hide.iter().any(|name| !new.tools.hide.contains(name))),
            ("tools.rename", old.tools.rename != new.tools.rename),
            ("asks", care(new.asks) < care(old.asks)),
            ("isolate", new.isolate != old.isolate && new.isolate != Isolation::Caller),
            ("share", new.share != old.share && new.share != Sharing::Owner),
            ("namespace", new.namespace != old.namespace),
            ("instructions", speaks(new, settings) && !speaks(old, self.settings)),
            ("gateway.baggage", settings.baggage && !self.settings.baggage),
        ];
        keys.into_iter().filter(|(_, is_looser)| *is_looser).map(|(key, _)| key).collect()
    }
}

fn shows_more(old: &ToolRules, new: &ToolRules) -> bool {
    match (&old.show, &new.show) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(old), Some(new)) => new.iter().any(|name| !old.contains(name)),
    }
}

/// How careful a gateway is that questions reach the right caller.
fn care(asks: Option<bool>) -> u8 {
    match asks {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    }
}

/// Why an entry is left out that a reload brought.
pub(crate) fn not_admitted(entry: &ServerEntry, loosened: &[&str]) -> ConfigError {
    let keys: Vec<String> = loosened.iter().map(|key| format!("`{key}`")).collect();
    let problem = match (&entry.start, keys.as_slice()) {
        (_, [_, ..]) => format!("the entry changes {}, and would expose more", keys.join(", ")),
        (Start::Command(_), _) => "the entry is new or changed, and would run a command".to_owned(),
        (Start::Http(_), _) => "the entry is new or changed, and would call a URL".to_owned(),
    };
    let note = ConfigError::new(&entry.file, entry.at.as_str(), problem);
    note.with_advice("restart the gateway to use it")
}
