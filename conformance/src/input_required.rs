//! Tools with which the suite tests input-required results (2026-07-28).
//!
//! Asking is the same in all revisions, so most of these are ordinary. Only the first has to put
//! its question under a key that the suite expects, and does so in a layer.

use bowline::layer::{self, Next};
use bowline::{Ask, Context, Result, Tool, ToolFn, tool, tools};
use bowline_proto::request::{Request, Response, Success};
use bowline_types::elicitation::schema::{FormSchema, StringSchema};
use bowline_types::elicitation::{ElicitAction, ElicitParams, ElicitResult};
use bowline_types::error::ErrorObject;
use bowline_types::input::{InputRequests, InputRequired, InputResponses};
use schemars::JsonSchema;
use serde::Deserialize;

/// The key under which the suite answers the question for a name.
const USER_NAME: &str = "user_name";

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    let keyed = layer::from_fn(ask_for_user_name);
    let elicitation = test_input_required_result_elicitation::tool().layer(keyed);
    [elicitation].into_iter().chain(tools![
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
    ])
}

#[derive(Clone, Deserialize, JsonSchema)]
struct UserName {
    name: String,
}

/// Ask the user for a name
#[tool(read_only)]
async fn test_input_required_result_elicitation(ask: Ask, context: Context) -> Result<String> {
    let UserName { name } = match context.extension() {
        Some(UserName { name }) => UserName { name: name.clone() },
        None => ask.form("What is your name?").await?,
    };
    Ok(format!("Hello, {name}!"))
}

/// Asks by an input-required result, if the caller's revision has them, until there is a name.
async fn ask_for_user_name(mut request: Request, next: Next) -> Response {
    let parts = &mut request.parts;
    let can_be_asked = parts.client.capabilities.supports_form_elicitation();
    if parts.revision.has_input_requests() && can_be_asked {
        let answers = parts.input.take().map(|input| input.responses).unwrap_or_default();
        match answered_name(&answers) {
            Some(name) => parts.extensions.insert(name),
            None => return Success::input_required(question()?, parts.revision),
        }
    }
    next.run(request).await
}

fn question() -> Result<InputRequired, ErrorObject> {
    let form = FormSchema::new().with_required("name", StringSchema::default());
    let mut questions = InputRequests::new();
    questions
        .insert(USER_NAME, ElicitParams::form("What is your name?", form).into())
        .map_err(|error| ErrorObject::internal(error.to_string()))?;
    Ok(InputRequired::new(questions))
}

fn answered_name(answers: &InputResponses) -> Option<UserName> {
    let answer: ElicitResult = answers.parse(USER_NAME).ok()??;
    let accepted = answer.content.filter(|_| answer.action == ElicitAction::Accept)?;
    accepted.parse().ok()
}

/// Ask the client's model for a capital
#[tool(read_only)]
async fn test_input_required_result_sampling(ask: Ask) -> Result<String> {
    let question = ask.sample("What is the capital of France?").max_tokens(100);
    Ok(question.await?.text())
}

/// Ask the client for its roots
#[tool(read_only)]
async fn test_input_required_result_list_roots(ask: Ask) -> Result<String> {
    let roots = ask.roots().await?;
    Ok(format!("The client has {} roots", roots.iter().len()))
}

#[derive(Deserialize, JsonSchema)]
struct Confirmed {
    ok: bool,
}

/// Ask, and remember the call until the answer comes
#[tool(read_only)]
async fn test_input_required_result_request_state(ask: Ask) -> Result<String> {
    let Confirmed { ok } = ask.form("Is it all right?").await?;
    Ok(format!("state-ok, and confirmed: {ok}"))
}

/// Ask the user, the client's model and the client itself at the same time
#[tool(read_only)]
async fn test_input_required_result_multiple_inputs(ask: Ask) -> Result<String> {
    let name = ask.form::<UserName>("What is your name?");
    let greeting = ask.sample("Say a greeting").max_tokens(100).ask();
    let (UserName { name }, greeting, roots) = tokio::try_join!(name, greeting, ask.roots())?;
    Ok(format!("{}, {name}, of {} roots", greeting.text(), roots.iter().len()))
}

#[derive(Deserialize, JsonSchema)]
struct FavouriteColour {
    color: String,
}

/// Ask one question after the other
#[tool(read_only)]
async fn test_input_required_result_multi_round(ask: Ask) -> Result<String> {
    let UserName { name } = ask.form("Step 1: what is your name?").await?;
    let FavouriteColour { color } = ask.form("Step 2: what is your favourite colour?").await?;
    Ok(format!("{name} likes {color}"))
}

/// Ask, and trust no state that was tampered with
#[tool(read_only)]
async fn test_input_required_result_tampered_state(ask: Ask) -> Result<String> {
    let is_confirmed = ask.confirm("Please confirm").await?;
    Ok(format!("confirmed: {is_confirmed}"))
}

/// Ask the user if the client allows it, or else the client's model
#[tool(read_only)]
async fn test_input_required_result_capabilities(ask: Ask, context: Context) -> Result<String> {
    if context.capabilities().supports_form_elicitation() {
        let UserName { name } = ask.form("What is your name?").await?;
        return Ok(name);
    }
    Ok(ask.sample("Invent a name").max_tokens(100).await?.text())
}
