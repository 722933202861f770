//! The clients under test of transcripts, by the names in the header `host:`.

use bowline::client::{Answer, ClientBuilder, Review, SamplingAnswer, SamplingRequest};
use bowline::{Client, Content, Question};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::deprecated::roots::Root;
use bowline_types::deprecated::sampling::{CreateMessageResult, StopReason};
use serde_json::json;

/// Returns the client with a name.
///
/// # Panics
///
/// Panics if there is none with that name.
pub fn host(name: Option<&str>) -> ClientBuilder {
    let builder = Client::builder("transcript", "1.0.0").tasks();
    match name {
        Some("bare") => builder,
        Some("user") => builder.on_ask(|question| async move { fill_in(&question) }),
        Some("browser") => {
            builder.allow_urls().on_ask(|question| async move { fill_in(&question) })
        }
        Some("model") => {
            builder.allow_sampling_tools().on_sample(|request| async move { think(&request) })
        }
        Some("guarded-model") => builder
            .on_sample(|request| async move { think(&request) })
            .review_sampling(|_| async { Review::Deny("not this time".to_owned()) }),
        Some("rooted") => builder.roots([
            Root::new("file:///").unwrap().with_name("All of it"),
            Root::new("file:///no-such-place").unwrap(),
        ]),
        Some("logging") => builder.on_log(LoggingLevel::Warning, |_| ()),
        name => panic!("no sample host is called {name:?}"),
    }
}

/// Answers as the text of the question demands.
fn fill_in(question: &Question) -> Answer {
    if question.looks_sensitive() {
        return question.decline();
    }
    match question.message() {
        "Not at all?" => question.decline(),
        "Later?" => question.cancel(),
        "Wrong?" => question.accept(json!({ "name": 7 })),
        "Unheard?" => Err::<Answer, _>("no screen").into(),
        _ => question.accept(json!({ "name": "Ada" })),
    }
}

/// A model that calls no tools and repeats the last message.
fn think(request: &SamplingRequest) -> SamplingAnswer {
    let params = request.params();
    let last = params.messages.last().and_then(|message| message.content.first());
    let model = request.choose_model(&["small-1", "large-2"]).unwrap_or("small-1");
    match last.and_then(Content::as_text) {
        Some("Not this") => request.reject("too private"),
        Some("Break") => Err::<SamplingAnswer, _>("no model is loaded").into(),
        text => {
            let heard = text.unwrap_or("something that is no text");
            let said = format!("{heard}, in {} tokens", params.max_tokens);
            CreateMessageResult::new(model, said).with_stop_reason(StopReason::EndTurn).into()
        }
    }
}
