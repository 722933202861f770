//! Mounted servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline_proto::request::{EveryResource, ReportedChange, Request};
use bowline_server::layer::{self, Audit, AuditRecord, Next};
use bowline_server::{
    Args, Ask, Error, Log, Progress, Prompt, Resource, Server, Tool, Typed, starting_with,
};
use bowline_types::id::ProgressToken;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;
use futures_util::poll;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer, accept, waiting_tool};

fn tool(name: &str) -> Tool {
    let said = name.to_owned();
    Tool::new(name, move || std::future::ready(said.clone()))
}

fn prompt(name: &str) -> Prompt {
    let said = name.to_owned();
    Prompt::new(name, move || std::future::ready(said.clone()))
}

fn resource(uri: &str, text: &'static str) -> Resource {
    Resource::new(uri, move || async move { text })
}

/// The server that is mounted in most tests.
fn weather() -> Server {
    let profile = Resource::template("weather://{city}", |city: String| async move { city })
        .complete("city", |typed: Typed| async move { starting_with(typed, ["Oslo", "Rome"]) });
    Server::new("weather", "1.0.0")
        .instructions("Call `forecast` first.")
        .tools([tool("forecast"), tool("now")])
        .prompt(prompt("plan"))
        .resource(resource("weather://all", "rain"))
        .resource(profile)
}

fn hub() -> Server {
    Server::new("hub", "1.0.0")
        .tool(tool("own"))
        .resource(resource("hub://own", "own"))
        .mount("weather", weather())
        .mount("b", Server::new("b", "1.0.0").tool(tool("now")).resource(resource("b://1", "one")))
}

/// What a list holds, page after page.
async fn listed(peer: &Peer, method: Method, member: &str, key: &str) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let page = peer.ask(method, params).await.unwrap();
        let items = page[member].as_array().unwrap();
        names.extend(items.iter().map(|item| item[key].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return names,
        }
    }
}

async fn tools(peer: &Peer) -> Vec<String> {
    listed(peer, Method::ToolsList, "tools", "name").await
}

// spec: TOOL-24
#[tokio::test]
async fn the_lists_of_all_are_one_in_the_order_of_mounting() {
    for revision in EVERY {
        let peer = Peer::new(&hub(), revision);
        assert_eq!(tools(&peer).await, ["own", "weather__forecast", "weather__now", "b__now"]);
        let prompts = listed(&peer, Method::PromptsList, "prompts", "name").await;
        assert_eq!(prompts, ["weather__plan"]);
        let resources = listed(&peer, Method::ResourcesList, "resources", "uri").await;
        assert_eq!(resources, ["hub://own", "weather://all", "b://1"]);
        let list = Method::ResourcesTemplatesList;
        let templates = listed(&peer, list, "resourceTemplates", "uriTemplate").await;
        assert_eq!(templates, ["weather://{city}"]);
    }
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_whatever_their_sizes() {
    let many = |name: &str, size: usize, count: usize| {
        let tools = (0..count).map(|number| tool(&format!("t{number}")));
        Server::new(name, "1.0.0").page_size(size).tools(tools)
    };
    for (own, size) in [(0, 1), (0, 3), (3, 2), (4, 2), (5, 100)] {
        let hub = many("hub", size, own).mount("a", many("a", 2, 5)).mount("b", many("b", 10, 3));
        let expected: Vec<_> = (0..own)
            .map(|number| format!("t{number}"))
            .chain((0..5).map(|number| format!("a__t{number}")))
            .chain((0..3).map(|number| format!("b__t{number}")))
            .collect();
        assert_eq!(tools(&Peer::new(&hub, Revision::LATEST)).await, expected, "{own} by {size}");
    }
}

#[tokio::test]
async fn a_cursor_that_no_list_gave_is_refused() {
    let peer = Peer::new(&hub(), Revision::LATEST);
    for cursor in ["", "nonsense", "WyJub2JvZHkiXQ"] {
        let error = peer.ask(Method::ToolsList, json!({ "cursor": cursor })).await.unwrap_err();
        assert_eq!(error.code, -32602, "{cursor}");
    }
}

#[tokio::test]
async fn what_is_called_by_its_qualified_name_gets_its_own() {
    for revision in BOTH {
        let peer = Peer::new(&hub(), revision);
        assert_eq!(peer.text("own", json!({})).await, "own");
        assert_eq!(peer.text("weather__forecast", json!({})).await, "forecast");
        assert_eq!(peer.text("b__now", json!({})).await, "now");
        let messages = peer.prompt("weather__plan", json!({})).await.unwrap();
        assert_eq!(messages[0]["content"]["text"], "plan");
        for name in ["forecast", "b__forecast", "c__now", "weather__weather__now", "__now"] {
            assert_eq!(peer.call(name, json!({})).await.unwrap_err().code, -32602, "{name}");
        }
    }
}

#[tokio::test]
async fn arguments_pass_through_as_they_came() {
    let raw = |Args(arguments): Args<Value>| async move { arguments.to_string() };
    let echo = Server::new("echo", "1.0.0").tool(Tool::new("raw", raw));
    let peer = Peer::new(&Server::new("hub", "1.0.0").mount("e", echo), Revision::LATEST);
    let arguments = json!({ "b": [1.5], "name": "é\"" });
    assert_eq!(peer.text("e__raw", arguments.clone()).await, arguments.to_string());
}

#[tokio::test]
async fn mounts_nest() {
    let outer = Server::new("outer", "1.0.0").mount("hub", hub());
    let peer = Peer::new(&outer, Revision::LATEST);
    let expected = ["hub__own", "hub__weather__forecast", "hub__weather__now", "hub__b__now"];
    assert_eq!(tools(&peer).await, expected);
    assert_eq!(peer.text("hub__weather__now", json!({})).await, "now");
    assert_eq!(peer.read_text("weather://Oslo").await, "Oslo");
}

// spec: RSRC-18, RSRC-19
#[tokio::test]
async fn a_resource_is_read_from_the_server_that_has_it() {
    for revision in BOTH {
        let peer = Peer::new(&hub(), revision);
        assert_eq!(peer.read_text("hub://own").await, "own");
        assert_eq!(peer.read_text("weather://all").await, "rain");
        assert_eq!(peer.read_text("weather://Oslo").await, "Oslo");
        assert_eq!(peer.read_text("b://1").await, "one");
        let error = peer.read("c://1").await.unwrap_err();
        assert_eq!(
            error.code,
            if revision.has_resource_not_found_code() { -32002 } else { -32602 }
        );
        assert_eq!(error.data.unwrap().as_str(), r#"{"uri":"c://1"}"#);
    }
}

#[tokio::test]
async fn of_two_resources_at_the_same_uri_the_first_counts() {
    let other = |text| Server::new("other", "1.0.0").resource(resource("a://b", text));
    let mounted = || Server::new("hub", "1.0.0").mount("x", other("x")).mount("y", other("y"));
    assert_eq!(Peer::new(&mounted(), Revision::LATEST).read_text("a://b").await, "x");
    let owned = mounted().resource(resource("a://b", "own"));
    assert_eq!(Peer::new(&owned, Revision::LATEST).read_text("a://b").await, "own");
}

#[tokio::test]
async fn an_own_resource_that_is_hidden_is_not_replaced_by_another() {
    let other = Server::new("other", "1.0.0").resource(resource("a://b", "theirs"));
    let own = resource("a://b", "ours").visible(|_| false);
    let hub = Server::new("hub", "1.0.0").resource(own).mount("other", other);
    assert!(Peer::new(&hub, Revision::LATEST).read("a://b").await.is_err());
}

#[tokio::test]
async fn arguments_are_completed_by_the_server_that_takes_them() {
    let peer = Peer::new(&hub(), Revision::LATEST);
    let complete = |reference: Value| {
        let params = json!({ "ref": reference, "argument": { "name": "city", "value": "O" } });
        peer.ask(Method::CompletionComplete, params)
    };
    let template = json!({ "type": "ref/resource", "uri": "weather://{city}" });
    assert_eq!(complete(template).await.unwrap()["completion"]["values"], json!(["Oslo"]));
    for unknown in [
        json!({ "type": "ref/resource", "uri": "b://{city}" }),
        json!({ "type": "ref/prompt", "name": "c__plan" }),
        // It is there, but takes no such argument.
        json!({ "type": "ref/prompt", "name": "weather__plan" }),
    ] {
        assert_eq!(complete(unknown).await.unwrap_err().code, -32602);
    }
}

#[tokio::test]
async fn what_a_mounted_tool_reports_reaches_the_caller() {
    let work = |progress: Progress, log: Log| async move {
        log.warning("slow");
        progress.report(1.0, Some(2.0), "half");
        "done"
    };
    let worker = Server::new("worker", "1.0.0").tool(Tool::new("work", work));
    let mut peer = Peer::new(&Server::new("hub", "1.0.0").mount("w", worker), Revision::LATEST);
    peer.progress = Some(ProgressToken(1.into()));
    peer.log_level = Some(bowline_types::deprecated::logging::LoggingLevel::Debug);
    assert_eq!(peer.text("w__work", json!({})).await, "done");
    assert_eq!(peer.inbox.progress().len(), 1);
    assert_eq!(peer.inbox.logs().len(), 1);
}

#[tokio::test]
async fn a_mounted_tool_asks_the_caller_in_both_eras() {
    let deploy = |ask: Ask| async move {
        let sure = ask.confirm("Deploy?").await?;
        Ok::<_, Error>(if sure { "deployed" } else { "not deployed" })
    };
    let deployer = Server::new("deployer", "1.0.0").tool(Tool::new("deploy", deploy));
    let hub = Server::new("hub", "1.0.0").mount("d", deployer);

    let legacy = Peer::with_forms(&hub, Revision::LATEST_LEGACY);
    legacy.inbox.answer(Ok(accept(&json!({ "confirm": true }))));
    let said = legacy.text("d__deploy", json!({})).await;
    assert_eq!(legacy.inbox.questions().len(), 1);

    let modern = Peer::with_forms(&hub, Revision::LATEST);
    let (questions, state) = modern.round("d__deploy", json!({}), json!({}), None).await.asks();
    let [(key, message)] = questions.as_slice() else { panic!("{questions:?}") };
    assert_eq!(message, "Deploy?");
    let answers = json!({ key: accept(&json!({ "confirm": true })) });
    let round = modern.round("d__deploy", json!({}), answers, Some(&state)).await;
    assert_eq!(round.text(), said);
    assert_eq!(said, "deployed");
}

#[tokio::test]
async fn dropping_a_call_drops_the_mounted_tool() {
    let (wait, dropped) = waiting_tool();
    let slow = Server::new("slow", "1.0.0").tool(wait);
    let peer = Peer::new(&Server::new("hub", "1.0.0").mount("s", slow), Revision::LATEST);
    let mut call = peer.begin(peer.request(Method::ToolsCall, &json!({ "name": "s__wait" })));
    assert!(poll!(&mut call).is_pending());
    drop(call);
    assert!(dropped.await.is_err());
}

#[tokio::test]
async fn changes_of_all_servers_are_reported_and_acknowledged_once() {
    let other = weather();
    let (registry, notify) = (other.registry(), other.notify());
    let hub = Server::new("hub", "1.0.0")
        .resource(resource("hub://own", "own"))
        .mount("weather", other)
        .mount("b", Server::new("b", "1.0.0").resource(resource("b://1", "one")));
    let peer = Peer::new(&hub, Revision::LATEST);
    let uris = ["hub://own", "weather://all", "c://none"];
    let wish = json!({ "toolsListChanged": true, "resourceSubscriptions": uris });
    let params = json!({ "notifications": wish });
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &params));
    assert!(poll!(&mut listening).is_pending());
    let changes = peer.inbox.changes();
    let [ReportedChange::Acknowledged(filter)] = changes.as_slice() else { panic!("{changes:?}") };
    assert!(filter.tools_list_changed);
    assert_eq!(filter.resource_subscriptions, ["hub://own", "weather://all"]);

    registry.insert(tool("new")).unwrap();
    notify.resource_updated("weather://all");
    notify.prompts_changed();
    hub.notify().resource_updated("hub://own");
    assert!(poll!(&mut listening).is_pending());
    let told = peer.inbox.changes();
    let expected = [
        ReportedChange::Tools,
        ReportedChange::Resource("hub://own".to_owned()),
        ReportedChange::Resource("weather://all".to_owned()),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_subscription_to_many_resources_reads_each_list_once() {
    let listed = Arc::new(AtomicUsize::new(0));
    let count = listed.clone();
    let audit = Audit::new(move |record: AuditRecord| {
        let is_list =
            matches!(record.method, Method::ResourcesList | Method::ResourcesTemplatesList);
        count.fetch_add(usize::from(is_list), Ordering::Relaxed);
    });
    let hub = Server::new("hub", "1.0.0")
        .mount("weather", weather().layer(audit))
        .mount("b", Server::new("b", "1.0.0").resource(resource("b://1", "one")));
    let peer = Peer::new(&hub, Revision::LATEST);
    let uris: Vec<_> = (0..50).map(|number| format!("weather://{number}")).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": &uris } });
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &params));
    assert!(poll!(&mut listening).is_pending());
    let changes = peer.inbox.changes();
    let [ReportedChange::Acknowledged(filter)] = changes.as_slice() else { panic!("{changes:?}") };
    assert_eq!(filter.resource_subscriptions, uris);
    assert_eq!(listed.load(Ordering::Relaxed), 2, "one of resources, and one of templates");
}

#[tokio::test]
async fn a_session_hears_of_every_resource_of_all() {
    let other = weather();
    let notify = other.notify();
    let hub = Server::new("hub", "1.0.0").mount("weather", other);
    let peer = Peer::new(&hub, Revision::LATEST_LEGACY);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut request = peer.request(Method::SubscriptionsListen, &params);
    request.parts.extensions.insert(EveryResource);
    let mut listening = peer.begin(request);
    assert!(poll!(&mut listening).is_pending());
    peer.ask(Method::ResourcesSubscribe, json!({ "uri": "weather://all" })).await.unwrap();
    assert!(peer.ask(Method::ResourcesSubscribe, json!({ "uri": "c://d" })).await.is_err());
    notify.resource_updated("weather://all");
    assert!(poll!(&mut listening).is_pending());
    let told = peer.inbox.changes();
    assert_eq!(told.last(), Some(&ReportedChange::Resource("weather://all".to_owned())));
}

/// The subscription of the client must neither wait nor fail.
#[tokio::test(start_paused = true)]
async fn a_mounted_server_that_does_not_acknowledge_a_subscription_holds_it_up_for_seconds_only() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let held = gate.clone();
    let hold = layer::from_fn(move |request: Request, next: Next| {
        let (gate, is_listen) = (held.clone(), request.parts.method == Method::SubscriptionsListen);
        async move {
            if is_listen {
                gate.acquire_owned().await.unwrap().forget();
            }
            next.run(request).await
        }
    });
    let hub = Server::new("hub", "1").tool(tool("own"));
    let own = hub.notify();
    let hub = hub.mount("o", Server::new("other", "1").tool(tool("other")).layer(hold));
    let peer = Peer::new(&hub, Revision::LATEST);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listening = peer.begin(peer.request(Method::SubscriptionsListen, &params));
    let listening = tokio::spawn(listening);
    tokio::time::sleep(Duration::from_secs(6)).await;
    let all = SubscriptionFilter::new().with_tools_list_changed();
    assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(all)]);
    own.tools_changed();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(peer.inbox.changes(), [ReportedChange::Tools]);
    // What changed before the server began to report is not known.
    gate.add_permits(1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(peer.inbox.changes(), [ReportedChange::Tools]);
    listening.abort();
}

#[tokio::test]
async fn what_a_mounted_server_hides_stays_hidden() {
    let secret = tool("secret").visible(|caller| caller.owner.identity().is_some());
    let other = Server::new("other", "1.0.0").tools([secret, tool("open")]);
    let peer = Peer::new(&Server::new("hub", "1.0.0").mount("o", other), Revision::LATEST);
    assert_eq!(tools(&peer).await, ["o__open"]);
    assert!(peer.call("o__secret", json!({})).await.is_err());
}

#[tokio::test]
async fn capabilities_and_instructions_are_those_of_all() {
    let peer = Peer::new(&hub().instructions("Ask the hub."), Revision::LATEST);
    let said = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
    for member in ["tools", "prompts", "resources", "completions"] {
        assert!(said["capabilities"].get(member).is_some(), "{member}: {said}");
    }
    let instructions = said["instructions"].as_str().unwrap();
    assert!(instructions.starts_with("Ask the hub.\n\n"), "{instructions}");
    assert!(instructions.contains("`weather__`:\nCall `forecast` first."), "{instructions}");
}

#[tokio::test]
async fn a_server_that_only_stands_for_others_offers_what_they_do() {
    let hub = Server::new("hub", "1.0.0").mount("weather", weather());
    let peer = Peer::new(&hub, Revision::LATEST);
    assert_eq!(tools(&peer).await, ["weather__forecast", "weather__now"]);
    let bare = Server::new("hub", "1.0.0").mount("b", Server::new("b", "1.0.0").tool(tool("a")));
    let peer = Peer::new(&bare, Revision::LATEST);
    for method in [Method::PromptsList, Method::ResourcesList, Method::ResourcesTemplatesList] {
        assert_eq!(peer.ask(method, json!({})).await.unwrap_err().code, -32601);
    }
}

#[test]
fn a_mount_that_is_impossible_is_reported_when_the_server_is_built() {
    let hub = || Server::new("hub", "1.0.0");
    let reason = |server: Server| server.build().unwrap_err().to_string();
    let twice = hub().mount("a", weather()).mount("a", weather());
    assert!(twice.build().unwrap_err().is_duplicate());
    assert!(reason(hub().mount("a__b", weather())).contains("namespace `a__b`"));
    let broken = Server::new("broken", "1.0.0").tools([tool("a"), tool("a")]);
    let reason = reason(hub().mount("b", broken));
    assert_eq!(reason, "the server mounted as `b`: two tools are named `a`");
}

#[test]
fn a_name_inside_of_a_mounted_namespace_cannot_be_taken() {
    let before = Server::new("hub", "1.0.0").tool(tool("weather__x")).mount("weather", weather());
    assert!(before.build().unwrap_err().is_duplicate());
    let hub = hub();
    assert!(hub.registry().insert(tool("weather__x")).unwrap_err().is_duplicate());
    assert!(hub.registry().insert(prompt("weather__x")).unwrap_err().is_duplicate());
    assert!(hub.registry().insert(tool("weather_x")).is_ok());
}
