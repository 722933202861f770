//! What a record of a task allows, and how it reads in both kinds of tasks.

use super::*;
use bowline_types::elicitation::ElicitParams;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::revision::Revision;

fn record() -> TaskRecord {
    let times = (Duration::from_secs(60), Duration::from_secs(1));
    TaskRecord::new(SystemTime::now(), times, "r", None)
}

fn question() -> InputRequest {
    ElicitParams::form("Who?", FormSchema::new()).into()
}

fn answer(key: &str) -> RecordedAnswer {
    RecordedAnswer { key: key.to_owned(), answer: Some(RawJson::empty_object()), refusal: None }
}

fn failed_tool() -> Response {
    Success::complete(CallToolResult::error("no disk"), Revision::LATEST)
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let mut record = record();
    record.ask(question(), 8).unwrap();
    record.describe("asking".to_owned());
    let text = record.write();
    assert_eq!(TaskRecord::read(&text).unwrap().write(), text);
    assert!(TaskRecord::read(&"{}".into()).is_none());
}

// spec: TASK-21, TASK-23, TASK-26, XTASK-16, XTASK-25, XTASK-26, XTASK-29, XTASK-30
#[test]
fn a_task_works_again_once_every_question_is_answered_and_uses_no_key_twice() {
    let mut record = record();
    let keys = [record.ask(question(), 2), record.ask(question(), 2), record.ask(question(), 2)];
    assert_eq!(keys, [Some("q1".to_owned()), Some("q2".to_owned()), None]);
    record.answer(answer("q9"));
    record.answer(answer("q1"));
    let task = record.as_task("t");
    assert_eq!(task.status, TaskStatus::InputRequired);
    assert!(task.input_requests.unwrap().iter().map(|(key, _)| key).eq(["q2"]));
    record.answer(answer("q2"));
    record.answer(answer("q2"));
    assert_eq!(record.as_task("t").status, TaskStatus::Working);
    assert_eq!(record.take_answers().len(), 2);
    assert_eq!(record.ask(question(), 2).as_deref(), Some("q3"));
}

// spec: TASK-22, TASK-58, XTASK-46
#[test]
fn a_task_that_has_ended_never_changes() {
    let mut cancelled = record();
    cancelled.ask(question(), 8).unwrap();
    assert!(cancelled.cancel());
    let before = cancelled.write();
    assert!(!cancelled.cancel());
    cancelled.end(&Ok(Success::empty()));
    cancelled.describe("late".to_owned());
    cancelled.answer(answer("q1"));
    assert_eq!(cancelled.ask(question(), 8), None);
    assert_eq!(cancelled.write(), before);
    assert_eq!(cancelled.as_task("t").status, TaskStatus::Cancelled);
}

// spec: TASK-65, TASK-66, XTASK-44, XTASK-45
#[test]
fn an_error_of_the_tool_is_a_failure_in_the_core_and_a_result_in_the_extension() {
    let mut record = record();
    record.end(&failed_tool());
    let (core, task) = (record.as_core_task("t"), record.as_task("t"));
    assert_eq!((core.status, task.status), (TaskStatus::Failed, TaskStatus::Completed));
    assert_eq!(core.status_message.as_deref(), Some("no disk"));
    assert!(task.result.unwrap().as_str().contains(r#""isError":true"#));
}

// spec: XTASK-17, XTASK-18, TASK-36, TASK-38
#[test]
fn the_outcome_is_what_the_call_would_have_returned() {
    let mut done = record();
    let mut result = CallToolResult::from_text("done");
    result.meta.set("com.example/a", &1).unwrap();
    done.end(&Success::complete(result, Revision::LATEST));
    let text = done.as_task("t").result.unwrap();
    let expected = r#"{"_meta":{"com.example/a":1},"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;
    assert_eq!(text.as_str(), expected);
    let response = done.response().unwrap().unwrap();
    assert!(response.meta().value("com.example/a").is_some());

    let mut failed = record();
    failed.end(&Err(ErrorObject::internal("broken")));
    let task = failed.as_task("t");
    assert_eq!(task.error, Some(ErrorObject::internal("broken")));
    assert_eq!(task.status_message.as_deref(), Some("broken"));
    assert!(failed.response().unwrap().is_err());
    assert!(record().response().is_none());
}
