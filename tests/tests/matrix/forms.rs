//! Forms: a struct as a question, with fields of every kind.

use bowline::{
    Ask, AskError, Elicited, Json, Prompt, Question, Resource, Server, Tool, tool, tools,
};
use bowline_testing::Harness;
use bowline_tests::sample::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What do you want?
#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    name: String,
    #[schemars(range(min = 1, max = 9))]
    #[serde(default = "one")]
    amount: u8,
    #[serde(default)]
    gift: bool,
    size: Option<Size>,
    #[serde(default)]
    extras: Vec<Extra>,
}

fn one() -> u8 {
    1
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Extra {
    Ribbon,
    Card,
}

/// Order something
#[tool]
async fn order(ask: Ask) -> bowline::Result<Json<Value>> {
    Ok(Json(match ask.form::<Order>("What do you want?").await {
        Ok(order) => json!(order),
        Err(AskError::Unsupported(_)) => json!({ "cannot": "ask" }),
        Err(error) => return Err(error.into()),
    }))
}

fn shop() -> Server {
    Server::new("shop", "1.0.0").tools(tools![order])
}

#[bowline::test(every_revision, stateless)]
async fn a_form_may_have_every_kind_of_field(t: Harness) {
    let of_several = match t.revision().has_elicitation_modes() {
        true => json!(["Ribbon", "Card"]),
        // Forms of 2025-06-18 have no multiple choice, so it is text.
        false => json!("Ribbon, Card"),
    };
    let filled_in = json!({
        "name": "Ada", "amount": 2, "gift": true, "size": "large", "extras": of_several,
    });
    let answer = move |question: &Question| question.accept(&filled_in);
    let client = t.connect(shop()).answering(answer).await;
    let ordered: Value = client.call("order", ()).await.unwrap().parse().unwrap();
    let understood = json!({
        "name": "Ada", "amount": 2, "gift": true, "size": "large", "extras": ["Ribbon", "Card"],
    });
    let expected = if t.can_ask_user() { understood } else { json!({ "cannot": "ask" }) };
    assert_eq!(ordered, expected);
}

#[bowline::test(every_revision, stateless)]
async fn fields_without_an_answer_get_their_defaults(t: Harness) {
    let answer = |question: &Question| question.accept(json!({ "name": "Ada" }));
    let client = t.connect(shop()).answering(answer).await;
    let ordered: Value = client.call("order", ()).await.unwrap().parse().unwrap();
    let understood =
        json!({ "name": "Ada", "amount": 1, "gift": false, "size": null, "extras": [] });
    let expected = if t.can_ask_user() { understood } else { json!({ "cannot": "ask" }) };
    assert_eq!(ordered, expected);
}

#[bowline::test(every_revision, stateless)]
async fn the_client_does_not_send_an_answer_that_does_not_fit(t: Harness) {
    let answer = |question: &Question| {
        let answer = question.accept(json!({ "name": "Ada", "amount": 10 }));
        assert!(answer.problem().unwrap().contains("amount"), "{answer:?}");
        question.decline()
    };
    let client = t.connect(shop()).answering(answer).await;
    let outcome = client.call("order", ()).await.unwrap();
    assert_eq!(outcome.is_error(), t.can_ask_user());
    assert_eq!(t.questions().len(), usize::from(t.can_ask_user()));
}

#[bowline::test(every_revision, stateless)]
async fn the_server_asks_an_elicited_form_before_the_handler_runs(t: Harness) {
    let order = |Elicited(order): Elicited<Order>| async move { order.name };
    let server = Server::new("shop", "1.0.0").tool(Tool::new("order", order));
    let answer = |question: &Question| question.accept(json!({ "name": "Ada" }));
    let client = t.connect(server).answering(answer).await;
    let outcome = client.call("order", ()).await.unwrap();
    if t.can_ask_user() {
        assert_eq!(outcome.text(), "Ada");
        assert_eq!(t.questions(), ["What do you want?"]);
    } else {
        let why = match t.revision().has_elicitation() {
            true => "does not declare",
            false => "has no elicitation",
        };
        assert!(outcome.is_error() && outcome.text().contains(why), "{}", outcome.text());
    }
}

// spec: RSRC-28, PRMT-20
#[bowline::test(every_revision, stateless)]
async fn prompts_and_resources_can_ask(t: Harness) {
    let sure = |ask: Ask| async move {
        Ok::<_, AskError>(if ask.confirm("Sure?").await? { "sure" } else { "not sure" })
    };
    let server = Server::new("asker", "1.0.0")
        .prompt(Prompt::new("plan", sure))
        .resource(Resource::new("plan://today", sure));
    let client = t.connect(server).answering(|question| question.accept(true)).await;
    let (prompt, resource) = (client.prompt("plan").await, client.read("plan://today").await);
    if t.can_ask_user() {
        assert_eq!(prompt.unwrap().messages[0].content.as_text(), Some("sure"));
        assert_eq!(resource.unwrap().text(), "sure");
    } else {
        assert!(prompt.unwrap_err().is_refused() && resource.unwrap_err().is_refused());
    }
}
