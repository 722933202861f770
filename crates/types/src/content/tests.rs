//! Reading and writing every block, and the errors for defective ones.

use super::*;

fn read(text: &str) -> Content {
    serde_json::from_str(text).unwrap()
}

fn error(text: &str) -> String {
    let error = serde_json::from_str::<Content>(text).unwrap_err().to_string();
    error.rsplit_once(" at line ").map_or(error.clone(), |(reason, _)| reason.to_owned())
}

// spec: CONT-1, CONT-2, PRMT-8
#[test]
fn every_block_is_written_as_it_was_read() {
    for text in [
        r#"{"type":"text","text":"hi","annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-07-28T12:00:00Z"},"_meta":{"a":1}}"#,
        r#"{"type":"image","data":"AAEC","mimeType":"image/png"}"#,
        r#"{"type":"audio","data":"AAEC","mimeType":"audio/wav","_meta":{"a":1}}"#,
        r#"{"type":"resource_link","uri":"a://b","name":"b","title":"B","description":"d","mimeType":"text/plain","annotations":{"priority":1},"size":3,"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}"#,
        r#"{"type":"resource","resource":{"uri":"a://b","mimeType":"text/plain","text":"hi"},"annotations":{"audience":["user"]},"_meta":{"a":1}}"#,
        r#"{"type":"resource","resource":{"uri":"a://b","blob":"AAEC"}}"#,
        r#"{"type":"tool_use","id":"1","name":"add","input":{"a":1},"_meta":{"a":1}}"#,
        r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"3"}],"structuredContent":null,"isError":true}"#,
        r#"{"type":"hologram","depth":3.0,"nested":{"b":1,"a":2}}"#,
    ] {
        assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
    }
}

// spec: CONT-1
#[test]
fn a_block_of_an_unknown_type_is_kept() {
    let block = read(r#"{"type":"hologram","depth":3}"#);
    assert_eq!(
        block,
        Content::Other(RawJson::from_text(r#"{"type":"hologram","depth":3}"#).unwrap())
    );
}

#[test]
fn unknown_members_are_ignored_and_null_is_absent() {
    let block = read(r#"{"text":"hi","new":1,"annotations":null,"_meta":null,"type":"text"}"#);
    assert_eq!(block, Content::text("hi"));
}

#[test]
fn an_unknown_role_is_kept() {
    let block = read(r#"{"type":"text","text":"hi","annotations":{"audience":["system"]}}"#);
    assert_eq!(block.annotations().unwrap().audience, [Role::Other("system".to_owned())]);
}

// spec: CONT-4, PRMT-9, PRMT-10, PRMT-11
#[test]
fn a_defect_is_named_with_the_type_of_the_block() {
    for (text, expected) in [
        (
            r#"{"type":"image","mimeType":"image/png"}"#,
            "content block of type `image`: `data`: missing",
        ),
        (r#"{"type":"audio","data":"AA=="}"#, "content block of type `audio`: `mimeType`: missing"),
        (
            r#"{"type":"resource_link","name":"b"}"#,
            "content block of type `resource_link`: `uri`: missing",
        ),
        (
            r#"{"type":"resource","resource":{"uri":"a://b"}}"#,
            "content block of type `resource`: `resource`: contents of `a://b` hold neither `text` nor `blob`",
        ),
        (
            r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text"}]}"#,
            "content block of type `tool_result`: `content`: content block of type `text`: `text`: missing",
        ),
        (r#"{"text":"hi"}"#, "content block: `type`: missing"),
        (r#""hi""#, "content block: expected an object, found `\"hi\"`"),
    ] {
        assert_eq!(error(text), expected);
    }
}

// spec: CONT-3
#[test]
fn annotations_inside_an_embedded_resource_are_understood_and_written_beside_it() {
    let inside = r#"{"type":"resource","resource":{"uri":"a://b","text":"hi","annotations":{"priority":0.5}}}"#;
    let beside = r#"{"type":"resource","resource":{"uri":"a://b","text":"hi"},"annotations":{"priority":0.5}}"#;
    assert_eq!(serde_json::to_string(&read(inside)).unwrap(), beside);
    assert_eq!(read(beside), read(inside));
}

// spec: CONT-4
#[test]
fn images_and_sounds_carry_the_bytes_they_were_made_of() {
    let bytes = [0, 1, 254, 255];
    let Content::Image(image) = Content::image(&bytes, "image/png") else { panic!() };
    assert_eq!(image.data.decode().unwrap(), bytes);
    let Content::Audio(audio) = Content::audio(&bytes, "audio/wav") else { panic!() };
    assert_eq!(audio.data.decode().unwrap(), bytes);
}

// spec: CONT-2
#[test]
fn a_priority_stays_between_0_and_1() {
    let priority = |value| Annotations::new().with_priority(value).priority;
    assert_eq!(priority(2.0), Some(1.0));
    assert_eq!(priority(-1.0), Some(0.0));
    assert_eq!(priority(0.25), Some(0.25));
    assert_eq!(priority(f64::NAN), None);
}

#[test]
fn a_tool_result_inside_a_tool_result_is_not_followed() {
    let open = r#"{"type":"tool_result","toolUseId":"1","content":["#;
    let depth = 50_000;
    let text = open.repeat(depth) + &"]}".repeat(depth);
    let Content::ToolResult(block) = read(&text) else { panic!() };
    assert!(matches!(block.content.as_slice(), [Content::Other(_)]));
}

#[test]
fn a_link_has_the_members_of_the_listed_resource() {
    let resource = ResourceDefinition::new("a://b", "b").with_title("B");
    let link = Content::ResourceLink(resource.into());
    let text = r#"{"type":"resource_link","uri":"a://b","name":"b","title":"B"}"#;
    assert_eq!(serde_json::to_string(&link).unwrap(), text);
}
