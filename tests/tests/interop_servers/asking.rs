//! What servers ask back: the user by form and by page, the model, the roots.

use bowline::types::content::Content;
use serde_json::{Value, json};

use crate::peer::Feature;
use crate::stage::{Mood, Stage, directory};

pub(crate) async fn check(stage: &Stage) {
    form(stage).await;
    page(stage).await;
    page_before_call(stage).await;
    model(stage).await;
    model_with_tools(stage).await;
    roots(stage).await;
}

/// Whether a tool whose question this revision does not know fails, and nobody was asked.
async fn is_refused(stage: &Stage, tool: &str) -> bool {
    let outcome = stage.client.call(tool, ()).await;
    outcome.map_or_else(|error| error.is_refused(), |outcome| outcome.is_error())
}

// spec: ELIC-22, ELIC-27, MRTR-19, MRTR-26
async fn form(stage: &Stage) {
    if !stage.revision.has_elicitation() {
        assert!(is_refused(stage, "greet").await);
        assert!(stage.notes.take(|noted| &mut noted.questions).is_empty());
        return;
    }
    let defaults = json!({ "name": "Ada", "age": 30, "member": true, "knot": "bowline" });
    assert_eq!(stage.tell("greet").await, json!({ "action": "accept", "content": defaults }));
    let [question] = &stage.notes.take(|noted| &mut noted.questions)[..] else {
        panic!("the user is asked once");
    };
    assert_eq!(question.message(), "Who are you?");
    let fields: Vec<_> = question.form().unwrap().fields().map(|(name, _)| name).collect();
    assert_eq!(fields, ["name", "age", "member", "knot"]);
    for (mood, action) in [(Mood::Decline, "decline"), (Mood::Cancel, "cancel")] {
        stage.notes.set_mood(mood);
        assert_eq!(stage.tell("greet").await["action"], action);
    }
    stage.notes.set_mood(Mood::Accept);
}

async fn page(stage: &Stage) {
    if !stage.revision.has_elicitation_modes() {
        return;
    }
    stage.notes.take(|noted| &mut noted.questions);
    assert_eq!(stage.tell("sign_in").await, json!({ "action": "accept" }));
    let [question] = &stage.notes.take(|noted| &mut noted.questions)[..] else {
        panic!("the user is asked once");
    };
    let page = question.page().unwrap();
    assert_eq!((page.message(), page.url()), ("Sign in there.", "https://example.com/sign-in"));
    assert_eq!(page.elicitation_id().is_some(), stage.revision.has_elicitation_ids());
    stage.notes.set_mood(Mood::Decline);
    assert_eq!(stage.tell("sign_in").await, json!({ "action": "decline" }));
    stage.notes.set_mood(Mood::Accept);
}

/// A call that is refused until the user visited a page, of which the server tells.
async fn page_before_call(stage: &Stage) {
    if !stage.revision.has_elicitation_ids() {
        return;
    }
    let refused = stage.client.call("locked", ()).await;
    if !stage.has(Feature::UrlRequired) {
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
    stage.client.call("unlock", ()).await.unwrap().into_result().unwrap();
    assert_eq!(stage.noted(|noted| &mut noted.pages_done, 1).await, ["unlock"]);
}

async fn model(stage: &Stage) {
    let said = stage.tell("sample").await;
    let content = json!([{ "type": "text", "text": "a bowline" }]);
    assert_eq!(said, json!({ "model": "old-sailor", "content": content }));
    let [asked] = &stage.notes.take(|noted| &mut noted.conversations)[..] else {
        panic!("the model is asked once");
    };
    let params = asked.params();
    assert_eq!(params.system_prompt.as_deref(), Some("You are a sailor."));
    assert_eq!(params.max_tokens, 100);
    assert_eq!(params.messages[0].content[0].as_text(), Some("Which knot?"));
}

async fn model_with_tools(stage: &Stage) {
    if !stage.revision.has_sampling_tools() {
        assert!(is_refused(stage, "sample_tools").await);
        assert!(stage.notes.take(|noted| &mut noted.conversations).is_empty());
        return;
    }
    let said = stage.tell("sample_tools").await;
    let [used] = &said["content"].as_array().unwrap()[..] else { panic!("{said}") };
    assert_eq!((&used["type"], &used["name"]), (&json!("tool_use"), &json!("lookup")));
    assert_eq!(used["input"], json!({ "knot": "bowline" }));
    let [asked] = &stage.notes.take(|noted| &mut noted.conversations)[..] else {
        panic!("the model is asked once");
    };
    let [_, used, result] = &asked.params().messages[..] else { panic!("{asked:?}") };
    assert!(matches!(&used.content[..], [Content::ToolUse(used)] if used.name == "lookup"));
    assert!(matches!(&result.content[..], [Content::ToolResult(it)] if it.tool_use_id == "use-1"));
}

// spec: ROOT-2, ROOT-3
async fn roots(stage: &Stage) {
    assert_eq!(stage.tell("roots").await, json!([{ "uri": "file:///", "name": "root" }]));
    stage.client.set_roots([directory("/"), directory("/usr")]).unwrap();
    let has_notices = !stage.revision.is_modern() && stage.has(Feature::RootsChanged);
    stage.until_seen("rootsChanged", json!(u8::from(has_notices))).await;
    let listed = stage.tell("roots").await;
    let uris: Vec<_> = listed.as_array().unwrap().iter().map(|root| &root["uri"]).collect();
    assert_eq!(uris, [&Value::from("file:///"), &Value::from("file:///usr")]);
}
