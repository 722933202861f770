//! Starts every example as a user would, and calls it with our client in both eras.
//!
//! `cargo test` builds the programs with this test, beside it in the target directory.

#[allow(dead_code, unreachable_pub, reason = "these tests need a part of it")]
#[path = "../../tests/src/process.rs"]
mod process;

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bowline::client::{Change, ClientBuilder};
use bowline::types::Reference;
use bowline::types::Revision;
use bowline::{Client, Command};
use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint, UserAgent};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Child;

use self::process::{HeldPort, RedisServer};

/// Makes one test for each example, and the list of their names.
macro_rules! examples {
    ($($name:ident,)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                works::$name().await;
            }
        )*

        const EXAMPLES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    apps,
    ask_the_user,
    axum_auth,
    client,
    echo,
    extension,
    hello_server,
    http_server,
    hub,
    live_registry,
    login,
    plain_function,
    progress,
    protected_server,
    replicas,
    resources_and_prompts,
    skills,
    state_and_layers,
    task_client,
    tasks,
    tested_server,
    tour,
    traces,
}

#[test]
fn no_example_is_forgotten() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let sources = files.filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let names = sources.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    let found: BTreeSet<_> = names.filter(|name| name != "lib").collect();
    let tested: BTreeSet<_> = EXAMPLES.iter().map(ToString::to_string).collect();
    assert_eq!(found, tested);
    let contents = std::fs::read_to_string(directory.join("lib.rs")).unwrap();
    for name in tested {
        assert!(contents.contains(&format!("//! | `{name}` |")), "lib.rs does not list `{name}`");
    }
}

const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// The program of an example.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(name);
    assert!(program.exists(), "`{name}` is not built; run `cargo build --examples` first");
    program
}

/// Starts an example and connects a client with settings of the test.
async fn start_as(
    command: Command,
    revision: Revision,
    describe: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Client {
    let builder = describe(Client::builder("examples", "1.0.0").tasks()).revisions([revision]);
    builder.connect(command).await.unwrap()
}

/// Starts an example and connects a client.
async fn start(name: &str, revision: Revision) -> Client {
    start_as(Command::new(program(name)), revision, |builder| builder).await
}

/// A program that listens on a port, which no other program gets. It ends with this value.
struct Listening {
    _child: Child,
    _port: HeldPort,
}

/// Starts an example that serves HTTP. Returns the URL of its endpoint too.
async fn start_http(name: &str) -> (Listening, String) {
    start_http_with(name, &[]).await
}

/// The same, with arguments after the address.
async fn start_http_with(name: &str, arguments: &[&str]) -> (Listening, String) {
    let port = HeldPort::new(0).unwrap();
    let address = port.address().unwrap();
    let mut command = tokio::process::Command::new(program(name));
    command.arg(address.to_string()).args(arguments);
    let child = process::start(&mut command, address).await.unwrap();
    (Listening { _child: child, _port: port }, format!("http://{address}/mcp"))
}

/// The answer to a GET of a path on the server of a URL, as it is sent.
async fn get(url: &str, path: &str) -> String {
    let host = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn text(client: &Client, tool: &str, arguments: Value) -> String {
    client.call(tool, arguments).await.unwrap().into_result().unwrap().text()
}

/// Runs a program that is no server, and returns its standard error.
async fn run(name: &str, arguments: &[&str]) -> String {
    let mut command = tokio::process::Command::new(program(name));
    let output = command.args(arguments).kill_on_drop(true).output();
    let output = tokio::time::timeout(Duration::from_secs(60), output).await.unwrap().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// One check per example, under the name of the example.
mod works {
    use super::*;

    pub(super) async fn extension() {
        let said = run("extension", &[]).await;
        assert_eq!(said, "shelf 1\nshelf 2\nshelf 3\nAll about knots, Knots and splices\n");
    }

    pub(super) async fn traces() {
        let said = run("traces", &[]).await;
        assert!(said.contains("Server tools/call add\nClient tools/call add\n"), "{said}");
    }

    pub(super) async fn hello_server() {
        for revision in BOTH {
            let client = start("hello_server", revision).await;
            assert_eq!(text(&client, "add", json!({ "a": 40, "b": 2 })).await, "42");
            let tools = client.tools().all().await.unwrap();
            assert_eq!(tools[0].description.as_deref(), Some("Add two numbers"));
            client.close().await;
        }
    }

    pub(super) async fn http_server() {
        let (_child, url) = start_http("http_server").await;
        for revision in BOTH {
            let builder = Client::builder("examples", "1.0.0").revisions([revision]);
            let client = builder.http(&url).connect().await.unwrap();
            assert_eq!(text(&client, "add", json!({ "a": 40, "b": 2 })).await, "42");
            client.close().await;
        }
    }

    pub(super) async fn axum_auth() {
        let (_child, url) = start_http("axum_auth").await;
        for revision in BOTH {
            for user in ["ada", "grace"] {
                let builder = Client::builder("examples", "1.0.0").revisions([revision]).http(&url);
                let builder = builder.header("Authorization", &format!("Bearer token-of-{user}"));
                let client = builder.connect().await.unwrap();
                assert_eq!(text(&client, "whoami", json!({})).await, user);
                client.close().await;
            }
        }
        let refused = Client::http(&url).connect().await.unwrap_err();
        assert!(refused.to_string().contains("401"), "{refused}");
    }

    pub(super) async fn protected_server() {
        let authority = AuthorizationServer::start().await;
        let (_child, url) = start_http_with("protected_server", &[authority.issuer()]).await;
        let token = |scopes: &[&str]| {
            let scopes = scopes.iter().copied();
            authority.token().subject("ann").audience(&url).scopes(scopes).build()
        };
        for revision in BOTH {
            let connect = |token: Option<String>| {
                let builder = Client::builder("examples", "1.0.0").revisions([revision]).http(&url);
                match token {
                    Some(token) => builder.header("Authorization", &format!("Bearer {token}")),
                    None => builder,
                }
            };
            let client = connect(Some(token(&["mcp", "admin"]))).connect().await.unwrap();
            assert_eq!(text(&client, "whoami", json!({})).await, "ann");
            assert_eq!(text(&client, "purge", json!({})).await, "gone");
            client.close().await;
            let client = connect(Some(token(&["mcp"]))).connect().await.unwrap();
            assert_eq!(text(&client, "whoami", json!({})).await, "ann");
            let refused = client.call("purge", json!({})).await.unwrap_err().to_string();
            assert!(refused.contains("403"), "{refused}");
            client.close().await;
            let wrong = Some("wrong".to_owned());
            for (token, status) in [(None, "401"), (Some(token(&[])), "403"), (wrong, "401")] {
                let refused = connect(token).connect().await.unwrap_err().to_string();
                assert!(refused.contains(status), "{refused}");
            }
        }
        let challenged = get(&url, "/mcp").await;
        assert!(challenged.starts_with("HTTP/1.1 401 "), "{challenged}");
        let metadata = "/.well-known/oauth-protected-resource/mcp";
        let address = url.strip_suffix("/mcp").unwrap();
        let challenge = format!("Bearer resource_metadata=\"{address}{metadata}\", scope=\"mcp\"");
        assert!(challenged.contains(&challenge), "{challenged}");
        let document = get(&url, metadata).await;
        assert!(document.starts_with("HTTP/1.1 200 "), "{document}");
        let issuers = format!("\"authorization_servers\":[\"{}\"]", authority.issuer());
        assert!(document.contains(&issuers), "{document}");
    }

    pub(super) async fn plain_function() {
        for revision in BOTH {
            let client = start("plain_function", revision).await;
            let outcome = client.call("add", json!({ "a": 40, "b": 2 })).await.unwrap();
            assert_eq!(outcome.parse::<Value>().unwrap(), json!({ "sum": 42 }));
            client.close().await;
        }
    }

    pub(super) async fn state_and_layers() {
        for revision in BOTH {
            let client = start("state_and_layers", revision).await;
            let found = client.call("search", json!({ "query": "B" })).await.unwrap();
            assert_eq!(found.parse::<Vec<String>>().unwrap(), ["Bergen"]);
            assert_eq!(text(&client, "people", json!({ "name": "Oslo" })).await, "717710");
            let unknown = client.call("people", json!({ "name": "Rome" })).await.unwrap();
            assert!(unknown.is_error());
            assert!(unknown.text().contains("search for one first"), "{}", unknown.text());
            client.close().await;
        }
    }

    pub(super) async fn live_registry() {
        for revision in BOTH {
            let client = start("live_registry", revision).await;
            learns(&client, "").await;
            assert_eq!(text(&client, "forget", json!({ "word": "ahoy" })).await, "forgotten");
            assert!(client.call("ahoy", ()).await.is_err());
            client.close().await;
        }
    }

    /// A parrot learns a word, and its client is notified.
    async fn learns(client: &Client, prefix: &str) {
        let subscribe = client.subscribe().tools().resource("parrot://last");
        let mut changes = subscribe.open().await.unwrap();
        assert!(changes.missing().is_empty());
        let learned = text(client, &format!("{prefix}learn"), json!({ "word": "ahoy" })).await;
        assert_eq!(learned, "learned `ahoy`");
        let mut told = Vec::new();
        while told.len() < 2 {
            told.push(changes.next().await.unwrap().unwrap());
        }
        assert!(told.contains(&Change::Tools), "{told:?}");
        assert!(told.contains(&Change::Resource("parrot://last".to_owned())), "{told:?}");
        assert_eq!(text(client, &format!("{prefix}ahoy"), json!({})).await, "ahoy");
        assert_eq!(client.read("parrot://last").await.unwrap().text(), "ahoy");
    }

    pub(super) async fn progress() {
        for revision in BOTH {
            let client = start("progress", revision).await;
            let mut steps = Vec::new();
            let files = json!({ "files": ["a", "b"] });
            let report = client
                .call("process", files.clone())
                .progress(|step| steps.push((step.progress, step.total, step.message)))
                .await
                .unwrap();
            assert_eq!(report.text(), "processed 2 files");
            let step = |progress, file: &str| (progress, Some(2.0), Some(file.to_owned()));
            assert_eq!(steps, [step(1.0, "a"), step(2.0, "b")]);
            cancels(&client).await;
            assert_eq!(text(&client, "process", files).await, "processed 2 files");
            client.close().await;
        }
    }

    pub(super) async fn apps() {
        for revision in BOTH {
            let host = start_as(Command::new(program("apps")), revision, ClientBuilder::ui).await;
            let tools = host.tools().for_model().all().await.unwrap();
            let [forecast] = &tools[..] else { panic!("{tools:?}") };
            let uri = forecast.ui().unwrap().resource_uri.unwrap();
            let view = host.view(&uri).await.unwrap();
            assert!(view.html().contains("ui/notifications/tool-result"));
            assert_eq!(view.settings().prefers_border, Some(true));
            let now = view.call("refresh", ()).await.unwrap();
            assert_eq!(now.text(), r#"{"degrees":22.0}"#);
            host.close().await;
            let plain = start("apps", revision).await;
            let city = json!({ "city": "Oslo" });
            assert_eq!(text(&plain, "forecast", city).await, r#"{"degrees":21.5}"#);
            assert_eq!(plain.tools().all().await.unwrap().len(), 1);
            plain.close().await;
        }
    }

    pub(super) async fn skills() {
        for revision in BOTH {
            let client = start("skills", revision).await;
            let skills = client.skills().all().await.unwrap();
            let [skill] = &skills[..] else { panic!("{skills:?}") };
            assert_eq!(skill.name(), "refunds");
            let loaded = client.load_skill(skill).await.unwrap();
            assert!(loaded.text().contains("# Refunds"));
            let limits = loaded.read("references/limits.md").await.unwrap();
            assert!(limits.text().contains("| DE | 100 |"));
            client.close().await;
        }
    }

    pub(super) async fn tasks() {
        for revision in BOTH {
            let client = start("tasks", revision).await;
            assert_eq!(text(&client, "slow", json!({ "steps": 2 })).await, "done");
            client.close().await;
        }
    }

    /// Begins a call that would take an hour, and drops it.
    async fn cancels(client: &Client) {
        let (sender, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let files = vec!["a"; 5 * 3600];
        let call = client.call("process", json!({ "files": files }));
        tokio::select! {
            outcome = call.progress(|step| _ = sender.send(step)) => panic!("{outcome:?}"),
            step = begun.recv() => assert!(step.is_some()),
        }
    }

    pub(super) async fn ask_the_user() {
        for revision in BOTH {
            for (agrees, booked) in [(true, "Booked: Oslo in 3 days"), (false, "Not booked")] {
                let command = Command::new(program("ask_the_user"));
                let client = start_as(command, revision, |builder| {
                    builder.on_ask(move |question| async move {
                        match question.message() {
                            "Where and when?" => {
                                question.accept(json!({ "city": "Oslo", "days": 3 }))
                            }
                            // The seat was held once, however often the tool ran.
                            "44 EUR, book it?" => question.accept(agrees),
                            other => panic!("{other}"),
                        }
                    })
                })
                .await;
                assert_eq!(text(&client, "book", json!({})).await, booked);
                client.close().await;
            }
        }
    }

    pub(super) async fn resources_and_prompts() {
        for revision in BOTH {
            let client = start("resources_and_prompts", revision).await;
            assert_eq!(client.resources().all().await.unwrap().len(), 1);
            assert_eq!(client.read("config://app").await.unwrap().text(), "log_level=info");
            let profile = client.read("users://42/profile").await.unwrap().text();
            let profile: Value = serde_json::from_str(&profile).unwrap();
            assert_eq!(profile, json!({ "id": "42", "name": "Ada" }));
            let template = Reference::resource("users://{user_id}/profile");
            let completion = client.complete(template).argument("user_id", "4").await.unwrap();
            assert_eq!(completion.values(), ["42"]);
            let review = client.prompt("review").argument("language", "Rust").await.unwrap();
            let said = review.messages[0].content.as_text();
            assert_eq!(said, Some("Review this Rust code for everything."));
            client.close().await;
        }
    }

    pub(super) async fn client() {
        let [add, process, deploy] = ["hello_server", "progress", "tested_server"].map(program);
        let path = |program: &Path| program.to_str().unwrap().to_owned();
        assert_eq!(run("client", &["add", r#"{"a":40,"b":2}"#, &path(&add)]).await, "42\n");
        let said = run("client", &["process", r#"{"files":["a"]}"#, &path(&process)]).await;
        assert_eq!(said, "1 a\nprocessed 1 files\n");
        let said = run("client", &["deploy", r#"{"env":"prod"}"#, &path(&deploy)]).await;
        assert!(said.starts_with("it asks: Deploy to prod?\n"), "{said}");
    }

    pub(super) async fn task_client() {
        let server = program("tasks");
        let arguments = ["slow", r#"{"steps":2}"#, server.to_str().unwrap()];
        let said = run("task_client", &arguments).await;
        assert!(said.starts_with("started ") && said.contains("\nstep "), "{said}");
        assert!(said.ends_with("\ndone\n"), "{said}");
    }

    /// One alone; `tests/tests/three_replicas.rs` has several of them.
    pub(super) async fn replicas() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys");
        std::fs::write(&keys, "a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2U=").unwrap();
        std::fs::set_permissions(&keys, Permissions::from_mode(0o600)).unwrap();
        let redis = RedisServer::start().await.unwrap();
        let url_of_redis = redis.url();
        let arguments = [url_of_redis.as_str(), keys.to_str().unwrap()];
        let (_child, url) = start_http_with("replicas", &arguments).await;
        for revision in BOTH {
            let builder = Client::builder("examples", "1.0.0").revisions([revision]);
            let builder = builder.on_ask(|question| async move { question.accept("Ada") });
            let client = builder.http(&url).connect().await.unwrap();
            let address = text(&client, "replica", json!({})).await;
            assert!(url.contains(&address), "{address}");
            assert_eq!(text(&client, "greet", json!({})).await, "Hello, Ada!");
            client.close().await;
        }
    }

    /// The user opens the page that the program prints.
    pub(super) async fn login() {
        let authority = AuthorizationServer::start().scopes(["mcp"]).await;
        let (_child, url) = start_http_with("protected_server", &[authority.issuer()]).await;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("logins");
        let arguments = [folder.to_str().unwrap(), &url, "whoami", "{}"];
        let mut command = tokio::process::Command::new(program("login"));
        // Without programs to find, no browser opens on the machine that runs this test.
        let command = command.args(arguments).env("PATH", "").kill_on_drop(true);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(page) = line.strip_prefix("  http") {
                UserAgent::Approves.open(&format!("http{page}")).await.unwrap();
            }
            said.push(line);
        }
        assert!(child.wait().await.unwrap().success(), "{said:?}");
        assert_eq!(said.first().unwrap(), "To log in, open this page:");
        assert_eq!(said.last().unwrap(), "ann");
        assert_eq!(run("login", &arguments).await, "ann\n", "the second run needs no login");
        assert_eq!(authority.requests_to(OAuthEndpoint::Authorize).len(), 1);
    }

    pub(super) async fn hub() {
        for revision in BOTH {
            let command = Command::new(program("hub")).arg(program("live_registry"));
            let client = start_as(command, revision, |builder| builder).await;
            let tools = client.tools().all().await.unwrap();
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["weather__forecast", "other__learn", "other__forget"]);
            let forecast = text(&client, "weather__forecast", json!({ "city": "Oslo" })).await;
            assert_eq!(forecast, "Oslo: rain");
            learns(&client, "other__").await;
            client.close().await;
        }
    }

    pub(super) async fn tested_server() {
        for revision in BOTH {
            let command = Command::new(program("tested_server"));
            let client = start_as(command, revision, |builder| {
                builder.on_ask(|question| async move { question.accept(true) })
            })
            .await;
            let deployed = text(&client, "deploy", json!({ "env": "prod" })).await;
            assert_eq!(deployed, "Deployed to prod");
            client.close().await;
        }
    }

    pub(super) async fn echo() {
        for revision in BOTH {
            let command = Command::new(program("echo")).arg("stdio");
            let client = start_as(command, revision, |builder| {
                builder.on_ask(|question| async move { question.accept("Ada") })
            })
            .await;
            assert_eq!(text(&client, "echo", json!({ "message": "ahoy" })).await, "ahoy");
            let sum = client.call("add", json!({ "a": 40, "b": 2 })).await.unwrap();
            assert_eq!(sum.parse::<Value>().unwrap(), json!({ "sum": 42 }));
            assert_eq!(text(&client, "greet", json!({})).await, "Hello, Ada!");
            assert_eq!(text(&client, "sleep", json!({ "seconds": 0.1 })).await, "slept 0.1 s");
            client.close().await;
        }
    }

    pub(super) async fn tour() {
        let said = run("tour", &[]).await;
        assert_eq!(said.matches("Hello, Ada!").count(), 2, "{said}");
    }
}
