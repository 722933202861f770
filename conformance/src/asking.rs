//! Tools that ask the user, or the client's model, while they run.

use bowline::{Ask, Json, Result, Tool, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![
        test_sampling,
        test_missing_capability,
        test_elicitation,
        test_streaming_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
    ]
}

/// Ask the client's model
#[tool(read_only)]
async fn test_sampling(ask: Ask, prompt: String) -> Result<String> {
    let sampled = ask.sample(prompt).max_tokens(100).await?;
    Ok(format!("LLM response: {}", sampled.text()))
}

/// Need a model that the client may not have
#[tool(read_only)]
async fn test_missing_capability(ask: Ask) -> Result<String> {
    Ok(ask.sample("Is a model there?").max_tokens(100).await?.text())
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Account {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// Ask the user for two texts
#[tool(read_only)]
async fn test_elicitation(ask: Ask, message: String) -> Result<Json<Account>> {
    Ok(Json(ask.form(message).await?))
}

/// Ask the user yes or no
#[tool(read_only)]
async fn test_streaming_elicitation(ask: Ask) -> Result<bool> {
    Ok(ask.confirm("Go on?").await?)
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Defaults {
    /// User name
    name: String,
    /// User age
    age: i64,
    /// User score
    score: f64,
    /// User status
    status: Status,
    /// Verification status
    verified: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            name: "John Doe".to_owned(),
            age: 30,
            score: 95.5,
            status: Status::Active,
            verified: true,
        }
    }
}

/// Ask the user with a form that is filled in already
#[tool(read_only)]
async fn test_elicitation_sep1034_defaults(ask: Ask) -> Result<Json<Defaults>> {
    Ok(Json(ask.form("Is this right?").await?))
}

/// Every form of a choice.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Choices {
    untitled_single: Untitled,
    titled_single: Titled,
    legacy_enum: Legacy,
    untitled_multi: Vec<Untitled>,
    titled_multi: Vec<Titled>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Untitled {
    Option1,
    Option2,
    Option3,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Titled {
    #[schemars(title = "First Option")]
    Value1,
    #[schemars(title = "Second Option")]
    Value2,
    #[schemars(title = "Third Option")]
    Value3,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(extend("enumNames" = ["Option One", "Option Two", "Option Three"]))]
#[serde(rename_all = "lowercase")]
enum Legacy {
    Opt1,
    Opt2,
    Opt3,
}

/// Ask the user to choose, in every way there is
#[tool(read_only)]
async fn test_elicitation_sep1330_enums(ask: Ask) -> Result<Json<Choices>> {
    Ok(Json(ask.form("Choose").await?))
}
