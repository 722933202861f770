//! Reading and comparing the capabilities of both sides.

use super::*;
use crate::json::Object;
use crate::method::Method;

fn client(text: &str) -> ClientCapabilities {
    serde_json::from_str(text).unwrap()
}

fn server(text: &str) -> ServerCapabilities {
    serde_json::from_str(text).unwrap()
}

// spec: ROOT-2, SAMP-2, ELIC-2, XN-1
#[test]
fn client_capabilities_are_written_as_they_were_read() {
    for text in [
        r#"{}"#,
        r#"{"roots":{}}"#,
        r#"{"roots":{"listChanged":true}}"#,
        r#"{"sampling":{"context":{}}}"#,
        r#"{"sampling":{"tools":{}},"elicitation":{}}"#,
        r#"{"elicitation":{"form":{},"url":{}}}"#,
        r#"{"experimental":{"featureName":{"enabled":true}}}"#,
        r#"{"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}}}}}"#,
        r#"{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#,
    ] {
        assert_eq!(serde_json::to_string(&client(text)).unwrap(), text);
    }
}

// spec: TOOL-1, RSRC-1, PRMT-1, LOG-1
#[test]
fn server_capabilities_are_written_as_they_were_read() {
    for text in [
        r#"{}"#,
        r#"{"logging":{},"completions":{}}"#,
        r#"{"prompts":{"listChanged":true},"tools":{}}"#,
        r#"{"resources":{"subscribe":true,"listChanged":true}}"#,
        r#"{"tasks":{"requests":{"tools":{"call":{}}}}}"#,
        r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
    ] {
        assert_eq!(serde_json::to_string(&server(text)).unwrap(), text);
    }
}

/// Adds an unknown member to every object of a text.
fn with_unknown_members(text: &str) -> String {
    let unknown = r#"{"telepathy":[1,{"far":null}],"#;
    text.replace('{', unknown).replace(",}", "}")
}

// spec: CAP-3
#[test]
fn unknown_members_are_passed_over_in_every_capability() {
    for text in [
        "{}",
        r#"{"roots":{"listChanged":true}}"#,
        r#"{"sampling":{"context":{},"tools":{}}}"#,
        r#"{"elicitation":{"form":{},"url":{}}}"#,
        r#"{"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}}}"#,
    ] {
        let read = client(&with_unknown_members(text));
        assert_eq!(read.missing(&client(text)), None, "{text}");
    }
    let text = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"completions":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    let read = server(&with_unknown_members(text));
    assert!(read.supports_tools_list_changed() && read.supports_prompts_list_changed());
    assert!(read.supports_resources_list_changed() && read.supports_resources_subscribe());
    assert!(read.supports_logging() && read.supports_completions());
    let tasks = read.tasks.unwrap();
    assert!(tasks.supports_request(Method::ToolsCall));
    assert!(tasks.list.is_some() && tasks.cancel.is_some());
}

// spec: CAP-2
#[test]
fn a_missing_member_means_unsupported() {
    let none = ClientCapabilities::new();
    assert!(!none.supports_roots() && !none.supports_sampling());
    assert!(!none.supports_form_elicitation() && !none.supports_url_elicitation());
    let none = ServerCapabilities::new();
    assert!(!none.supports_tools() && !none.supports_resources() && !none.supports_prompts());
    assert!(!none.supports_completions() && !none.supports_logging());
}

#[test]
fn true_counts_as_an_empty_object_and_false_as_missing() {
    let read = client(r#"{"roots":true,"sampling":false,"elicitation":null}"#);
    assert!(read.supports_roots() && !read.supports_sampling());
    assert!(!read.supports_form_elicitation());
    let read = server(r#"{"tools":{"listChanged":{}},"resources":{"listChanged":null}}"#);
    assert!(read.supports_tools_list_changed() && !read.supports_resources_list_changed());
}

#[test]
fn a_capability_that_is_a_word_is_refused_with_the_word() {
    let error = serde_json::from_str::<ClientCapabilities>(r#"{"sampling":"yes"}"#).unwrap_err();
    assert!(error.to_string().contains("a capability is an object, not `\"yes\"`"), "{error}");
}

// spec: ELIC-3, ELIC-4
#[test]
fn an_empty_elicitation_means_forms_only() {
    let empty = client(r#"{"elicitation":{}}"#);
    assert!(empty.supports_form_elicitation() && !empty.supports_url_elicitation());
    let url = client(r#"{"elicitation":{"url":{}}}"#);
    assert!(!url.supports_form_elicitation() && url.supports_url_elicitation());
}

#[test]
fn adding_urls_to_an_empty_elicitation_keeps_the_forms() {
    let both = client(r#"{"elicitation":{}}"#).with_url_elicitation();
    assert!(both.supports_form_elicitation() && both.supports_url_elicitation());
    let url = ClientCapabilities::new().with_url_elicitation();
    assert!(!url.supports_form_elicitation());
}

// spec: RQM-8, MRTR-7
#[test]
fn what_is_missing_is_named_and_nothing_else() {
    let missing = |declared, required| {
        let missing = client(declared).missing(&client(required));
        missing.map(|missing| serde_json::to_string(&missing).unwrap())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(missing("{}", "{}"), None);
    assert_eq!(missing("{}", r#"{"sampling":{}}"#), some(r#"{"sampling":{}}"#));
    assert_eq!(
        missing(r#"{"sampling":{"context":{}}}"#, r#"{"sampling":{"tools":{}},"roots":{}}"#),
        some(r#"{"roots":{},"sampling":{"tools":{}}}"#)
    );
    assert_eq!(missing(r#"{"sampling":{"tools":{}}}"#, r#"{"sampling":{}}"#), None);
    assert_eq!(
        missing(r#"{"roots":{}}"#, r#"{"roots":{"listChanged":true}}"#),
        some(r#"{"roots":{"listChanged":true}}"#)
    );
}

// spec: ELIC-4, ELIC-5
#[test]
fn a_missing_mode_of_elicitation_is_named() {
    let form = ClientCapabilities::new().with_form_elicitation();
    let url = ClientCapabilities::new().with_url_elicitation();
    let empty = client(r#"{"elicitation":{}}"#);
    assert_eq!(empty.missing(&form), None);
    assert_eq!(form.missing(&empty), None);
    assert_eq!(empty.missing(&url), Some(url.clone()));
    assert_eq!(url.missing(&empty), Some(form.clone()));
    assert_eq!(ClientCapabilities::new().missing(&empty), Some(form));
}

#[test]
fn a_missing_extension_is_named_with_its_settings() {
    let required =
        ClientCapabilities::new().with_extension("com.example/x", Object::default()).unwrap();
    let old = client(r#"{"tasks":{"requests":{}}}"#);
    assert_eq!(old.missing(&required), Some(required.clone()));
    assert_eq!(required.missing(&required), None);
}
