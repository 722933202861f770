//! Questions and answers on the wire.

use super::*;
use crate::deprecated::roots::ListRootsResult;
use crate::elicitation::{ElicitAction, ElicitResult};
use crate::round_trip::round_trip;

const QUESTIONS: &str = concat!(
    r#"{"zeta":{"method":"elicitation/create","params":{"message":"Name?","#,
    r#""requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}},"#,
    r#""alpha":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","#,
    r#""content":{"type":"text","text":"hi"}}],"maxTokens":100}},"#,
    r#""mid":{"method":"roots/list"}}"#
);

// spec: MRTR-4, MRTR-6, MRTR-8
#[test]
fn questions_are_written_as_they_were_read_and_in_their_order() {
    let text = format!(r#"{{"inputRequests":{QUESTIONS},"requestState":"eyJ0Ijox"}}"#);
    let required = round_trip::<InputRequired>(&text);
    let keys: Vec<_> = required.input_requests.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["zeta", "alpha", "mid"]);
}

// spec: MRTR-4, MRTR-20
#[test]
fn state_alone_is_enough() {
    let required: InputRequired = serde_json::from_str(r#"{"requestState":""}"#).unwrap();
    assert_eq!(required, InputRequired::again(""));
    assert!(!required.is_empty());
    let nothing: InputRequired =
        serde_json::from_str(r#"{"inputRequests":{},"requestState":null}"#).unwrap();
    assert!(nothing.is_empty());
}

// spec: MRTR-5
#[test]
fn a_key_names_one_question() {
    let mut requests = InputRequests::new();
    requests.insert("k", InputRequest::ListRoots).unwrap();
    let error = requests.insert("k", InputRequest::ListRoots).unwrap_err().to_string();
    assert!(error.contains("`k`"), "{error}");
    let twice = r#"{"k":{"method":"roots/list"},"k":{"method":"roots/list"}}"#;
    assert!(serde_json::from_str::<InputRequests>(twice).is_err());
}

// spec: MRTR-7
#[test]
fn a_question_says_what_the_client_must_declare() {
    let requests: InputRequests = serde_json::from_str(QUESTIONS).unwrap();
    let required = |key| requests.request(key).unwrap().required_capabilities();
    assert_eq!(required("zeta"), ClientCapabilities::new().with_form_elicitation());
    assert_eq!(required("alpha"), ClientCapabilities::new().with_sampling());
    assert_eq!(required("mid"), ClientCapabilities::new().with_roots());
}

#[test]
fn an_unknown_question_survives() {
    let text = r#"{"method":"moon/phase","params":{"x":1.0},"extra":null}"#;
    let request: InputRequest = serde_json::from_str(text).unwrap();
    assert_eq!(request.method(), None);
    assert_eq!(serde_json::to_string(&request).unwrap(), text);
}

#[test]
fn a_question_that_cannot_be_read_says_which_and_why() {
    let error = |text: &str| serde_json::from_str::<InputRequest>(text).unwrap_err().to_string();
    let sampling = error(r#"{"method":"sampling/createMessage","params":{"messages":[]}}"#);
    assert!(sampling.contains("`sampling/createMessage`"), "{sampling}");
    assert!(sampling.contains("`maxTokens`: missing"), "{sampling}");
    let nameless = error(r#"{"params":{}}"#);
    assert!(nameless.contains("`method`: missing"), "{nameless}");
}

// spec: MRTR-26, MRTR-27
#[test]
fn answers_are_read_as_what_was_asked() {
    let text = r#"{"a":{"action":"decline"},"r":{"roots":[]},"x":7}"#;
    let responses = round_trip::<InputResponses>(text);
    let answer: ElicitResult = responses.parse("a").unwrap().unwrap();
    assert_eq!(answer.action, ElicitAction::Decline);
    assert!(responses.parse::<ListRootsResult>("r").unwrap().unwrap().roots.is_empty());
    assert_eq!(responses.parse::<ElicitResult>("missing").unwrap(), None);
    assert!(responses.parse::<ElicitResult>("x").is_err());
}

#[test]
fn an_outcome_is_complete_or_not() {
    assert_eq!(Outcome::Complete(1).map(|it| it + 1).complete(), Some(2));
    let open = Outcome::<u8>::InputRequired(InputRequired::again("s"));
    assert_eq!(open.map(|it| it + 1).complete(), None);
}
