//! Messages and batches, valid and malformed.

use bowline_types::error::code;
use bowline_types::method::CustomMethod;

use super::*;

fn parse(text: &str) -> Result<Frame, Malformed> {
    Frame::parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

fn message(text: &str) -> Message {
    match parse(text) {
        Ok(Frame::Message(message)) => message,
        other => panic!("{text}: {other:?}"),
    }
}

fn malformed(text: &str) -> Malformed {
    match parse(text) {
        Err(malformed) => malformed,
        other => panic!("{text}: {other:?}"),
    }
}

// spec: RPC-1, RPC-2, RPC-17
#[test]
fn a_request_has_id_method_and_params() {
    let Message::Request(request) =
        message(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#)
    else {
        panic!("no request");
    };
    assert_eq!(request.id, "a".into());
    assert_eq!(request.method, MethodName::Known(Method::ToolsCall));
    assert_eq!(request.params.value("name"), Some("\"x\""));
}

// spec: RPC-15
#[test]
fn a_message_without_an_id_is_a_notification() {
    let notification = message(r#"{"jsonrpc":"2.0","method":"notifications/unheard"}"#);
    assert!(matches!(
        notification,
        Message::Notification(NotificationMessage { method: MethodName::Unknown(_), .. })
    ));
}

// spec: RPC-12
#[test]
fn a_result_keeps_its_text_whatever_it_holds() {
    let Message::Response(response) = message(r#"{"jsonrpc":"2.0","id":1,"result":{"x": 1.0}}"#)
    else {
        panic!("no response");
    };
    assert_eq!(response.outcome.unwrap().as_str(), r#"{"x": 1.0}"#);
}

#[test]
fn the_members_of_a_result_are_known_and_an_error_has_none() {
    for (text, has_members) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"params":{"x":1},"error":{"code":1,"message":"m"}}"#, false),
    ] {
        let Message::Response(response) = message(text) else { panic!("no response") };
        assert_eq!(response.members.is_some(), has_members, "{text}");
    }
}

// spec: RPC-11
#[test]
fn an_error_may_come_without_an_id() {
    for id in ["", r#""id":null,"#] {
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"m"}}}}"#);
        let Message::Response(response) = message(&text) else { panic!("no response") };
        assert_eq!(response.id, None);
    }
}

// spec: ERR-1
#[test]
fn text_that_is_not_json_is_a_parse_error_without_id() {
    for text in [
        "",
        "{",
        "tru",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x",
        "[1,",
        "{'a':1}",
    ] {
        let malformed = malformed(text);
        assert_eq!(malformed.error.code, code::PARSE_ERROR, "{text}");
        assert_eq!(malformed.kind, MalformedKind::Request(None), "{text}");
    }
}

// spec: RPC-18
#[test]
fn text_that_is_not_utf8_is_a_parse_error() {
    let text = Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    let malformed = Frame::parse(&text, &Limits::default()).unwrap_err();
    assert_eq!(malformed.error.code, code::PARSE_ERROR);
    assert!(malformed.error.message.contains("UTF-8"));
}

// spec: ERR-2, RPC-1, RPC-3
#[test]
fn json_that_is_no_message_is_an_invalid_request_that_names_its_id_if_it_can() {
    let id = Some(RequestId::from(1));
    for (text, id) in [
        ("1", None),
        ("\"ping\"", None),
        (r#"{"id":1,"method":"ping"}"#, id.clone()),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, id.clone()),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, id.clone()),
        (r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#, id.clone()),
        (r#"{"jsonrpc":"2.0","id":1}"#, id.clone()),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, id.clone()),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, id.clone()),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, id.clone()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}"#, id),
    ] {
        let malformed = malformed(text);
        assert_eq!(malformed.error.code, code::INVALID_REQUEST, "{text}: {malformed:?}");
        assert_eq!(malformed.kind, MalformedKind::Request(id), "{text}");
    }
}

// spec: RPC-17, ERR-4
#[test]
fn params_that_are_no_object_are_invalid() {
    for params in ["[1]", "1", "\"a\"", r#"{"a":1,"a":1}"#] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
        let malformed = malformed(&text);
        assert_eq!(malformed.error.code, code::INVALID_PARAMS, "{text}");
        assert!(malformed.error.message.starts_with("`params"), "{malformed:?}");
    }
}

// spec: RPC-16
#[test]
fn a_malformed_notification_is_recognised_as_one() {
    let malformed = malformed(r#"{"jsonrpc":"2.0","method":"notifications/x","params":[1]}"#);
    assert_eq!(malformed.kind, MalformedKind::Notification);
}

// spec: RPC-7, RPC-8
#[test]
fn a_response_has_exactly_one_of_result_and_error() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
        r#"{"id":1,"result":{}}"#,
    ] {
        assert_eq!(malformed(text).kind, MalformedKind::Response(Some(1.into())), "{text}");
    }
    assert_eq!(malformed(r#"{"jsonrpc":"2.0","result":{}}"#).kind, MalformedKind::Response(None));
}

// spec: RPC-19
#[test]
fn a_batch_is_read_message_by_message() {
    let text = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7, {"jsonrpc":"2.0","method":"x"}]"#;
    let Ok(Frame::Batch(items)) = parse(text) else { panic!("no batch") };
    assert!(matches!(items[0], Ok(Message::Request(_))));
    assert!(items[1].is_err());
    assert!(matches!(items[2], Ok(Message::Notification(_))));
}

#[test]
fn a_batch_is_neither_empty_nor_endless() {
    assert_eq!(malformed("[]").error.code, code::INVALID_REQUEST);
    let many = vec!["{}"; 101].join(",");
    assert!(malformed(&format!("[{many}]")).error.message.contains("at most 100"));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 2), "]".repeat(depth - 2));
        format!(r#"{{"jsonrpc":"2.0","id":9,"method":"x","params":{{"a":{open}{close}}}}}"#)
    };
    assert!(parse(&nested(128)).is_ok());
    let malformed = malformed(&nested(129));
    assert!(malformed.error.message.contains("deeper than 128"));
    assert_eq!(malformed.kind, MalformedKind::Request(Some(9.into())));
    let brackets = "[".repeat(10_000);
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":9,"method":"x","params":{{"a":"\"{brackets}"}}}}"#);
    assert!(parse(&text).is_ok(), "brackets in a string do not nest");
}

#[test]
fn only_brackets_that_open_something_count_as_levels() {
    let nested = |inner: &str| {
        // An unknown member makes the scanner give up, and the parser counts levels for itself.
        let text = format!(r#"{{"jsonrpc":"2.0","x":1,"id":9,"method":"y","params":{inner}}}"#);
        Frame::parse(&Bytes::from(text), &Limits { depth: 3, ..Limits::default() })
    };
    for fits in [
        r#"{"a":["\"[[[[","]]","{{{{"]}"#,
        r#"{"[[[[":1,"\\":"\\","{{\"{{":2}"#,
        r#"{"a":"{{{{\\\"[[[["}"#,
        r#"{"a":{},"b":{},"c":[],"d":[]}"#,
    ] {
        assert!(nested(fits).is_ok(), "{fits}");
    }
    for deep in [r#"{"a":[[]]}"#, r#"{"\"":[[1]]}"#, r#"{"]]]":[{}]}"#, r#"{"a":"]","b":{"c":{}}}"#]
    {
        let error = nested(deep).unwrap_err().error;
        assert!(error.message.contains("deeper than 3 levels"), "{deep}: {error:?}");
    }
}

#[test]
fn the_calls_of_a_frame_are_counted_and_a_single_request_is_named() {
    CustomMethod::register("notifications/frame/note", MessageKind::Notification).unwrap();
    CustomMethod::register("frame/run", MessageKind::Request).unwrap();
    for (text, calls, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, 1, Some(7)),
        (r#"{"jsonrpc":"2.0","method":"ping"}"#, 0, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 0, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/frame/note"}"#, 1, None),
        (r#"{"jsonrpc":"2.0","method":"frame/run"}"#, 0, None),
        (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, 0, None),
        (
            r#"[{"jsonrpc":"2.0","id":7,"method":"a"},{"jsonrpc":"2.0","method":"notifications/frame/note"}]"#,
            2,
            None,
        ),
        (r#"[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"x"},1]"#, 1, None),
        (
            r#"[{"jsonrpc":"2.0","id":7,"method":"a"},{"jsonrpc":"2.0","id":8,"method":"b"}]"#,
            2,
            None,
        ),
    ] {
        let frame = parse(text).unwrap();
        assert_eq!(frame.calls(), calls, "{text}");
        assert_eq!(frame.id(), id.map(RequestId::from).as_ref(), "{text}");
    }
}

/// Whether the scanner reads a message, and not the parser.
fn is_usual(text: &str) -> bool {
    Envelope::scan(&ByteString::from(text), 128).is_some()
}

#[test]
fn usual_messages_are_scanned_in_one_pass_and_unusual_ones_are_parsed() {
    for usual in [
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":1}}"#,
        r#"{"params":{"b":1},"method":"a","id":1,"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#,
        r#"{"result":{"a":1},"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
    ] {
        assert!(is_usual(usual), "{usual}");
        assert!(parse(usual).is_ok(), "{usual}");
    }
    for odd in [
        r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"params":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
        "{}",
    ] {
        assert!(!is_usual(odd), "{odd}");
    }
}

// spec: RPC-1
#[test]
fn a_member_of_a_message_occurs_once() {
    for twice in [
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"error":{}}"#,
    ] {
        assert!(
            malformed(twice).error.message.contains("twice"),
            "{twice}: {:?}",
            malformed(twice)
        );
    }
}

#[test]
fn the_id_of_a_truncated_message_is_found_in_its_first_bytes() {
    assert_eq!(
        id_within(br#"{"jsonrpc":"2.0","id":"x","method":"a","params":{"#),
        Some("x".into())
    );
    assert_eq!(id_within(b"{\"id\":7,\"a\":\"\xc3"), Some(7.into()));
    assert_eq!(id_within(br#"{"jsonrpc":"2.0","params":{"id":7,"#), None);
    assert_eq!(id_within(b"xxxx"), None);
}
