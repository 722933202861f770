//! Every server that configuration files name, looked at side by side.

mod display;

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use bowline::client::ClientBuilder;
use bowline_gateway::config::{ConfigError, Launch, Start};
use bowline_ops::discover::{Discovery, Found, Origin};
use bowline_ops::lint::Level;
use bowline_ops::listed_names;
use bowline_ops::processes::Processes;
use bowline_types::text::counted;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::display::Display;
use super::{Authorization, Inspection};
use crate::exit::{Exit, Failure};
use crate::target::{Target, TargetArgs};
use crate::terminal;

/// How many servers are looked at at the same time, at most.
const AT_ONCE: usize = 6;
/// How many processes start at the same time, at least. Otherwise it is one for each processor: more
/// would only slow each other down, until all of them come close to their timeout.
const STARTS_AT_ONCE: usize = 2;

/// What the table shows, and what `--json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    pub(crate) servers: Vec<Row>,
    /// What is wrong with the files.
    pub(crate) problems: Vec<String>,
}

/// A row of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The host whose file names it.
    pub(crate) source: &'static str,
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) era: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
    pub(crate) authorization: Authorization,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_estimated: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_milliseconds: Option<u64>,
    /// How many processes of it run already. `None` for a URL, and where the operating system does
    /// not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) processes: Option<usize>,
    pub(crate) notes: Vec<String>,
}

impl Overview {
    /// Looks at every server, at most [`AT_ONCE`] of them at the same time. A server that a file of
    /// the project names is left alone unless the user agrees.
    ///
    /// # Errors
    ///
    /// If the user pressed Ctrl-C at a question.
    pub(crate) async fn of(
        discovery: &Discovery,
        args: &TargetArgs,
        (builder, timeout): (ClientBuilder, Duration),
    ) -> Result<Self, Failure> {
        let (mut servers, targets) = rows(discovery, args)?;
        let display = Display::new(targets.len());
        let processors = available_parallelism().map_or(STARTS_AT_ONCE, NonZero::get);
        let processes = Arc::new(Semaphore::new(processors.clamp(STARTS_AT_ONCE, AT_ONCE)));
        let urls = Arc::new(Semaphore::new(AT_ONCE));
        let mut probes = JoinSet::new();
        for (index, target) in targets {
            let permits = match target.launch {
                Launch::Command(_) => processes.clone(),
                Launch::Http(_) => urls.clone(),
            };
            let (display, builder) = (display.clone(), builder.clone());
            probes.spawn(async move {
                let _permit = permits.acquire_owned().await;
                let _line = display.line(&target.label);
                (index, Box::pin(Inspection::of(target, builder, timeout)).await)
            });
        }
        let mut listed = Vec::new();
        while let Some(probed) = probes.join_next().await {
            if let Ok((index, looked)) = probed {
                servers[index].looked(&looked);
                listed.push((index, &discovery.found[index].entry, looked.names));
            }
        }
        listed.sort_by_key(|(index, _, _)| *index);
        for (index, note) in listed_names::notes(&listed) {
            servers[index].notes.push(note);
        }
        let problems = discovery.problems.iter().map(ConfigError::to_string).collect();
        Ok(Self { servers, problems })
    }
}

/// Servers to look at, by the numbers of their rows.
type NumberedTargets = Vec<(usize, Target)>;

/// The rows as far as files and the list of processes tell, and the servers to look at.
/// All questions to the user are asked here, before anything starts.
fn rows(discovery: &Discovery, args: &TargetArgs) -> Result<(Vec<Row>, NumberedTargets), Failure> {
    let processes = Processes::now();
    let launches: Vec<Option<Launch>> = discovery.found.iter().map(Found::launch).collect();
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for (index, (found, launch)) in discovery.found.iter().zip(&launches).enumerate() {
        let mut row = Row::new(found, launch.as_ref(), &processes);
        let same = launches[..index].iter().position(|it| it.is_some() && it == launch);
        if let Some(same) = same {
            row.notes.push(format!("the same as `{}`", discovery.found[same].qualified()));
        }
        match target(found, args) {
            Ok(target) => targets.push((index, target)),
            Err(failure) if failure.exit() == Exit::Interrupted => return Err(failure),
            Err(failure) => row.notes.push(failure.to_string()),
        }
        rows.push(row);
    }
    Ok((rows, targets))
}

/// The server of an entry, or why it is left alone.
fn target(found: &Found, args: &TargetArgs) -> Result<Target, Failure> {
    if found.entry.disabled {
        return Err(left_alone("switched off in its file"));
    }
    if !args.has_inputs(found) {
        let why = "not started: it needs values; `--input ID=VALUE` gives them, \
                   `bowline inspect NAME` asks for them";
        return Err(left_alone(why));
    }
    let is_project = found.origin == Origin::Project;
    if is_project && !args.agrees() && !terminal::is_interactive() {
        let why = "not started: a file of this project names it; `--yes` starts it";
        return Err(left_alone(why));
    }
    args.found(found)
}

fn left_alone(why: &'static str) -> Failure {
    Failure::new(Exit::Unreachable, why)
}

impl Row {
    fn new(found: &Found, launch: Option<&Launch>, processes: &Processes) -> Self {
        let entry = &found.entry;
        let authorization = match entry.start {
            Start::Command(_) => Authorization::Local,
            _ => Authorization::Unknown,
        };
        let processes = match launch {
            Some(Launch::Command(command)) => processes.count(command),
            _ => None,
        };
        let many = processes.filter(|count| *count > 1);
        let notes = many.map(|count| format!("{count} processes of it run already"));
        let notes = notes.into_iter().collect();
        Self {
            name: entry.name.clone(),
            source: entry.dialect.host(),
            file: entry.file.display().to_string(),
            era: None,
            revision: None,
            authorization,
            tools: None,
            tokens_estimated: None,
            start_milliseconds: None,
            processes,
            notes,
        }
    }

    fn looked(&mut self, looked: &Inspection) {
        if let Some(server) = &looked.server {
            self.era = Some(if server.has_handshake { "legacy" } else { "modern" });
            self.revision = Some(server.revision.clone());
            self.tools = server.tools;
            self.tokens_estimated = server.tokens;
            self.start_milliseconds = u64::try_from(server.start.as_millis()).ok();
        }
        self.authorization = looked.authorization;
        let mut failed = looked.steps.iter().filter(|step| !step.is_done).peekable();
        if let Some(failure) = looked.failure.iter().find(|_| failed.peek().is_none()) {
            self.notes.push(failure.to_string());
        }
        self.notes.extend(failed.map(|step| format!("{} failed: {}", step.name, step.note)));
        let count = |level| looked.findings.iter().filter(|it| it.level == level).count();
        let counts = [(Level::Error, "error"), (Level::Warning, "warning")];
        let counts = counts.map(|(level, noun)| (count(level), noun));
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let found: Vec<String> = counts.map(|&(count, noun)| counted(count, noun)).collect();
        if !found.is_empty() {
            self.notes.push(format!("{} in its lists", found.join(", ")));
        }
    }
}
