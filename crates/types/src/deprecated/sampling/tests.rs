//! Sampling on the wire, and the capabilities that it needs.

use super::*;
use crate::round_trip::round_trip;

fn params(text: &str) -> CreateMessageParams {
    serde_json::from_str(text).unwrap()
}

// spec: SAMP-29, SAMP-30
#[test]
fn a_question_is_written_as_it_was_read() {
    for text in [
        concat!(
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"Capital of France?"}}],"#,
            r#""modelPreferences":{"hints":[{"name":"claude"}],"speedPriority":0.5,"#,
            r#""intelligencePriority":0.8},"systemPrompt":"Be brief.","maxTokens":100}"#
        ),
        concat!(
            r#"{"messages":[],"includeContext":"thisServer","temperature":0.7,"maxTokens":1,"#,
            r#""stopSequences":["END"],"metadata":{"a":1},"toolChoice":{"mode":"required"},"#,
            r#""task":{"ttl":60000}}"#
        ),
    ] {
        assert_eq!(serde_json::to_string(&params(text)).unwrap(), text);
    }
    for (text, member) in [(r#"{"messages":[]}"#, "maxTokens"), (r#"{"maxTokens":1}"#, "messages")]
    {
        let error = serde_json::from_str::<CreateMessageParams>(text).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{member}`")), "{error}");
    }
}

// spec: SAMP-37
#[test]
fn content_is_one_block_or_many() {
    let one = r#"{"role":"user","content":{"type":"text","text":"a"}}"#;
    let many = concat!(
        r#"{"role":"assistant","content":[{"type":"text","text":"a"},"#,
        r#"{"type":"tool_use","id":"1","name":"t","input":{}}]}"#
    );
    for text in [one, many] {
        round_trip::<SamplingMessage>(text);
    }
    let array_of_one = r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#;
    let message: SamplingMessage = serde_json::from_str(array_of_one).unwrap();
    assert_eq!(serde_json::to_string(&message).unwrap(), one);
}

#[test]
fn content_that_cannot_be_read_says_why() {
    let text = r#"{"role":"user","content":[{"type":"image","mimeType":"image/png"}]}"#;
    let error = serde_json::from_str::<SamplingMessage>(text).unwrap_err().to_string();
    assert!(error.contains("content block of type `image`: `data`: missing"), "{error}");
}

// spec: SAMP-34
#[test]
fn a_stop_reason_may_be_any_word() {
    for reason in ["endTurn", "stopSequence", "maxTokens", "toolUse", "contentFilter"] {
        let text =
            format!(r#"{{"role":"assistant","content":[],"model":"m","stopReason":"{reason}"}}"#);
        let result: CreateMessageResult = serde_json::from_str(&text).unwrap();
        assert_eq!(result.stop_reason.as_ref().map(StopReason::as_str), Some(reason));
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
    }
}

// spec: SAMP-7, SAMP-8
#[test]
fn tools_need_a_capability_of_their_own() {
    let plain = params(r#"{"messages":[],"maxTokens":1}"#);
    assert!(!plain.required_capabilities().supports_sampling_tools());
    assert!(plain.required_capabilities().supports_sampling());
    let choice = plain.with_tool_choice(ToolChoice::new(ToolChoiceMode::None));
    assert!(choice.required_capabilities().supports_sampling_tools());
}

// spec: SAMP-16
#[test]
fn a_tool_choice_may_leave_out_its_mode() {
    let choice: ToolChoice = serde_json::from_str("{}").unwrap();
    assert_eq!(choice.mode, None);
    let choice: ToolChoice = serde_json::from_str(r#"{"mode":"none"}"#).unwrap();
    assert_eq!(choice, ToolChoice::new(ToolChoiceMode::None));
}

// spec: SAMP-29
#[test]
fn priorities_are_held_between_zero_and_one() {
    let preferences = ModelPreferences::new().with_cost_priority(7.0).with_speed_priority(-1.0);
    assert_eq!(preferences.cost_priority, Some(1.0));
    assert_eq!(preferences.speed_priority, Some(0.0));
}

// spec: SAMP-26
#[test]
fn hints_keep_their_order() {
    let text = r#"{"hints":[{"name":"b"},{"name":"a"},{}]}"#;
    round_trip::<ModelPreferences>(text);
}
