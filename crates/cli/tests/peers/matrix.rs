//! What a client sees through the bridge equals what it sees without, but for the losses that are
//! listed.
//!
//! Each test is a cell of the matrix: a client and a server, each of one era or both. The client
//! (`tests/peers/everything/crossing.*`) uses every feature once, without a bridge and through each
//! command, and reports what it sees. A client that cannot reach the server without a bridge is
//! compared with itself, or with the server, in the era that the other one speaks.

mod comparison;
mod losses;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::comparison::{differences, named};
use self::losses::LOSSES;
use crate::{BOTH, BOWLINE, Serving, at_home, peer};

const LEGACY: &str = BOTH[0];
const MODERN: &str = BOTH[1];

/// A client of another SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Client {
    program: &'static [&'static str],
    /// The revision that it speaks to a bridge.
    revision: &'static str,
    /// The revision that it speaks to the server itself.
    direct: &'static str,
}

impl Client {
    const TYPESCRIPT_V1: Self = Self::new(&["everything/ts-v1.mjs"], LEGACY);
    const TYPESCRIPT_V2: Self = Self::new(&["everything/ts-v2.mjs"], MODERN);
    const PYTHON: Self = Self::new(&["everything/run.py", "--sdk", "mcp"], MODERN);
    const FASTMCP: Self = Self::new(&["everything/run.py", "--sdk", "fastmcp"], MODERN);

    const fn new(program: &'static [&'static str], revision: &'static str) -> Self {
        Self { program, revision, direct: revision }
    }

    /// The same, for servers that it reaches only in the older era.
    const fn falling_back(self) -> Self {
        Self { direct: LEGACY, ..self }
    }

    /// What the client sees.
    fn report(&self, revision: &str, options: &[&str], server: &[&str]) -> Result<Value, String> {
        let [interpreter, script] = peer(self.program[0]);
        let mut command = at_home(&interpreter);
        command.arg(script).args(&self.program[1..]).args(["--revision", revision]);
        let output = command.args(options).args(server).stdin(Stdio::null()).output().unwrap();
        match output.status.success() {
            true => Ok(serde_json::from_slice(&output.stdout).unwrap()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// A server of another SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Server {
    script: &'static str,
    /// Lets it refuse the older era.
    options: &'static [&'static str],
    /// The features that clients use.
    features: &'static str,
    has_http: bool,
}

impl Server {
    const TYPESCRIPT_V1: Self = Self::new("ts-v1-server.mjs");
    const TYPESCRIPT_V2: Self = Self { options: &["--modern"], ..Self::new("ts-v2-server.mjs") };
    const PYTHON: Self = Self::new("py_server.py");
    const FASTMCP: Self = Self::new("fastmcp_server.py");
    /// `@modelcontextprotocol/server-everything`.
    const REFERENCE: Self = Self {
        features: "crossing_reference",
        has_http: false,
        ..Self::new("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    };

    const fn new(script: &'static str) -> Self {
        Self { script, options: &[], features: "crossing", has_http: true }
    }

    fn command(&self) -> Vec<String> {
        let options = self.options.iter().map(|option| (*option).to_owned());
        peer(self.script).into_iter().chain(options).collect()
    }
}

/// A server that listens for HTTP until it is dropped.
struct Listening(Child, String);

impl Listening {
    fn start(server: &Server) -> Self {
        let words = server.command();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("--http").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self(child, url.trim().to_owned())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The command between a client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Stdio for the client, HTTP to the server if it has that.
    Connect,
    /// HTTP for the client, a process behind.
    Serve,
    /// Stdio for the client, a process behind, with a prefix.
    Gateway,
    /// HTTP for the client, HTTP to the server if it has that, with a prefix.
    GatewayOverHttp,
}

const WAYS: [Way; 4] = [Way::Connect, Way::Serve, Way::Gateway, Way::GatewayOverHttp];

impl Way {
    /// Whether the client sees one server among several, each with a name from a configuration.
    fn is_gateway(self) -> bool {
        matches!(self, Self::Gateway | Self::GatewayOverHttp)
    }
}

/// What a gateway puts before the names of tools and prompts.
const PREFIX: &str = "peer__";

/// A client and a server.
#[derive(Clone, Copy, Debug)]
struct Cell {
    client: Client,
    server: Server,
}

impl Cell {
    /// What the client sees without a bridge.
    fn direct(&self) -> Value {
        let Self { client, server } = self;
        let mut server = *server;
        if client.direct == LEGACY {
            server.options = &[];
        }
        let command = server.command();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let words = [&["--"], &words[..]].concat();
        let report = client.report(client.direct, &["--features", server.features], &words);
        let mut report =
            report.unwrap_or_else(|error| panic!("{self:?} without a bridge: {error}"));
        if let Some(changes) = report["features"].get_mut("changes").and_then(Value::as_object_mut)
        {
            changes.remove("after");
            // Some servers send changes that no session follows any more; a bridge must not.
            let is_asked = client.revision == LEGACY && !changes.contains_key("refused");
            changes.extend(is_asked.then(|| ("after".to_owned(), json!([]))));
        }
        report
    }

    /// What the client sees through a command.
    fn through(&self, way: Way) -> Result<Value, String> {
        let Self { client, server } = self;
        let command = server.command();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let prefix = if way.is_gateway() { PREFIX } else { "" };
        let options = ["--features", server.features, "--prefix", prefix];
        let report = |target: &[&str]| client.report(client.revision, &options, target);
        match way {
            Way::Connect if server.has_http => {
                let listening = Listening::start(server);
                report(&["--", BOWLINE, "connect", &listening.1])
            }
            Way::Connect => report(&[&["--", BOWLINE, "connect", "--"], &words[..]].concat()),
            Way::Serve => {
                let serve = ["serve", "--json", "--http", "127.0.0.1:0", "--"];
                let serving = Serving::start(&[&serve, &words[..]].concat());
                report(&["--url", &serving.url])
            }
            Way::Gateway => {
                let folder = tempfile::tempdir().unwrap();
                let entry = json!({ "command": words[0], "args": words[1..] });
                let config = configure(&folder, &entry);
                report(&["--", BOWLINE, "gateway", "--stdio", &config])
            }
            Way::GatewayOverHttp => {
                let folder = tempfile::tempdir().unwrap();
                let listening = server.has_http.then(|| Listening::start(server));
                let entry = match &listening {
                    Some(listening) => json!({ "url": listening.1 }),
                    None => json!({ "command": words[0], "args": words[1..] }),
                };
                let config = configure(&folder, &entry);
                let serving =
                    Serving::start(&["gateway", "--json", "--http", "127.0.0.1:0", &config]);
                report(&["--url", &serving.url])
            }
        }
    }

    /// Fails unless the client sees the same through each command.
    fn check(self) {
        let direct = self.direct();
        let mut problems = Vec::new();
        for way in WAYS {
            match self.through(way) {
                Ok(bridged) => problems.extend(self.compare(way, &direct, &bridged)),
                Err(error) => problems.push(format!("{way:?}: {error}")),
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// The differences that are not listed, and what is listed although it makes no difference.
    fn compare(&self, way: Way, direct: &Value, bridged: &Value) -> Vec<String> {
        assert_eq!(bridged["protocolVersion"], self.client.revision);
        let mut expected = named(&direct["features"]);
        let mut problems = Vec::new();
        for loss in LOSSES.iter().filter(|loss| (loss.when)(self, way)) {
            if !loss.apply(self, way, &mut expected) {
                problems.push(format!("{way:?}: no difference at {}: mend `LOSSES`", loss.at));
            }
        }
        let mut found = Vec::new();
        differences("", &expected, &named(&bridged["features"]), &mut found);
        differences("/absent", &direct["absent"], &bridged["absent"], &mut found);
        let late = "Received a progress notification for an unknown token";
        let oddities =
            bridged["oddities"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        // SDKs read an answer before progress that came just ahead of it.
        let odd: Vec<_> = oddities.filter(|oddity| !oddity.starts_with(late)).collect();
        differences("/oddities", &json!([]), &json!(odd), &mut found);
        problems.extend(found.iter().map(|difference| format!("{way:?}: {difference}")));
        problems
    }
}

/// Writes the configuration of a gateway to one server, and returns its path.
fn configure(folder: &TempDir, entry: &Value) -> String {
    let config = folder.path().join("bowline.json");
    let text = json!({ "mcpServers": { "peer": entry } }).to_string();
    std::fs::write(&config, text).unwrap();
    config.to_str().unwrap().to_owned()
}

#[test]
fn modern_client_modern_server() {
    Cell { client: Client::TYPESCRIPT_V2, server: Server::TYPESCRIPT_V2 }.check();
}

#[test]
fn modern_client_legacy_server() {
    let client = Client::TYPESCRIPT_V2.falling_back();
    Cell { client, server: Server::TYPESCRIPT_V1 }.check();
}

#[test]
fn modern_client_legacy_reference_server() {
    let client = Client::TYPESCRIPT_V2.falling_back();
    Cell { client, server: Server::REFERENCE }.check();
}

#[test]
fn modern_client_dual_server() {
    Cell { client: Client::TYPESCRIPT_V2, server: Server::PYTHON }.check();
}

#[test]
fn dual_client_modern_server() {
    Cell { client: Client::PYTHON, server: Server::TYPESCRIPT_V2 }.check();
}

#[test]
fn dual_client_legacy_server() {
    let client = Client::FASTMCP.falling_back();
    Cell { client, server: Server::TYPESCRIPT_V1 }.check();
}

#[test]
fn legacy_client_modern_server() {
    Cell { client: Client::TYPESCRIPT_V1, server: Server::TYPESCRIPT_V2 }.check();
}

#[test]
fn legacy_client_dual_server() {
    Cell { client: Client::TYPESCRIPT_V1, server: Server::PYTHON }.check();
}

#[test]
fn legacy_client_dual_fastmcp_server() {
    Cell { client: Client::TYPESCRIPT_V1, server: Server::FASTMCP }.check();
}

#[test]
fn legacy_client_legacy_server() {
    Cell { client: Client::TYPESCRIPT_V1, server: Server::TYPESCRIPT_V1 }.check();
}

#[test]
fn legacy_client_legacy_reference_server() {
    Cell { client: Client::TYPESCRIPT_V1, server: Server::REFERENCE }.check();
}
