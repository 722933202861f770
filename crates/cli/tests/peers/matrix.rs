//! What a client sees through the bridge equals what it sees without, but for the losses that are
//! listed.
//!
//! Each test is a cell of the matrix: a client and a server, each of one era or both. The client
//! (`tests/peers/everything/crossing.*`) uses every feature once, without a bridge and through each
//! command, and reports what it sees. A client that cannot reach the server without a bridge is
//! compared with itself, or with the server, in the era that the other one speaks.

mod losses;

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

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
}

const WAYS: [Way; 3] = [Way::Connect, Way::Serve, Way::Gateway];

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
        let options = ["--features", server.features];
        let report =
            |options: &[&str], target: &[&str]| client.report(client.revision, options, target);
        match way {
            Way::Connect if server.has_http => {
                let listening = Listening::start(server);
                report(&options, &["--", BOWLINE, "connect", &listening.1])
            }
            Way::Connect => {
                report(&options, &[&["--", BOWLINE, "connect", "--"], &words[..]].concat())
            }
            Way::Serve => {
                let serve = ["serve", "--json", "--http", "127.0.0.1:0", "--"];
                let serving = Serving::start(&[&serve, &words[..]].concat());
                report(&options, &["--url", &serving.url])
            }
            Way::Gateway => {
                let folder = tempfile::tempdir().unwrap();
                let config = folder.path().join("bowline.json");
                let entry = json!({ "command": words[0], "args": words[1..] });
                let text = json!({ "mcpServers": { "peer": entry } }).to_string();
                std::fs::write(&config, text).unwrap();
                let options = [&options[..], &["--prefix", PREFIX]].concat();
                let config = config.to_str().unwrap();
                report(&options, &["--", BOWLINE, "gateway", "--stdio", config])
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

    fn compare(&self, way: Way, direct: &Value, bridged: &Value) -> Vec<String> {
        assert_eq!(bridged["protocolVersion"], self.client.revision);
        let mut found = Vec::new();
        differences("", &direct["features"], &bridged["features"], &mut found);
        differences("/absent", &direct["absent"], &bridged["absent"], &mut found);
        let late = "Received a progress notification for an unknown token";
        let oddities =
            bridged["oddities"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        // SDKs read an answer before progress that came just ahead of it.
        let odd: Vec<_> = oddities.filter(|oddity| !oddity.starts_with(late)).collect();
        differences("/oddities", &json!([]), &json!(odd), &mut found);
        let listed: Vec<_> = LOSSES.iter().filter(|loss| (loss.when)(self, way)).collect();
        let is_listed =
            |difference: &&Difference| listed.iter().any(|loss| loss.covers(&difference.at));
        let lost = found.iter().filter(|difference| !is_listed(difference));
        let lost = lost.map(|difference| format!("{way:?}: {difference}"));
        let stale = listed.iter().filter(|loss| !found.iter().any(|it| loss.covers(&it.at)));
        let stale =
            stale.map(|loss| format!("{way:?}: no difference at {}: mend `LOSSES`", loss.at));
        lost.chain(stale).collect()
    }
}

/// A place in two reports where they differ.
#[derive(Debug)]
struct Difference {
    at: String,
    direct: Value,
    bridged: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, direct, bridged } = self;
        write!(f, "{at}\n  without the bridge: {direct}\n  through the bridge: {bridged}")
    }
}

fn differences(at: &str, direct: &Value, bridged: &Value, found: &mut Vec<Difference>) {
    if let (Some(left), Some(right)) = (by_name(direct), by_name(bridged)) {
        return differences(at, &left, &right, found);
    }
    match (direct, bridged) {
        (Value::Object(left), Value::Object(right)) => {
            let only_right = right.keys().filter(|key| !left.contains_key(*key));
            for key in left.keys().chain(only_right) {
                differences(&format!("{at}/{key}"), &direct[key], &bridged[key], found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{at}/{index}"), left, right, found);
            }
        }
        _ if direct == bridged => {}
        _ => found.push(Difference {
            at: at.to_owned(),
            direct: direct.clone(),
            bridged: bridged.clone(),
        }),
    }
}

/// A list of things with names as an object, so that a missing one is a difference of its own.
fn by_name(list: &Value) -> Option<Value> {
    let items = list.as_array()?.iter();
    let named = items.map(|item| Some((item["name"].as_str()?.to_owned(), item.clone())));
    named.collect::<Option<serde_json::Map<_, _>>>().map(Value::Object)
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
