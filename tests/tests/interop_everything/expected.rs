//! The expected report of each feature in each revision.

use bowline::Client;
use bowline_transport::duplex::duplex;
use bowline_types::revision::Revision;
use serde_json::{Map, Value, json};

/// The expected report of a client in a revision, by feature.
pub(crate) fn features(revision: Revision) -> Map<String, Value> {
    let parts =
        [offers(revision), running(revision), asking(revision), forms(revision), changes(revision)];
    parts.into_iter().flat_map(|part| part.as_object().cloned().unwrap_or_default()).collect()
}

/// The result of a tool that has to ask in a way which the revision lacks.
fn failed() -> Value {
    json!({ "isError": true })
}

/// The result of a method that the revision lacks.
fn refused() -> Value {
    json!({ "refused": true })
}

/// Returns `seen` if the revision has the feature, or else `otherwise`.
fn if_it(has: bool, seen: Value, otherwise: Value) -> Value {
    if has { seen } else { otherwise }
}

fn offers(revision: Revision) -> Value {
    let prompts = [
        "test_simple_prompt",
        "test_prompt_with_arguments",
        "test_prompt_with_embedded_resource",
        "test_prompt_with_image",
        "test_input_required_result_prompt",
    ];
    let resources = [
        "test://static-text",
        "test://static-binary",
        "test://watched-resource",
        "test://example-resource",
        "skill://harbour/entering/SKILL.md",
        "skill://knots/SKILL.md",
    ];
    let not_found = if revision.has_resource_not_found_code() { -32002 } else { -32602 };
    let asked = json!(["Use this context: knots"]);
    json!({
        "server": {
            "name": "everything-server",
            "instructions": "Call whatever you like; nothing here does anything.",
        },
        "tools": tools(),
        "resources": resources,
        "templates": ["test://template/{id}/data", "skill://{+path}"],
        "reading": {
            "text": ["text/plain", "This is the content of the static text resource."],
            "binary": ["image/png", "PNG"],
            "template": ["test://template/123/data", "123"],
        },
        "notFound": { "code": not_found, "data": { "uri": "test://nothing" } },
        "prompts": prompts,
        "prompting": {
            "simple": ["This is a simple prompt for testing."],
            "arguments": ["Prompt with arguments: arg1='one', arg2='two'"],
            "resource": ["test://example-resource", "Please process the embedded resource above."],
            "image": ["image/png", "Please analyze the image above."],
            "asking": if_it(revision.has_elicitation(), asked, refused()),
        },
        "noPrompt": { "code": -32602 },
        "completion": {
            "prompt": ["Paris", "Park"],
            "template": ["12", "123"],
            "context": ["after Paris"],
        },
    })
}

/// The tools of the server, as our own client lists them without pages.
fn tools() -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (near, far) = duplex();
        tokio::spawn(bowline_conformance::server().serve(far));
        let client = Client::connect(near).await.unwrap();
        let tools = client.tools().all().await.unwrap();
        tools.into_iter().map(|tool| tool.name).collect()
    })
}

fn running(revision: Revision) -> Value {
    let audio = if revision.has_audio() { "audio" } else { "text" };
    let link = if revision.has_resource_links() { "resource_link" } else { "text" };
    let numbers = match () {
        () if revision.has_structured_output_of_any_type() => json!([1, 2, 3]),
        () if revision.has_structured_output() => json!({ "result": [1, 2, 3] }),
        () => Value::Null,
    };
    let seen = json!({ "cancelled": 0, "roots": null });
    let step = |done: u8| {
        let message = json!(format!("{done} of 100"));
        json!([done, 100, if_it(revision.has_progress_message(), message, Value::Null)])
    };
    let is_session = revision.has_sessions();
    json!({
        "content": {
            "simple_text": ["text"],
            "image_content": ["image"],
            "audio_content": [audio],
            "embedded_resource": ["resource"],
            "resource_link": [link],
            "multiple_content_types": ["text", "image", "resource"],
        },
        "toolFailure": failed(),
        "structuredContent": {
            "list": numbers,
            "object": if_it(revision.has_structured_output(), seen, Value::Null),
        },
        "argumentsChecked": {
            "good": r#"{"contactMethod":"phone","phone":"1815"}"#,
            "bad": failed(),
        },
        "progress": [step(0), step(50), step(100)],
        "cancellation": { "refused": true, "cancelled": 1 },
        // Up to 2025-11-25 a request has no log level, and a server begins with `info`.
        "logLevelOfRequest":
            if_it(is_session, json!(["info", "warning", "error"]), json!(["warning", "error"])),
        "logLevelOfSession": if_it(is_session, json!(["error"]), refused()),
        "ping": { "refused": !revision.has_handshake() },
    })
}

fn asking(revision: Revision) -> Value {
    let root = "file:///srv/project";
    let changed = json!([format!("{root}/other")]);
    let page = "https://example.com/sign-in";
    let is_done = if_it(revision.has_elicitation_ids(), json!(true), Value::Null);
    let agreed = json!(format!("the user agreed to visit {page}"));
    let pages = json!([{ "url": page, "isDone": is_done }]);
    let has_pages = revision.has_elicitation_modes();
    let said = "the user is signed in";
    let page_required = match () {
        () if revision.has_elicitation_ids() => {
            json!({ "code": -32042, "pages": pages, "said": said })
        }
        () if has_pages => json!({ "said": said }),
        () => failed(),
    };
    json!({
        "sampling": {
            "answer": "LLM response: 42",
            "question": "What is six times seven?",
            "maxTokens": 100,
        },
        "samplingWithTools": if_it(revision.has_sampling_tools(), json!("It is 12:15"), failed()),
        "roots": format!(r#"["{root}"]"#),
        "rootsChange": if_it(revision.has_roots_changes(), changed, refused()),
        "page": {
            "agreed": if_it(has_pages, agreed, failed()),
            "declined": failed(),
            "pages": if_it(has_pages, pages, json!([])),
        },
        "pageRequired": page_required,
    })
}

fn forms(revision: Revision) -> Value {
    let filled = |text: &str| if_it(revision.has_elicitation(), json!(text), failed());
    // A form of 2025-06-18 has no multiple choice; the choices are text, and there are two.
    let several = if revision.has_elicitation_modes() {
        r#"["option3"]"#
    } else {
        r#"["option2","option3"]"#
    };
    let choices = format!(
        r#"{{"untitledSingle":"option3","titledSingle":"value3","legacyEnum":"opt3","untitledMulti":{several},"titledMulti":["value3"]}}"#
    );
    json!({
        "form": {
            "accepted": filled(r#"{"username":"ada","email":"ada@example.com"}"#),
            "declined": failed(),
            "cancelled": failed(),
        },
        "formDefaults": filled(
            r#"{"name":"John Doe","age":30,"score":95.5,"status":"active","verified":true}"#
        ),
        "formChoices": filled(&choices),
        "severalRounds": {
            "oneByOne": filled("Ada likes red"),
            "together": filled("42, Ada, of 1 roots"),
            "keyed": filled("Hello, Ada!"),
        },
    })
}

fn changes(revision: Revision) -> Value {
    let lists = json!(["tools", "prompts", "resources"]);
    let followed = json!({ "during": ["test://watched-resource"], "after": [] });
    let heard = json!({ "lists": lists, "during": ["test://watched-resource"], "after": [] });
    json!({
        // Since 2026-07-28 a client gets changes only by a subscription.
        "listChanges": if_it(!revision.has_listen(), lists, json!([])),
        "subscription": if_it(!revision.has_listen(), followed, refused()),
        "listening": if_it(revision.has_listen(), heard, refused()),
    })
}
