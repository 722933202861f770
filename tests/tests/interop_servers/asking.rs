//! What servers ask: the user by form and by URL, the model, the roots.

use bowline_types::content::Content;
use serde_json::{Value, json};

use crate::connected_client::{ConnectedClient, UserDecision, directory};
use crate::peer::Feature;

pub(crate) async fn check(connected: &ConnectedClient) {
    form(connected).await;
    page(connected).await;
    page_before_call(connected).await;
    model(connected).await;
    model_with_tools(connected).await;
    roots(connected).await;
}

/// Whether the tool fails without a question, because this revision lacks that kind of question.
async fn is_refused(connected: &ConnectedClient, tool: &str) -> bool {
    let outcome = connected.client.call(tool, ()).await;
    outcome.map_or_else(|error| error.is_refused(), |outcome| outcome.is_error())
}

// spec: ELIC-22, ELIC-27, MRTR-19, MRTR-26
async fn form(connected: &ConnectedClient) {
    if !connected.revision.has_elicitation() {
        assert!(is_refused(connected, "greet").await);
        assert!(connected.notes.take(|noted| &mut noted.questions).is_empty());
        return;
    }
    let defaults = json!({ "name": "Ada", "age": 30, "member": true, "knot": "bowline" });
    assert_eq!(
        connected.call_json("greet").await,
        json!({ "action": "accept", "content": defaults })
    );
    let [question] = &connected.notes.take(|noted| &mut noted.questions)[..] else {
        panic!("the user is asked once");
    };
    assert_eq!(question.message(), "Who are you?");
    let fields: Vec<_> = question.form().unwrap().fields().map(|(name, _)| name).collect();
    assert_eq!(fields, ["name", "age", "member", "knot"]);
    for (decision, action) in [(UserDecision::Decline, "decline"), (UserDecision::Cancel, "cancel")]
    {
        connected.notes.set_decision(decision);
        assert_eq!(connected.call_json("greet").await["action"], action);
    }
    connected.notes.set_decision(UserDecision::Accept);
}

async fn page(connected: &ConnectedClient) {
    if !connected.revision.has_elicitation_modes() {
        return;
    }
    connected.notes.take(|noted| &mut noted.questions);
    assert_eq!(connected.call_json("sign_in").await, json!({ "action": "accept" }));
    let [question] = &connected.notes.take(|noted| &mut noted.questions)[..] else {
        panic!("the user is asked once");
    };
    let page = question.page().unwrap();
    assert_eq!((page.message(), page.url()), ("Sign in there.", "https://example.com/sign-in"));
    assert_eq!(page.elicitation_id().is_some(), connected.revision.has_elicitation_ids());
    connected.notes.set_decision(UserDecision::Decline);
    assert_eq!(connected.call_json("sign_in").await, json!({ "action": "decline" }));
    connected.notes.set_decision(UserDecision::Accept);
}

/// A call that the server refuses until the user has visited a URL, whose completion it announces.
async fn page_before_call(connected: &ConnectedClient) {
    if !connected.revision.has_elicitation_ids() {
        return;
    }
    let refused = connected.client.call("locked", ()).await;
    if !connected.has(Feature::UrlRequired) {
        assert!(
            refused.map_or_else(|error| error.url_elicitations().is_empty(), |it| it.is_error())
        );
        return;
    }
    let pages = refused.unwrap_err().url_elicitations();
    let [page] = &pages[..] else { panic!("{pages:?}") };
    assert_eq!(
        (page.url(), page.elicitation_id()),
        ("https://example.com/sign-in", Some("unlock"))
    );
    connected.client.call("unlock", ()).await.unwrap().into_result().unwrap();
    assert_eq!(connected.noted(|noted| &mut noted.pages_done, 1).await, ["unlock"]);
}

async fn model(connected: &ConnectedClient) {
    let said = connected.call_json("sample").await;
    let content = json!([{ "type": "text", "text": "a bowline" }]);
    assert_eq!(said, json!({ "model": "old-sailor", "content": content }));
    let [asked] = &connected.notes.take(|noted| &mut noted.conversations)[..] else {
        panic!("the model is asked once");
    };
    let params = asked.params();
    assert_eq!(params.system_prompt.as_deref(), Some("You are a sailor."));
    assert_eq!(params.max_tokens, 100);
    assert_eq!(params.messages[0].content[0].as_text(), Some("Which knot?"));
}

async fn model_with_tools(connected: &ConnectedClient) {
    if !connected.revision.has_sampling_tools() {
        assert!(is_refused(connected, "sample_tools").await);
        assert!(connected.notes.take(|noted| &mut noted.conversations).is_empty());
        return;
    }
    let said = connected.call_json("sample_tools").await;
    let [used] = &said["content"].as_array().unwrap()[..] else { panic!("{said}") };
    assert_eq!((&used["type"], &used["name"]), (&json!("tool_use"), &json!("lookup")));
    assert_eq!(used["input"], json!({ "knot": "bowline" }));
    let [asked] = &connected.notes.take(|noted| &mut noted.conversations)[..] else {
        panic!("the model is asked once");
    };
    let [_, used, result] = &asked.params().messages[..] else { panic!("{asked:?}") };
    assert!(matches!(&used.content[..], [Content::ToolUse(used)] if used.name == "lookup"));
    assert!(matches!(&result.content[..], [Content::ToolResult(it)] if it.tool_use_id == "use-1"));
}

// spec: ROOT-2, ROOT-3
async fn roots(connected: &ConnectedClient) {
    assert_eq!(connected.call_json("roots").await, json!([{ "uri": "file:///", "name": "root" }]));
    connected.client.set_roots([directory("/"), directory("/usr")]).unwrap();
    let has_notices =
        connected.revision.has_roots_changes() && connected.has(Feature::RootsChanged);
    connected.until_seen("rootsChanged", json!(u8::from(has_notices))).await;
    let listed = connected.call_json("roots").await;
    let uris: Vec<_> = listed.as_array().unwrap().iter().map(|root| &root["uri"]).collect();
    assert_eq!(uris, [&Value::from("file:///"), &Value::from("file:///usr")]);
}
