//! Resources, templates, completion, prompts.

use std::time::Duration;

use bowline::{Json, Resource, Server, prompt, prompts, starting_with};
use serde_json::{Value, json};

async fn profile(user_id: String) -> Json<Value> {
    Json(json!({ "id": user_id, "name": "Ada" }))
}

/// Review code
#[prompt]
async fn review(language: String, focus: Option<String>) -> String {
    format!("Review this {language} code for {}.", focus.as_deref().unwrap_or("everything"))
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    let profile = Resource::template("users://{user_id}/profile", profile)
        .complete("user_id", |typed| async move { starting_with(typed, ["1", "2", "42"]) });
    Server::new("users", "1.0.0")
        .resource(
            Resource::new("config://app", || async { "log_level=info" })
                .ttl(Duration::from_secs(60)),
        )
        .resource(profile)
        .prompts(prompts![review])
        .run()
        .await
}
