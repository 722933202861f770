//! `bowline gateway`: many servers behind one endpoint.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bowline::Server;
use bowline::types::implementation::Implementation;
use bowline_gateway::config::{ConfigError, ConfigFile, ConfigVariables, Dialect};
use bowline_gateway::{
    AskingServers, FileStamp, Gateway, GatewayLimits, GatewayOptions, Logins, Reloaded, bridge,
};

use crate::discover::Folders;
use crate::exit::{Exit, Failure};
use crate::logins::GatewayLogins;
use crate::message_size::MessageArgs;
use crate::observe::{Observation, ObserveArgs};
use crate::print;
use crate::serving::{ADDRESS, HttpArgs, over_stdio};
use crate::shared_state::SharedStateArgs;
use crate::variables::InputArgs;

/// Serves many servers as one, over stdio or HTTP
///
/// CONFIG is a file with the `mcpServers` of any host. Its variables are written `${NAME}`; a bare
/// `$NAME` stays as it is. Clients may speak any revision of the protocol. Names of tools and prompts
/// get the name of their server as prefix. Servers are started when they are needed, shared by all
/// clients, and stopped when idle. Changes of the file count at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file that names the servers; your `~/.config/bowline/gateway.json` unless given
    config: Option<PathBuf>,
    /// Serves over HTTP at this address
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = ADDRESS)]
    http: Option<String>,
    /// Serves over standard input and output, also at a terminal
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
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
        let file = self.load(&path).map_err(|error| unusable(&error))?;
        let address = self.address(&file);
        let shared = match &address {
            Some(_) => self.shared.open().await?,
            None => self.shared.open_keys()?,
        };
        let observation = self.observe.begin().await?;
        let variables = self.inputs.variables(Some(&folder(&path)));
        let message = self.message.or(file.gateway.max_message());
        let limits = message.gateway(GatewayLimits::default());
        let mut options = options(variables, &observation).limits(limits);
        if let Some(keys) = shared.keys() {
            options = options.state_keys(keys.clone());
        }
        let gateway = Gateway::with_options(&file, options);
        let gateway = gateway.map_err(|error| unusable(&error))?;
        for note in gateway.notes() {
            print::note(&format!("left out: {note}"));
        }
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
            () = gateway.follow((&path, seen), |path| self.load(path), report) => Ok(()),
        };
        gateway.close().await;
        observation.end().await;
        outcome.map(|()| Exit::Done)
    }

    /// Reads the file. The size of the option counts more than that of the file.
    fn load(&self, path: &Path) -> Result<ConfigFile, ConfigError> {
        let mut file = ConfigFile::read(path, Dialect::Bowline)?;
        file.gateway.max_message_mib.take_if(|_| self.message.bytes().is_some());
        Ok(file)
    }

    fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.config {
            return Ok(path.clone());
        }
        let usual = Folders::of_process().config.map(|folder| folder.join(USUAL));
        usual.filter(|path| path.is_file()).ok_or_else(|| {
            Failure::new(Exit::Unreachable, "no file names the servers")
                .hint("name one, such as `.mcp.json`, or write `~/.config/bowline/gateway.json`")
        })
    }

    /// The address to serve at; `None` for standard input and output.
    fn address(&self, file: &ConfigFile) -> Option<String> {
        if self.stdio {
            return None;
        }
        let named = self.http.clone().or_else(|| file.gateway.http.clone());
        named.or_else(|| std::io::stdin().is_terminal().then(|| ADDRESS.to_owned()))
    }
}

async fn serve_stdio(server: &Server, observation: &Observation) -> Result<(), Failure> {
    if let Some(admin) = observation.admin_url() {
        print::note(&format!("metrics at {admin}/metrics"));
    }
    observation.set_ready(true);
    over_stdio(server).await
}

/// What the gateway gets from this command: logins, layers, and a memory.
fn options(variables: ConfigVariables, observation: &Observation) -> GatewayOptions {
    let logins: Arc<dyn Logins> = Arc::new(GatewayLogins::default());
    let layer = observation.client();
    let options = GatewayOptions::new(variables)
        .dialled_by(move |_, launch| launch.configured(&logins, layer.clone()))
        .reporting(|note| print::note(&note.to_string()));
    let Some(path) = asking_file() else { return options };
    let (memory, warning) = AskingServers::read(path);
    if let Some(warning) = warning {
        print::note(&warning);
    }
    options.remembering(memory)
}

/// The file that remembers which servers ask questions, in the state folder of the user.
fn asking_file() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let state = match cfg!(windows) {
        true => folder("LOCALAPPDATA"),
        false => folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state"))),
    };
    Some(state?.join("bowline/asking.json"))
}

/// The folder that `${workspaceFolder}` stands for.
fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn unusable(error: &ConfigError) -> Failure {
    let failure = Failure::new(Exit::Unreachable, error.without_advice());
    failure.hint(error.advice().unwrap_or("`bowline gateway --help` shows such a file"))
}

fn report(outcome: Result<Reloaded, ConfigError>) {
    match outcome {
        Ok(reloaded) => {
            for note in &reloaded.notes {
                print::note(&format!("left out: {note}"));
            }
            let changes = [("stopped", &reloaded.stopped), ("started", &reloaded.started)];
            for (verb, names) in changes.into_iter().filter(|(_, names)| !names.is_empty()) {
                print::note(&format!("the configuration changed: {verb} {}", names.join(", ")));
            }
        }
        Err(error) => print::note(&format!("the old configuration stays: {error}")),
    }
}
