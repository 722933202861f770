//! Forms made of Rust types, in both eras, and those that are asked before a handler runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bowline_server::{Ask, Elicited, Error, Json, Prompt, Resource, Server, State, Tool};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer, accept};
use crate::wire::{Wire, answer, call};

/// Tell us about your order
#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    /// Who orders
    #[schemars(length(min = 1, max = 40))]
    name: String,
    #[schemars(email)]
    mail: Option<String>,
    #[schemars(range(min = 1, max = 9))]
    #[serde(default = "one")]
    amount: u8,
    weight: Option<f64>,
    #[serde(default)]
    gift: bool,
    size: Size,
    colour: Option<Colour>,
    #[serde(default)]
    extras: Vec<Extra>,
}

fn one() -> u8 {
    1
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Colour {
    /// Like fire
    #[schemars(title = "Fiery red")]
    Red,
    #[schemars(title = "Sky blue")]
    Blue,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Extra {
    Ribbon,
    Card,
}

fn shop() -> Server {
    let order = |ask: Ask| async move {
        let order: Order = ask.form("What do you want?").await?;
        Ok::<_, Error>(Json(order))
    };
    Server::new("shop", "1").tool(Tool::new("order", order))
}

fn filled_in() -> Value {
    json!({
        "name": "Ann", "mail": "ann@example.com", "amount": 2.0, "weight": 0.5, "gift": true,
        "size": "large", "colour": "Red", "extras": ["Card", "Ribbon"],
    })
}

fn understood() -> Value {
    let mut order = filled_in();
    order["amount"] = json!(2);
    order
}

// spec: ELIC-18, ELIC-19, ELIC-21, ELIC-58
#[tokio::test]
async fn every_kind_of_field_is_asked_and_understood() {
    let peer = Peer::with_forms(&shop(), Revision::LATEST);
    let asked = peer.call("order", json!({})).await.unwrap();
    let form = &asked["inputRequests"]["q1"]["params"]["requestedSchema"];
    let fields = &form["properties"];
    assert_eq!(form["type"], "object");
    assert_eq!(form["required"], json!(["name", "size"]));
    let name =
        json!({ "type": "string", "description": "Who orders", "minLength": 1, "maxLength": 40 });
    assert_eq!(fields["name"], name);
    assert_eq!(fields["mail"], json!({ "type": "string", "format": "email" }));
    let amount = json!({ "type": "integer", "minimum": 1, "maximum": 9, "default": 1 });
    assert_eq!(fields["amount"], amount);
    assert_eq!(fields["weight"], json!({ "type": "number" }));
    assert_eq!(fields["gift"], json!({ "type": "boolean", "default": false }));
    assert_eq!(fields["size"], json!({ "type": "string", "enum": ["small", "large"] }));
    let red = json!({ "const": "Red", "title": "Fiery red" });
    assert_eq!(fields["colour"]["oneOf"][0], red);
    let extras = json!({ "type": "string", "enum": ["Ribbon", "Card"] });
    assert_eq!(fields["extras"]["items"], extras);
    assert_eq!(fields["extras"]["default"], json!([]));
    let state = asked["requestState"].as_str();
    let answers = json!({ "q1": accept(&filled_in()) });
    let done = peer.round("order", json!({}), answers, state).await;
    assert_eq!(serde_json::from_str::<Value>(&done.text()).unwrap(), understood());
}

// spec: ELIC-18, ELIC-19, ELIC-20
#[tokio::test]
async fn a_form_is_said_in_the_words_of_an_older_revision() {
    let mut wire = Wire::to(&shop());
    wire.initialize_in("2025-06-18", json!({ "elicitation": {} })).await;
    let question = wire.ask(call(2, "order")).await;
    let fields = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(fields["amount"].get("default"), None);
    assert_eq!(fields["gift"]["default"], false);
    assert_eq!(fields["colour"]["enumNames"], json!(["Fiery red", "Sky blue"]));
    assert_eq!(fields["extras"]["type"], "string");
    let mut content = filled_in();
    content["extras"] = json!("Card, Ribbon,");
    let done = wire.ask(answer(&question, &accept(&content))).await;
    assert_eq!(done["result"]["structuredContent"], understood());
}

// spec: ELIC-58
#[tokio::test]
async fn an_answer_that_does_not_fit_is_not_taken() {
    for (field, value) in [
        ("name", json!("")),
        ("mail", json!("ann")),
        ("amount", json!(10)),
        ("size", json!("huge")),
        ("extras", json!(["Dragon"])),
    ] {
        let mut content = filled_in();
        content[field] = value;
        let peer = Peer::with_forms(&shop(), Revision::LATEST_LEGACY);
        peer.inbox.answer(Ok(accept(&content)));
        let text = peer.failure("order", json!({})).await;
        assert!(text.contains(field), "{text}");
        let peer = Peer::with_forms(&shop(), Revision::LATEST);
        let (_, state) = peer.round("order", json!({}), json!({}), None).await.asks();
        let answers = json!({ "q1": accept(&content) });
        let (again, _) = peer.round("order", json!({}), answers, Some(&state)).await.asks();
        assert!(again[0].1.contains(field), "{again:?}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Login {
    #[allow(dead_code, reason = "only its name is looked at")]
    api_key: String,
}

// spec: ELIC-7, ELIC-8, ELIC-9
#[tokio::test]
async fn a_form_does_not_ask_for_secrets() {
    let login = |ask: Ask| async move {
        ask.form::<Login>("Who are you?").await?;
        Ok::<_, Error>(())
    };
    let server = Server::new("login", "1").tool(Tool::new("login", login));
    for revision in BOTH {
        let peer = Peer::with_forms(&server, revision);
        let error = peer.call("login", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603);
        assert!(error.message.contains("`api_key` asks for a secret"), "{error}");
        assert!(peer.inbox.questions().is_empty());
    }
}

// spec: ELIC-61
#[tokio::test]
async fn there_is_nothing_to_click_on_in_a_form() {
    #[derive(Deserialize, JsonSchema)]
    struct Site {
        /// Such as https://example.com
        #[allow(dead_code, reason = "only its description is looked at")]
        name: String,
    }
    let ask = |ask: Ask| async move {
        ask.form::<Site>("Not http://evil.example, which one?").await?;
        Ok::<_, Error>(())
    };
    let server = Server::new("sites", "1").tool(Tool::new("ask", ask));
    let asked = Peer::with_forms(&server, Revision::LATEST).call("ask", json!({})).await.unwrap();
    assert!(!asked["inputRequests"].to_string().contains("://"), "{asked}");
    assert!(asked.to_string().contains("Such as example.com"), "{asked}");
}

fn calm() -> (Server, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let order = |State(runs): State<Arc<AtomicU32>>, Elicited(order): Elicited<Order>| async move {
        runs.fetch_add(1, Ordering::SeqCst);
        order.name
    };
    let server = Server::new("shop", "1").tool(Tool::new("order", order)).state(runs.clone());
    (server, runs)
}

// spec: ELIC-29, ELIC-76
#[tokio::test]
async fn the_user_can_be_asked_before_a_handler_runs() {
    let (server, runs) = calm();
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    peer.inbox.answer(Ok(accept(&filled_in())));
    assert_eq!(peer.text("order", json!({})).await, "Ann");
    peer.inbox.answer(Ok(json!({ "action": "decline" })));
    assert_eq!(peer.failure("order", json!({})).await, "the user declined to answer");
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (questions, state) = peer.round("order", json!({}), json!({}), None).await.asks();
    assert_eq!(questions, [("q1".to_owned(), "Tell us about your order".to_owned())]);
    let answers = json!({ "q1": accept(&filled_in()) });
    assert_eq!(peer.round("order", json!({}), answers, Some(&state)).await.text(), "Ann");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_cannot_be_asked_before_a_handler_runs_is_found_when_it_is_registered() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Silent {
        name: String,
    }
    /// Deep?
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Deep {
        silent: Silent,
    }
    let problem = |tool| Server::new("shop", "1").tool(tool).build().err().unwrap().to_string();
    let silent = problem(Tool::new("ask", |_: Elicited<Silent>| async {}));
    assert!(silent.contains("it has no doc comment to ask the user with"), "{silent}");
    let deep = problem(Tool::new("ask", |_: Elicited<Deep>| async {}));
    assert!(deep.contains("`silent`"), "{deep}");
    let declared = problem(Tool::new("ask", |_: Ask| async {}).asks::<Deep>());
    assert!(declared.contains("asks for `") && declared.contains("`silent`"), "{declared}");
    let secret = problem(Tool::new("ask", |_: Elicited<Login>| async {}));
    assert!(secret.contains("`api_key` asks for a secret"), "{secret}");
}

// spec: MRTR-2
#[tokio::test]
async fn prompts_and_resources_can_ask_too() {
    let sure = |ask: Ask| async move { Ok::<_, Error>(ask.confirm("Sure?").await?.to_string()) };
    let server = Server::new("ask", "1")
        .prompt(Prompt::new("sure", sure))
        .resource(Resource::new("a://sure", sure));
    let calls = [
        (Method::PromptsGet, json!({ "name": "sure" })),
        (Method::ResourcesRead, json!({ "uri": "a://sure" })),
    ];
    for (method, params) in calls {
        let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
        peer.inbox.answer(Ok(accept(&json!({ "confirm": true }))));
        let done = peer.ask(method, params.clone()).await.unwrap();
        assert!(done.to_string().contains("true"), "{done}");
        let peer = Peer::with_forms(&server, Revision::LATEST);
        let asked = peer.ask(method, params).await.unwrap();
        assert_eq!(asked["inputRequests"]["q1"]["params"]["message"], "Sure?");
    }
}
