//! Features that need scopes: which callers find them, and which may use them.

use bowline_proto::request::{Access, Extensions, ReportedChange, Request};
use bowline_proto::upstream::Upstream as _;
use bowline_server::layer::{Next, from_fn};
use bowline_server::{Claims, Prompt, Resource, Server, Tool, Typed};
use bowline_types::error::{ErrorObject, code};
use bowline_types::method::Method;
use bowline_types::prompt::PromptArgument;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;
use futures_util::poll;
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer};
use crate::wire::{Wire, modern, request};

/// Every set of two scopes, written as a list.
const SETS: [&str; 4] = ["", "a", "b", "a b"];

/// The scopes that a feature requires, and those that it asks for in a step-up.
type Rules = (&'static str, &'static str);

fn every_rule() -> impl Iterator<Item = Rules> {
    SETS.into_iter().flat_map(|required| SETS.into_iter().map(move |step_up| (required, step_up)))
}

fn word(list: &str) -> String {
    if list.is_empty() { "none".to_owned() } else { list.replace(' ', "-") }
}

/// The name of the feature with these rules.
fn named((required, step_up): Rules) -> String {
    format!("{}.{}", word(required), word(step_up))
}

/// Sets the rules of a tool, a prompt or a resource.
macro_rules! ruled {
    ($feature:expr, $rules:expr) => {{
        let mut feature = $feature;
        let (required, step_up) = $rules;
        if !required.is_empty() {
            feature = feature.require_scope(required);
        }
        if !step_up.is_empty() {
            feature = feature.step_up_scope(step_up);
        }
        feature
    }};
}

fn suggest(_: Typed) -> std::future::Ready<[&'static str; 1]> {
    std::future::ready(["x"])
}

fn tool(rules: Rules) -> Tool {
    ruled!(Tool::new(named(rules), || async { "done" }), rules)
}

fn resource(rules: Rules) -> Resource {
    ruled!(Resource::new(format!("one://{}", named(rules)), || async { "done" }), rules)
}

fn family(rules: Rules) -> Resource {
    let family = Resource::template(format!("{}://{{x}}", named(rules)), |x: String| async { x });
    ruled!(family.complete("x", suggest), rules)
}

fn prompt(rules: Rules) -> Prompt {
    let prompt = Prompt::new(named(rules), || async { "done" });
    ruled!(prompt.argument(PromptArgument::new("x")).complete("x", suggest), rules)
}

/// A server with a feature of each kind for each rule.
fn server() -> Server {
    Server::new("scoped", "1")
        .tools(every_rule().map(tool))
        .resources(every_rule().map(resource))
        .resources(every_rule().map(family))
        .prompts(every_rule().map(prompt))
}

/// A caller with these scopes.
fn granted(server: &Server, revision: Revision, scopes: &str) -> Peer {
    let mut peer = Peer::new(server, revision);
    peer.access = Access::to(scopes.split_whitespace());
    peer
}

/// A way to use a feature, and the member by which a list has it.
struct Use {
    method: Method,
    params: Value,
    list: Method,
    member: String,
}

/// All ways to use the features of a name.
fn uses(name: &str) -> Vec<Use> {
    use Method::{
        CompletionComplete, PromptsList, ResourcesList, ResourcesTemplatesList, ToolsList,
    };
    let of = |method, params: Value, list, key: &str, value: &str| Use {
        method,
        params,
        list,
        member: format!("\"{key}\":\"{value}\""),
    };
    let complete =
        |reference: Value| json!({ "ref": reference, "argument": { "name": "x", "value": "" } });
    let (one, family) = (format!("one://{name}"), format!("{name}://{{x}}"));
    let named = json!({ "name": name });
    let (at_one, at_family) = (json!({ "uri": one }), json!({ "uri": format!("{name}://1") }));
    let of_prompt = complete(json!({ "type": "ref/prompt", "name": name }));
    let of_family = complete(json!({ "type": "ref/resource", "uri": family }));
    vec![
        of(Method::ToolsCall, named.clone(), ToolsList, "name", name),
        of(Method::ResourcesRead, at_one.clone(), ResourcesList, "uri", &one),
        of(Method::ResourcesSubscribe, at_one, ResourcesList, "uri", &one),
        of(Method::ResourcesRead, at_family, ResourcesTemplatesList, "uriTemplate", &family),
        of(Method::PromptsGet, named, PromptsList, "name", name),
        of(CompletionComplete, of_prompt, PromptsList, "name", name),
        of(CompletionComplete, of_family, ResourcesTemplatesList, "uriTemplate", &family),
    ]
}

fn has_all(granted: &str, needed: &str) -> bool {
    needed.split_whitespace().all(|scope| granted.split_whitespace().any(|has| has == scope))
}

// spec: TOOL-43, CACHE-24
#[tokio::test]
async fn list_equals_call() {
    let server = server();
    for (revision, scopes) in BOTH.into_iter().flat_map(|it| SETS.map(|set| (it, set))) {
        let peer = granted(&server, revision, scopes);
        for rules @ (required, step_up) in every_rule() {
            for Use { method, params, list, member } in uses(&named(rules)) {
                let context = format!("{method} {params} with {scopes:?} in {revision}");
                let list = peer.ask(list, json!({})).await.unwrap().to_string();
                let outcome = peer.ask(method, params).await;
                let (is_listed, is_callable) = (list.contains(&member), outcome.is_ok());
                assert_eq!(is_listed, has_all(scopes, required), "{context}");
                assert_eq!(is_callable, is_listed && has_all(scopes, step_up), "{context}");
                if let Err(error) = outcome {
                    assert_eq!(error.code, code::INSUFFICIENT_SCOPE, "{context}: {error}");
                }
            }
        }
    }
}

// spec: SCOPE-11
#[tokio::test]
async fn a_refusal_names_all_scopes_that_the_feature_needs() {
    let tool = Tool::new("purge", || async { "gone" }).require_scope("mcp admin");
    let server = Server::new("scoped", "1").tool(tool.step_up_scope("purge").require_scope("mcp"));
    for scopes in ["", "mcp", "mcp admin", "purge"] {
        let peer = granted(&server, Revision::LATEST, scopes);
        let error = peer.call("purge", json!({})).await.unwrap_err();
        let expected = "the tool `purge` needs the scopes `mcp`, `admin`, `purge`, which were not \
                        all granted";
        assert_eq!(error.message, expected);
        let needed = json!({ "requiredScopes": ["mcp", "admin", "purge"] });
        assert_eq!(error.parse_data::<Value>(), Some(needed));
    }
    let peer = granted(&server, Revision::LATEST, "purge admin mcp other");
    assert_eq!(peer.text("purge", json!({})).await, "gone");
}

// spec: AUTH-3
#[tokio::test]
async fn scopes_on_stdio() {
    let server = server();
    let mut wire = Wire::to(&server);
    let tools = wire.ask(modern(1, "tools/list", json!({}))).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), every_rule().count());
    let mut legacy = Wire::to(&server);
    legacy.initialize(json!({})).await;
    for rules in every_rule() {
        let call = json!({ "name": named(rules) });
        let modern = wire.ask(modern(2, "tools/call", call.clone())).await;
        let legacy = legacy.ask(request(2, "tools/call", &call)).await;
        for answer in [modern, legacy] {
            assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
        }
    }
}

#[tokio::test]
async fn extensions_grant_nothing_to_a_caller_without_verified_scopes() {
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.extensions.insert(Access::to(["a"]));
    head.extensions.insert(Claims::new("issuer", "ann").scopes(["a"]));
    let mut peer = granted(&server(), Revision::LATEST, "");
    peer.extensions.insert(head);
    peer.extensions.insert(Access::to(["a"]));
    peer.extensions.insert(Claims::new("issuer", "ann").scopes(["a"]));
    assert!(peer.call("a.none", json!({})).await.is_err());
    peer.access = Access::everything();
    assert!(peer.call("a.none", json!({})).await.is_ok(), "not over HTTP");
}

#[tokio::test]
async fn a_layer_that_replaces_all_extensions_grants_nothing() {
    let forget = from_fn(|mut request: Request, next: Next| async move {
        request.parts.extensions = Extensions::default();
        next.run(request).await
    });
    let server = server().layer(forget);
    for revision in BOTH {
        let peer = granted(&server, revision, "b");
        let error = peer.call("a.none", json!({})).await.unwrap_err();
        assert_eq!(error.code, code::INSUFFICIENT_SCOPE);
        assert!(!tools(&peer).await.contains("\"a.none\""));
        assert!(granted(&server, revision, "a").call("a.none", json!({})).await.is_ok());
    }
}

#[tokio::test]
async fn layers_of_a_feature_do_not_run_for_a_caller_without_its_scopes() {
    let answer = from_fn(|request, _next| async move {
        _ = request;
        Err(ErrorObject::internal("from a cache of the layer"))
    });
    let tool = Tool::new("purge", || async { "gone" }).require_scope("admin").layer(answer);
    let server = Server::new("scoped", "1").tool(tool);
    let call = |scopes| {
        let peer = granted(&server, Revision::LATEST, scopes);
        async move { peer.call("purge", json!({})).await.unwrap_err().code }
    };
    assert_eq!(call("mcp").await, code::INSUFFICIENT_SCOPE);
    assert_eq!(call("admin").await, code::INTERNAL_ERROR);
}

#[tokio::test]
async fn a_caller_follows_only_resources_whose_scopes_it_has() {
    let server = server();
    for (scopes, sees) in [("a", true), ("b", false)] {
        let peer = granted(&server, Revision::LATEST, scopes);
        let uris = ["one://none.none", "one://a.none", "one://none.a", "a.none://1"];
        let wish = json!({ "notifications": { "resourceSubscriptions": uris } });
        let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
        assert!(poll!(&mut listening).is_pending());
        let seen = &uris[..if sees { 4 } else { 1 }];
        let honoured =
            seen.iter().fold(SubscriptionFilter::new(), |all, uri| all.with_resource(*uri));
        assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(honoured)]);
        server.notify().resource_updated("one://a.none");
        assert!(poll!(&mut listening).is_pending());
        let change = ReportedChange::Resource("one://a.none".to_owned());
        assert_eq!(peer.inbox.changes(), Vec::from_iter(sees.then_some(change)));
    }
}

/// The list of tools, as text.
async fn tools(peer: &Peer) -> String {
    peer.ask(Method::ToolsList, json!({})).await.unwrap().to_string()
}

#[tokio::test]
async fn a_mounted_server_applies_its_own_rules_to_the_caller() {
    let server = Server::new("hub", "1").mount("inner", server());
    let (some, more) =
        (granted(&server, Revision::LATEST, "b"), granted(&server, Revision::LATEST, "a"));
    assert!(!tools(&some).await.contains("inner__a.none"));
    assert!(tools(&more).await.contains("inner__a.none"));
    let error = some.call("inner__a.none", json!({})).await.unwrap_err();
    assert_eq!(error.code, code::INSUFFICIENT_SCOPE);
    assert_eq!(more.text("inner__a.none", json!({})).await, "done");
}

// spec: CACHE-23, CACHE-26
#[tokio::test]
async fn what_depends_on_scopes_is_not_shared_between_callers() {
    let hint = |server: Server, method: &'static str, params: Value| async move {
        let answer = Wire::to(&server).ask(modern(1, method, params)).await;
        answer["result"]["cacheScope"].as_str().unwrap().to_owned()
    };
    let tools = |rules| Server::new("scoped", "1").tools([tool(("", "")), tool(rules)]);
    assert_eq!(hint(tools(("a", "")), "tools/list", json!({})).await, "private");
    assert_eq!(hint(tools(("", "a")), "tools/list", json!({})).await, "public");
    let read = |rules: Rules| {
        let uri = format!("one://{}", named(rules));
        let server = Server::new("scoped", "1").resource(resource(rules));
        hint(server, "resources/read", json!({ "uri": uri }))
    };
    assert_eq!(read(("a", "")).await, "private");
    assert_eq!(read(("", "a")).await, "private");
    assert_eq!(read(("", "")).await, "public");
}

#[tokio::test]
async fn claims_are_extractors() {
    async fn whoami(caller: Claims) -> String {
        caller.subject
    }
    async fn maybe(caller: Option<Claims>) -> String {
        caller.map_or("unknown".to_owned(), |caller| caller.subject)
    }
    let server =
        Server::new("scoped", "1").tools([Tool::new("whoami", whoami), Tool::new("maybe", maybe)]);
    let mut peer = Peer::new(&server, Revision::LATEST);
    let missing = "this call came without a verified credential";
    assert_eq!(peer.failure("whoami", json!({})).await, missing);
    assert_eq!(peer.text("maybe", json!({})).await, "unknown");
    peer.extensions.insert(Claims::new("issuer", "ann"));
    assert_eq!(peer.text("whoami", json!({})).await, "ann");
    assert_eq!(peer.text("maybe", json!({})).await, "ann");
}

#[test]
fn a_server_says_which_feature_needs_authorization() {
    let needs = |server: Server| server.build().unwrap().needs_authorization();
    let plain = Server::new("scoped", "1");
    let maybe = |_: Option<Claims>| async {};
    assert_eq!(needs(plain.clone().tool(tool(("", ""))).tool(Tool::new("maybe", maybe))), None);
    let by_tool = plain.clone().tool(tool(("", "a")));
    assert_eq!(needs(by_tool.clone()).unwrap(), "tool `none.a` needs scopes");
    let hub = Server::new("hub", "1").mount("inner", by_tool);
    let expected = "the server mounted as `inner`: tool `none.a` needs scopes";
    assert_eq!(needs(hub).unwrap(), expected);
    let by_prompt = plain.clone().prompt(prompt(("a", "")));
    assert_eq!(needs(by_prompt).unwrap(), "prompt `a.none` needs scopes");
    let by_resource = plain.clone().resource(family(("a", "")));
    assert_eq!(needs(by_resource).unwrap(), "resource template `a.none://{x}` needs scopes");
    let by_claims =
        plain.clone().tool(Tool::new("whoami", |caller: Claims| async { caller.subject }));
    assert_eq!(needs(by_claims).unwrap(), "tool `whoami` takes `Claims`");
    let complete = |_: Claims| async { ["x"] };
    let by_completion = plain.prompt(
        Prompt::new("plan", || async { "plan" })
            .argument(PromptArgument::new("x"))
            .complete_with("x", complete),
    );
    let expected = "the completion of `x` of prompt `plan` takes `Claims`";
    assert_eq!(needs(by_completion).unwrap(), expected);
}

#[test]
fn a_scope_that_cannot_be_one_is_found_when_the_server_is_built() {
    for (scope, reason) in [
        ("", "names an empty scope"),
        ("a \"b\"", "names a scope with characters that no scope may have: \"\\\"b\\\"\""),
        ("ä", "names a scope with characters that no scope may have: \"ä\""),
    ] {
        let tool = Tool::new("purge", || async {}).require_scope(scope);
        let error = Server::new("scoped", "1").tool(tool).build().unwrap_err();
        assert_eq!(error.to_string(), format!("tool `purge` {reason}"));
    }
}
