//! Which programs a new load of the configuration may start: only those that the user named.

use std::sync::Arc;

use bowline_gateway::config::{ConfigVariables, Launch, ServerEntry};
use bowline_gateway::{Gateway, GatewayOptions, bridge};
use serde_json::json;

use crate::support::{Fake, Heard, connect, echo, file, gateway, ways};

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

/// The path of a file of variables is part of what is run, and so is each header.
#[tokio::test(start_paused = true)]
async fn a_changed_header_or_path_of_a_file_of_variables_needs_consent() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.env", "b.env"] {
        std::fs::write(folder.path().join(name), "COLOUR=red\n").unwrap();
    }
    let with_file = |name| json!({ "command": "x", "envFile": folder.path().join(name) });
    let with_header = |value: &str| json!({ "url": "https://x", "headers": { "X-To": value } });
    for (before, after) in
        [(with_file("a.env"), with_file("b.env")), (with_header("me"), with_header("evil"))]
    {
        let text = |entry| json!({ "mcpServers": { "far": entry } }).to_string();
        let gateway = gateway(&text(before), [("far", Fake::new(echo()))]);
        assert_eq!(gateway.newcomers(&file(&text(after.clone()))).len(), 1, "{after}");
        assert_eq!(gateway.reload(&file(&text(after))).unwrap().notes.len(), 1);
        assert_eq!(names(&gateway), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_is_enabled_later_needs_consent() {
    let far = Fake::new(echo());
    let text = |disabled: bool| {
        let entry = json!({ "command": "x", "args": ["a"], "disabled": disabled });
        json!({ "mcpServers": { "far": entry } }).to_string()
    };
    let gateway = gateway(&text(true), [("far", far.clone())]);
    assert_eq!(gateway.newcomers(&file(&text(true))), []);
    assert_eq!(gateway.newcomers(&file(&text(false))).len(), 1);
    assert_eq!(gateway.reload(&file(&text(false))).unwrap().notes.len(), 1);
    assert_eq!((names(&gateway).len(), far.starts()), (0, 0));
    let reloaded = gateway.reload_admitting(&file(&text(false)), |_| true).unwrap();
    assert_eq!(reloaded.started, ["far"]);
}

/// What is judged is what is started, although the file of variables changes in between.
#[tokio::test(start_paused = true)]
async fn a_file_of_variables_is_read_once_for_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let variables = folder.path().join(".env");
    let write = |text| std::fs::write(&variables, text).unwrap();
    write("COLOUR=red\n");
    let entry = json!({ "command": "x", "envFile": variables });
    let text = json!({ "mcpServers": { "far": entry } }).to_string();
    let launched = Heard::default();
    let launches = launched.clone();
    let options = GatewayOptions::new(ConfigVariables::none()).dialled_by(move |_, launch| {
        let Launch::Command(command) = launch else { panic!("no command") };
        launches.note(format!("{:?}", command.env));
        Arc::new(Fake::new(echo()))
    });
    let gateway = Gateway::with_options(&file(&text), options).unwrap();
    write("COLOUR=blue\n");
    let reloaded = gateway.reload_admitting(&file(&text), |_| {
        write("LD_PRELOAD=./evil.so\n");
        true
    });
    assert_eq!(reloaded.unwrap().started, ["far"]);
    assert_eq!(launched.take(), [r#"{"COLOUR": "red"}"#, r#"{"COLOUR": "blue"}"#]);
    // The new content has to be judged too.
    assert_eq!(gateway.newcomers(&file(&text)).len(), 1);
}

/// An entry that is stricter than before.
const STRICT: &str = r#"{ "mcpServers": { "far": { "command": "x", "args": ["a"],
    "tools": { "hide": ["hang"], "show": ["say", "hang"], "rename": { "say": "tell" } },
    "asks": true, "isolate": "caller", "instructions": false } } }"#;

#[tokio::test(start_paused = true)]
async fn stricter_rules_count_without_consent() {
    let (gateway, _) = fakes();
    let text = r#"{ "mcpServers": { "far": { "command": "x", "args": ["a"],
        "tools": { "hide": ["hang"] }, "asks": true, "isolate": "caller",
        "instructions": false } }, "gateway": { "baggage": false } }"#;
    assert_eq!(gateway.newcomers(&file(text)), []);
    assert_eq!(gateway.reload(&file(text)).unwrap().notes, []);
    let caller = connect(&bridge(gateway, None), ways().next().unwrap(), |it| it).await;
    let tools = caller.tools().all().await.unwrap();
    assert_eq!(tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["far__say"]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_expose_more_than_before_need_consent() {
    for (from, to, key) in [
        (r#""hide": ["hang"]"#, r#""hide": []"#, "tools.hide"),
        (r#""show": ["say", "hang"]"#, r#""show": ["say", "hang", "drop"]"#, "tools.show"),
        (r#""show": ["say", "hang"], "#, "", "tools.show"),
        (r#""say": "tell""#, r#""say": "shout""#, "tools.rename"),
        (r#""asks": true"#, r#""asks": false"#, "asks"),
        (r#""isolate": "caller", "#, "", "isolate"),
        (r#""instructions": false"#, r#""instructions": false, "share": "all""#, "share"),
        (r#""instructions": false"#, r#""instructions": true"#, "instructions"),
        (r#""asks": true"#, r#""asks": true, "namespace": "git""#, "namespace"),
        ("} } }", r#"} }, "gateway": { "baggage": true } }"#, "gateway.baggage"),
    ] {
        let gateway = gateway(STRICT, [("far", Fake::new(echo()))]);
        let text = STRICT.replacen(from, to, 1);
        let newcomers = gateway.newcomers(&file(&text));
        assert_eq!(newcomers.len(), 1, "{key}");
        assert_eq!(gateway.loosened(&file(&text), &newcomers[0]), [key]);
        let reloaded = gateway.reload(&file(&text)).unwrap();
        let note = reloaded.notes[0].to_string();
        assert!(note.contains(&format!("changes `{key}`, and would expose more")), "{note}");
        assert_eq!((reloaded.stopped, names(&gateway).len()), (vec!["far".to_owned()], 0));
        // What the user named at the start is known still.
        assert_eq!(gateway.reload(&file(STRICT)).unwrap().notes, []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_back_to_looser_rules_of_the_start_needs_consent() {
    let (gateway, _) = fakes();
    assert_eq!(gateway.reload(&file(STRICT)).unwrap().notes.len(), 1, "the new name is exposed");
    let hides = ONE.replacen(r#"["a"]"#, r#"["a"], "tools": { "hide": ["hang"] }"#, 1);
    assert_eq!(gateway.reload(&file(&hides)).unwrap().notes, []);
    assert_eq!(gateway.newcomers(&file(ONE)).len(), 1);
    let reloaded = gateway.reload_admitting(&file(ONE), |_| true).unwrap();
    assert_eq!(reloaded.notes, []);
    assert_eq!(gateway.newcomers(&file(ONE)), []);
}

/// Settings of the gateway that keep the instructions of servers from models count for each of them.
#[tokio::test(start_paused = true)]
async fn instructions_that_reach_models_again_need_consent() {
    let silent = ONE.replacen("] } } }", r#"] } }, "gateway": { "instructions": false } }"#, 1);
    let gateway = gateway(&silent, [("far", Fake::new(echo()))]);
    assert_eq!(gateway.loosened(&file(ONE), &file(ONE).entries[0]), ["instructions"]);
    assert_eq!(gateway.reload(&file(ONE)).unwrap().notes.len(), 1);
}
