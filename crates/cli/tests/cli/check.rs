//! `bowline check`.

use std::sync::{Arc, Mutex};

use bowline::{Args, Server, Tool};

use super::demo::HttpDemo;
use super::{bowline, expect, run, wrong_server};

/// Where to look, which headers repeat.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// A server refuses calls over HTTP that lack a header which its tool demands.
#[tokio::test(flavor = "multi_thread")]
async fn tools_whose_arguments_headers_repeat_are_called_over_http() {
    let called: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = called.clone();
    let place = move |Args(Place { region }): Args<Place>| {
        noted.lock().unwrap().push(region.clone());
        async move { region }
    };
    let server = Server::new("map", "1.0.0").tool(Tool::new("place", place).read_only());
    let bound = server.http().listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    tokio::spawn(bound.serve_until(std::future::pending()));
    let arguments = ["check", "--revision", "2026-07-28", &url].map(str::to_owned);
    let checked = tokio::task::spawn_blocking(move || run(&arguments.each_ref().map(|it| &**it)));
    let checked = checked.await.unwrap();
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(!called.lock().unwrap().is_empty(), "{checked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_the_user_names_is_called_beside_many_that_change_nothing() {
    let called: Arc<Mutex<Vec<String>>> = Arc::default();
    let names = ["a", "b", "c", "d", "e", "f", "zap"];
    let server = names.into_iter().fold(Server::new("many", "1.0.0"), |server, name| {
        let noted = called.clone();
        let tool = Tool::new(name, move || {
            noted.lock().unwrap().push(name.to_owned());
            async { "done" }
        });
        server.tool(if name == "zap" { tool } else { tool.read_only() })
    });
    let bound = server.http().listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    tokio::spawn(bound.serve_until(std::future::pending()));
    let arguments = ["check", "--revision", "2026-07-28", "--call", "zap", &url];
    let arguments = arguments.map(str::to_owned);
    let checked = tokio::task::spawn_blocking(move || run(&arguments.each_ref().map(|it| &**it)));
    let checked = checked.await.unwrap();
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(called.lock().unwrap().iter().any(|name| name == "zap"), "{checked:?}");
}

/// The built-in server over stdio, as arguments after `--`.
fn demo() -> [&'static str; 4] {
    ["--", env!("CARGO_BIN_EXE_bowline"), "demo", "--stdio"]
}

#[test]
fn a_tool_to_call_that_the_server_does_not_list_fails_the_check() {
    let options = ["check", "--revision", "2026-07-28", "--call", "ech"];
    let run = run(&[&options[..], &demo()[..]].concat());
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("lists no such tool: ech\n"), "{}", run.stdout);
    assert!(run.stderr.contains("the server has no tool `ech`"), "{}", run.stderr);
}

#[test]
fn the_built_in_server_breaks_no_rule_in_any_revision() {
    let arguments: Vec<&str> = ["check"].into_iter().chain(demo()).collect();
    let run = run(&arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    let spoken = "speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28\n";
    assert!(run.stdout.starts_with(spoken), "{}", run.stdout);
    assert!(!run.stdout.contains("\nwarnings"), "{}", run.stdout);
}

#[test]
fn a_server_that_prints_its_greeting_to_standard_output_is_found() {
    let greeting = r#"echo "Server started"; exec cat > /dev/null"#;
    let arguments =
        ["check", "--timeout", "1", "--revision", "2025-11-25", "--json", "--", "sh", "-c"];
    let run = run(&[&arguments[..], &[greeting]].concat());
    assert_eq!(run.code, Some(3), "no session can be opened: {run:?}");
    // The same, but for a server that answers the handshake.
    let server = r#"read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25",
"capabilities":{},"serverInfo":{"name":"a","version":"1"}}}' | tr -d '\n'; echo; echo "Server started"; exec cat > /dev/null"#;
    let arguments = [&arguments[..3], &["--deadline", "2"], &arguments[3..]].concat();
    let output = bowline().args(arguments).arg(server).output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("\"STDIO-4\"") && report.contains("Server started"), "{report}");
}

#[test]
fn the_built_in_server_breaks_no_rule_over_http_either() {
    let http = HttpDemo::start();
    let run = run(&["check", &http.url]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let spoken = "speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28\n";
    assert!(run.stdout.starts_with(spoken), "{}", run.stdout);
    assert!(run.stdout.contains(": 149 kept, 0 violated, 0 warnings;"), "{}", run.stdout);
}

#[test]
fn a_wrong_server_over_http_breaks_the_rules_that_it_breaks_and_no_others() {
    let server = wrong_server::start();
    let run = run(&["check", "--timeout", "2", "--json", &server.url]);
    assert_eq!(run.code, Some(6), "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let mut broken: Vec<(&str, &str)> = findings
        .map(|it| (it["rule"].as_str().unwrap(), it["verdict"].as_str().unwrap()))
        .collect();
    broken.sort_unstable();
    let expected = [
        ("HSEC-1", "violated"),
        ("HTTP-10", "violated"),
        ("PV-4", "violated"),
        ("TOOL-13", "warning"),
    ];
    assert_eq!(broken, expected, "{report:#}");
    assert!(!run.stdout.contains(r#""cut": true"#), "{report:#}");
}

#[test]
fn the_report_for_people_has_a_block_for_each_broken_rule_with_its_page_and_the_exchange() {
    let server = wrong_server::start();
    let checked = run(&["check", "--timeout", "2", "--revision", "2025-11-25", &server.url]);
    assert_eq!(checked.code, Some(6), "{checked:?}");
    // The totals after the blocks change with every rule that is added.
    let (blocks, _) = checked.stdout.split_once(" rules seen: ").unwrap();
    let port = server.url.split([':', '/']).nth(4).unwrap();
    expect("check_wrong.txt", &blocks.trim_end_matches(char::is_numeric).replace(port, "8808"));
}

#[test]
fn json_tells_that_an_exchange_is_cut_because_it_is_too_long() {
    let server = "head -c 1100000 /dev/zero | tr '\\0' x; echo; while read -r line; do :; done";
    let options = ["check", "--timeout", "1", "--revision", "2025-11-25", "--json", "--"];
    let checked = run(&[&options[..], &["sh", "-c", server]].concat());
    assert_eq!(checked.code, Some(6), "{}", checked.stderr);
    let report: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    let occurrence = &report["findings"][0]["occurrences"][0];
    assert_eq!(
        (&report["findings"][0]["rule"], &occurrence["cut"]),
        (&"STDIO-4".into(), &true.into())
    );
    assert!(occurrence["answer"].as_str().unwrap().len() < 1000, "{occurrence}");
}
