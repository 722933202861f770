//! `bowline gateway`: many servers behind one endpoint.
//!
//! * `reload`: what a change of the file may start.
//! * `announced`: the notes of `-v`.

mod announced;
mod reload;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bowline::Server;
use bowline_gateway::config::{ConfigError, ConfigFile, ConfigVariables};
use bowline_gateway::{
    AskingServers, Dial, FileStamp, Gateway, GatewayLimits, GatewayOptions, Logins, Reloaded,
    bridge,
};
use bowline_ops::folders;
use bowline_transport::child::Stderr;
use bowline_types::implementation::Implementation;

use self::announced::Announced;
use self::reload::{Consent, Reloading};
use crate::exit::{Exit, Failure};
use crate::interrupt::closing;
use crate::logins::GatewayLogins;
use crate::message_size::MessageArgs;
use crate::observe::{Observation, ObserveArgs};
use crate::print::{self, line, text};
use crate::serving::{ADDRESS, HttpArgs, over_stdio};
use crate::shared_state::SharedStateArgs;
use crate::terminal;
use crate::variables::InputArgs;

/// Serves many servers as one, over stdio or HTTP
///
/// CONFIG is a file with the `mcpServers` of any host. Its variables are written `${NAME}`; a bare
/// `$NAME` stays as it is. Clients may speak any revision of the protocol. Names of tools and prompts
/// get the name of their server as prefix. Servers are started when they are needed, shared by all
/// clients, and stopped when idle. Changes of the file apply at once. New commands and URLs, and
/// rules that expose more, need your consent, unless the file is in your configuration folder.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file that names the servers; your `~/.config/bowline/gateway.json` unless given
    config: Option<PathBuf>,
    /// Serves over HTTP at this address, or else at that of the file, or at 127.0.0.1:8809
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "the option has an optional value")]
    http: Option<Option<String>>,
    /// Serves over standard input and output, also at a terminal
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Shows which servers start, and what they write to standard error
    #[arg(short, long)]
    verbose: bool,
    /// Applies every change of the file without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    message: MessageArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    listen: HttpArgs,
    #[command(flatten)]
    shared: SharedStateArgs,
    #[command(flatten)]
    observe: ObserveArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline gateway .mcp.json --http
  bowline gateway ~/.cursor/mcp.json --http 127.0.0.1:9000
  bowline gateway .mcp.json --http --admin 127.0.0.1:9464 --log json
  bowline gateway .mcp.json --http --store redis://localhost

In the configuration of a host:
  { \"mcpServers\": { \"all\": { \"command\": \"bowline\",
      \"args\": [\"gateway\", \"--stdio\", \"/path/to/bowline.json\"] } } }

A file may also say which tools are shown, and under which names:
  { \"mcpServers\": { \"git\": { \"command\": \"uvx\", \"args\": [\"mcp-server-git\"],
      \"tools\": { \"hide\": [\"git_reset\"], \"rename\": { \"git_log\": \"log\" } } } },
    \"gateway\": { \"name\": \"work\", \"http\": \"127.0.0.1:8809\", \"idleMinutes\": 30 } }
";

/// The file that counts if the user names none, in the user's folder of configurations. Files of the
/// working folder never count by themselves: a stranger may have written them.
const USUAL: &str = "bowline/gateway.json";

impl Args {
    pub(crate) async fn run(self) -> Result<Exit, Failure> {
        let path = self.path()?;
        let seen = FileStamp::of(&path);
        let file = reload::read(&path, self.message).map_err(unusable)?;
        if let Some(problem) = reload::writable_by_all(&path) {
            print::warning(line(problem));
        }
        let address = self.address(&file);
        let shared = match &address {
            Some(_) => self.shared.open().await?,
            None => self.shared.open_keys()?,
        };
        let observation = self.observe.begin().await?;
        let variables = self.inputs.variables(Some(&folder(&path)));
        let reloading = self.reloading(&path, &variables, address.as_deref());
        let message = self.message.or(file.gateway.max_message());
        let limits = message.gateway(GatewayLimits::default());
        let mut options = self.options(variables, &observation).limits(limits);
        if address.is_none() {
            options = options.for_one_caller();
        }
        if let Some(keys) = shared.keys() {
            options = options.state_keys(keys.clone());
        }
        let gateway = Gateway::with_options(&file, options);
        let gateway = gateway.map_err(unusable)?;
        for note in gateway.notes() {
            print::note(text!("left out: {note}"));
        }
        let watched = gateway.clone();
        observation.watch(move || watched.failing());
        let name = file.gateway.name.as_deref().unwrap_or("bowline");
        let info = Implementation::new(name, env!("CARGO_PKG_VERSION"));
        let server = shared.server(observation.server(bridge(gateway.clone(), Some(info))));
        let serving = async {
            match &address {
                Some(at) => {
                    let http = shared.http(&message.over_http(server), &observation);
                    self.listen.serve(message.bodies(http), at, &observation).await
                }
                None => serve_stdio(&message.over_stdio(server), &observation).await,
            }
        };
        let outcome = tokio::select! {
            outcome = serving => outcome,
            () = gateway.follow((&path, seen), async |_| reloading.load(&gateway).await, report) => Ok(()),
        };
        closing(gateway.close()).await;
        closing(observation.end()).await;
        outcome.map(|()| Exit::Done)
    }

    fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.config {
            return Ok(path.clone());
        }
        let usual = folders::config().map(|folder| folder.join(USUAL));
        usual.filter(|path| path.is_file()).ok_or_else(|| {
            Failure::new(Exit::Unreachable, "no file names the servers")
                .hint("name one, such as `.mcp.json`, or write `~/.config/bowline/gateway.json`")
        })
    }

    /// The address to serve at; `None` for standard input and output.
    fn address(&self, file: &ConfigFile) -> Option<String> {
        let configured = file.gateway.http.clone();
        match &self.http {
            _ if self.stdio => None,
            Some(Some(address)) => Some(address.clone()),
            None if configured.is_none() && !std::io::stdin().is_terminal() => None,
            _ => Some(configured.unwrap_or_else(|| ADDRESS.to_owned())),
        }
    }

    /// What a change of the file may start. The terminal is free for questions only if clients do not
    /// use it.
    fn reloading(
        &self,
        path: &Path,
        variables: &ConfigVariables,
        address: Option<&str>,
    ) -> Reloading {
        let consent = match address {
            _ if self.yes => Consent::Given,
            Some(_) if terminal::is_interactive() => Consent::Asked,
            _ => Consent::Impossible,
        };
        let metadata = std::fs::metadata(path).ok();
        let owner = metadata.and_then(|it| reload::owner(&it));
        let (path, variables) = (path.to_owned(), variables.clone());
        Reloading { path, variables, consent, owner, message: self.message }
    }

    /// What the gateway gets from this command: logins, layers, reports, and a memory.
    fn options(&self, variables: ConfigVariables, observation: &Observation) -> GatewayOptions {
        let logins: Arc<dyn Logins> = Arc::new(GatewayLogins::default());
        let (layers, verbose) = (observation.upstream_layers(), self.verbose);
        let stderr = if verbose { Stderr::lines(print::of_server) } else { Stderr::Capture };
        let options = GatewayOptions::new(variables)
            .dialled_by(move |entry, launch| {
                let dial = launch.configured(&logins, layers(&entry.name), stderr);
                match verbose {
                    true => Arc::new(Announced { name: entry.name.clone(), dial }) as Arc<dyn Dial>,
                    false => dial,
                }
            })
            .reporting(|problem| print::note(line(problem)))
            .watching(observation.upstream_reporter());
        let Some(path) = asking_file() else { return options };
        let (memory, warning) = AskingServers::read(path);
        if let Some(warning) = warning {
            print::note(line(warning));
        }
        options.remembering(memory)
    }
}

async fn serve_stdio(server: &Server, observation: &Observation) -> Result<(), Failure> {
    if let Some(admin) = observation.admin_url() {
        print::note(text!("metrics at {admin}/metrics"));
    }
    observation.set_ready(true);
    over_stdio(server).await
}

/// The file that remembers which servers ask questions, in the state folder of the user.
fn asking_file() -> Option<PathBuf> {
    Some(folders::state()?.join("bowline/asking.json"))
}

/// The folder that `${workspaceFolder}` stands for.
fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn unusable(error: ConfigError) -> Failure {
    let failure = Failure::from(error);
    match failure.advice() {
        Some(_) => failure,
        None => failure.hint("`bowline gateway --help` shows such a file"),
    }
}

fn report(outcome: Result<Reloaded, ConfigError>) {
    match outcome {
        Ok(reloaded) => {
            for note in &reloaded.notes {
                print::note(text!("left out: {note}"));
            }
            let changes = [("stopped", &reloaded.stopped), ("started", &reloaded.started)];
            for (verb, names) in changes.into_iter().filter(|(_, names)| !names.is_empty()) {
                print::note(text!("the configuration changed: {verb} {}", names.join(", ")));
            }
        }
        Err(error) => print::note(text!("the old configuration stays: {error}")),
    }
}
