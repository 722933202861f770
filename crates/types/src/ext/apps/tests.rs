//! Tests of the metadata of tools and interfaces.

use super::*;
use crate::json::RawJson;

fn meta(text: &str) -> Meta {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_tool_names_its_interface_in_either_spelling() {
    let nested = ToolUi::find(&meta(r#"{"ui":{"resourceUri":"ui://a/b"}}"#)).unwrap();
    let flat = ToolUi::find(&meta(r#"{"ui/resourceUri":"ui://a/b"}"#)).unwrap();
    assert_eq!(nested, flat);
    assert!(nested.has_ui_scheme() && !ToolUi::new("https://a").has_ui_scheme());
    assert_eq!(ToolUi::find(&Meta::new()), None);
}

#[test]
fn a_tool_without_visibility_is_visible_to_all() {
    let every = ToolUi::new("ui://a");
    assert!(every.is_visible_to_model() && every.is_visible_to_app());
    let app = every.with_visibility([Visibility::App]);
    assert!(!app.is_visible_to_model() && app.is_visible_to_app());
    let none = ToolUi::find(&meta(r#"{"ui":{"visibility":[]}}"#)).unwrap();
    assert!(!none.is_visible_to_model() && !none.is_visible_to_app());
}

#[test]
fn a_media_type_is_known_in_any_spelling() {
    for known in
        [MIME_TYPE, "text/html; profile=mcp-app", "Text/HTML;charset=utf-8;profile=\"mcp-app\""]
    {
        assert!(is_mime_type(known), "{known}");
    }
    for other in ["text/html", "text/html;profile=x", "text/plain;profile=mcp-app", ""] {
        assert!(!is_mime_type(other), "{other}");
    }
}

// spec: APP-3
#[test]
fn an_html_document_begins_with_its_doctype() {
    for document in ["<!DOCTYPE html><p>", "\u{feff}\n<!-- a --> <!doctype HTML>", "<!doctype html"]
    {
        assert!(is_html_document(document), "{document}");
    }
    for other in ["", "<p>", "<html>", "<!-- <!doctype html>", "<!doctyp\u{e9} html>"] {
        assert!(!is_html_document(other), "{other}");
    }
}

#[test]
fn the_needs_of_an_interface_are_written_as_they_were_read() {
    let text = concat!(
        r#"{"csp":{"connectDomains":["https://api.example.com"],"frameDomains":["https://f"]},"#,
        r#""permissions":{"camera":{},"clipboardWrite":{}},"domain":"x","prefersBorder":true}"#
    );
    let ui = ResourceUi::find(&meta(&format!(r#"{{"ui":{text}}}"#))).unwrap();
    assert_eq!(serde_json::to_string(&ui).unwrap(), text);
}

#[test]
fn a_client_declares_the_kinds_of_interface_it_can_show() {
    let settings = Object::new(RawJson::from_value(&UiSettings::new()).unwrap()).unwrap();
    let client = ClientCapabilities::new().with_extension(IDENTIFIER, settings).unwrap();
    assert!(client.supports_ui());
    let without = ClientCapabilities::new().with_extension(IDENTIFIER, Object::default());
    assert!(!without.unwrap().supports_ui(), "`mimeTypes` is required");
}
