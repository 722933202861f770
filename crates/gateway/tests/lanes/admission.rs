//! Which programs a new load of the configuration may start: only those that the user named.

use bowline_gateway::config::ServerEntry;
use bowline_gateway::{Gateway, bridge};
use serde_json::json;

use crate::support::{Fake, connect, echo, file, gateway, ways};

const ONE: &str = r#"{ "mcpServers": { "far": { "command": "x", "args": ["a"] } } }"#;

/// A gateway to one server. Its file may name another one later.
fn fakes() -> (Gateway, Fake) {
    let evil = Fake::new(echo());
    (gateway(ONE, [("far", Fake::new(echo())), ("evil", evil.clone())]), evil)
}

fn names(gateway: &Gateway) -> Vec<String> {
    gateway.servers().into_iter().map(|(name, _)| name).collect()
}

#[tokio::test(start_paused = true)]
async fn a_command_that_a_reload_brings_is_not_started_without_consent() {
    let (gateway, evil) = fakes();
    let caller = connect(&bridge(gateway.clone(), None), ways().next().unwrap(), |it| it).await;
    let text = r#"{ "mcpServers": {
        "far": { "command": "x", "args": ["a"] },
        "evil": { "command": "sh", "args": ["-c", "touch PWNED"] } } }"#;
    let reloaded = gateway.reload(&file(text)).unwrap();
    let note = "c.json: $.mcpServers.evil: the entry is new or changed, and would run a command; \
                restart the gateway to use it";
    assert_eq!(reloaded.notes.iter().map(ToString::to_string).collect::<Vec<_>>(), [note]);
    assert_eq!((reloaded.started.len(), names(&gateway)), (0, vec!["far".to_owned()]));
    caller.tools().all().await.unwrap();
    assert_eq!(evil.starts(), 0);
    // Not by a second load of the same file either.
    assert_eq!(gateway.reload(&file(text)).unwrap().notes.len(), 1);
    // The user agrees.
    let newcomers = gateway.newcomers(&file(text));
    assert_eq!(newcomers.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["evil"]);
    let admits = |entry: &ServerEntry| newcomers.contains(entry);
    let reloaded = gateway.reload_admitting(&file(text), admits).unwrap();
    assert_eq!((reloaded.started, reloaded.notes), (vec!["evil".to_owned()], vec![]));
    let said = caller.call("evil__say", json!({ "message": "hi" })).await.unwrap();
    assert_eq!((said.text().as_str(), evil.starts()), ("hi", 1));
    assert_eq!(gateway.newcomers(&file(text)), []);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_a_reload_changes_is_not_started_without_consent() {
    for changed in [
        r#""command": "y", "args": ["a"]"#,
        r#""command": "x", "args": ["b"]"#,
        r#""command": "x", "args": ["a"], "env": { "LD_PRELOAD": "./evil.so" }"#,
        r#""command": "x", "args": ["a"], "cwd": "/tmp/evil""#,
        r#""url": "https://evil.example/mcp""#,
    ] {
        let (gateway, _) = fakes();
        let text = format!(r#"{{ "mcpServers": {{ "far": {{ {changed} }} }} }}"#);
        let reloaded = gateway.reload(&file(&text)).unwrap();
        assert_eq!((reloaded.stopped, reloaded.notes.len()), (vec!["far".to_owned()], 1));
        assert_eq!(names(&gateway), [""; 0], "{changed}");
        // The command of the start is known still.
        let reloaded = gateway.reload(&file(ONE)).unwrap();
        assert_eq!((reloaded.started, reloaded.notes), (vec!["far".to_owned()], vec![]));
    }
}

/// Values of a file of variables are part of what is run.
#[tokio::test(start_paused = true)]
async fn a_changed_file_of_variables_needs_consent_too() {
    let folder = tempfile::tempdir().unwrap();
    let variables = folder.path().join(".env");
    std::fs::write(&variables, "COLOUR=red\n").unwrap();
    let path = json!(variables);
    let text =
        format!(r#"{{ "mcpServers": {{ "far": {{ "command": "x", "envFile": {path} }} }} }}"#);
    let gateway = gateway(&text, [("far", Fake::new(echo()))]);
    assert_eq!(gateway.newcomers(&file(&text)), []);
    std::fs::write(&variables, "LD_PRELOAD=./evil.so\n").unwrap();
    assert_eq!(gateway.newcomers(&file(&text)).len(), 1);
    assert_eq!(gateway.reload(&file(&text)).unwrap().notes.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn rules_and_other_settings_change_without_consent() {
    let (gateway, _) = fakes();
    let text = r#"{ "mcpServers": { "far": { "command": "x", "args": ["a"],
        "tools": { "hide": ["hang"] }, "namespace": "f", "asks": true } } }"#;
    assert_eq!(gateway.reload(&file(text)).unwrap().notes, []);
    let caller = connect(&bridge(gateway, None), ways().next().unwrap(), |it| it).await;
    let tools = caller.tools().all().await.unwrap();
    assert_eq!(tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["f__say"]);
}
