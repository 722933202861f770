//! Resources, templates and contents on the wire.

use super::*;
use crate::id::Cursor;
use crate::page::PagedResult;
use crate::round_trip::round_trip;

fn error<T: for<'de> Deserialize<'de> + std::fmt::Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

// spec: RSRC-10
#[test]
fn a_resource_is_written_as_it_was_read() {
    round_trip::<ResourceDefinition>(
        r#"{"uri":"a://b","name":"b","title":"B","description":"d","mimeType":"text/plain","annotations":{"audience":["user"]},"size":3,"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}"#,
    );
    round_trip::<ResourceTemplate>(
        r#"{"uriTemplate":"a://{b}","name":"b","title":"B","description":"d","mimeType":"text/plain","annotations":{"priority":0.5},"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}"#,
    );
}

// spec: RSRC-10
#[test]
fn a_resource_needs_its_uri_and_its_name() {
    assert!(error::<ResourceDefinition>(r#"{"name":"b"}"#).contains("missing field `uri`"));
    assert!(error::<ResourceDefinition>(r#"{"uri":"a://b"}"#).contains("missing field `name`"));
    let text = r#"{"name":"b"}"#;
    assert!(error::<ResourceTemplate>(text).contains("missing field `uriTemplate`"));
}

#[test]
fn unknown_members_are_ignored_and_null_is_absent() {
    let text = r#"{"uri":"a://b","name":"b","new":1,"title":null,"annotations":null,"size":null,"icons":null,"_meta":null}"#;
    let read: ResourceDefinition = serde_json::from_str(text).unwrap();
    assert_eq!(read, ResourceDefinition::new("a://b", "b"));
}

// spec: CONT-5
#[test]
fn resources_and_templates_are_shown_by_their_title_or_name() {
    assert_eq!(ResourceDefinition::new("a://b", "b").display_name(), "b");
    assert_eq!(ResourceDefinition::new("a://b", "b").with_title("B").display_name(), "B");
    assert_eq!(ResourceTemplate::new("a://{b}", "b").display_name(), "b");
    assert_eq!(ResourceTemplate::new("a://{b}", "b").with_title("B").display_name(), "B");
}

// spec: RSRC-11, RSRC-12, RSRC-25
#[test]
fn contents_are_text_or_bytes() {
    let text = r#"{"contents":[{"uri":"a://b","mimeType":"text/plain","text":"hi","_meta":{"a":1}},{"uri":"a://c","blob":"AP8="}]}"#;
    round_trip::<ReadResourceResult>(text);
    let read: ReadResourceResult = serde_json::from_str(text).unwrap();
    let [first, second] = read.contents.as_slice() else { panic!() };
    assert_eq!((first.as_text(), second.as_text()), (Some("hi"), None));
    assert_eq!(first.to_bytes().unwrap(), b"hi");
    assert_eq!(second.to_bytes().unwrap(), [0, 255]);
}

// spec: RSRC-11
#[test]
fn contents_hold_exactly_one_of_text_and_blob() {
    let neither = error::<ResourceContents>(r#"{"uri":"a://b","text":null}"#);
    assert!(neither.contains("contents of `a://b` hold neither `text` nor `blob`"), "{neither}");
    let both = error::<ResourceContents>(r#"{"uri":"a://b","text":"hi","blob":"AA=="}"#);
    assert!(both.contains("contents of `a://b` hold both `text` and `blob`"), "{both}");
}

// spec: RSRC-25
#[test]
fn invalid_base64_is_reported_when_it_is_decoded() {
    let read: ResourceContents = serde_json::from_str(r#"{"uri":"a://b","blob":"%"}"#).unwrap();
    assert!(read.to_bytes().unwrap_err().to_string().starts_with("not base64"));
}

#[test]
fn pages_give_their_items_and_the_next_cursor() {
    let page = ListResourcesResult::new(vec![ResourceDefinition::new("a://b", "b")]);
    let page = page.with_next_cursor(Cursor::new("2"));
    let (items, next) = page.into_parts();
    assert_eq!((items.len(), next), (1, Some(Cursor::new("2"))));
    let text = r#"{"resourceTemplates":[{"uriTemplate":"a://{b}","name":"b"}]}"#;
    round_trip::<ListResourceTemplatesResult>(text);
}

#[test]
fn an_invalid_template_is_reported_when_it_is_parsed() {
    assert!(ResourceTemplate::new("a://{b}", "b").template().is_ok());
    assert!(ResourceTemplate::new("a://{b", "b").template().is_err());
}
