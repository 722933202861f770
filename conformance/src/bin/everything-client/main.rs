//! The client for the official conformance suite: `everything-client URL`.
//!
//! The suite sets the environment: `MCP_CONFORMANCE_SCENARIO` names the scenario,
//! `MCP_CONFORMANCE_PROTOCOL_VERSION` the revision, `MCP_CONFORMANCE_CONTEXT` has parameters
//! of the scenario.

mod login;

use std::env;
use std::error::Error;

use bowline::client::{Answer, Client, Question};
use bowline::skills::SkillMismatch;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::revision::Revision;
use serde::Deserialize;
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome {
    let url = env::args().nth(1).ok_or("usage: everything-client URL")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO")?;
    let revision: Revision = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?.parse()?;
    login::judged(&scenario, run(&url, &scenario, revision).await)?;
    // The suite keeps what a client prints, and in most runs not how it ended.
    eprintln!("passed");
    Ok(())
}

/// Connects and plays a scenario.
async fn run(url: &str, scenario: &str, revision: Revision) -> Outcome {
    let client = Client::http(url)
        .tasks()
        .revisions([revision])
        .on_ask(|question| async move { answer(&question) });
    let client = match scenario.starts_with("auth/") {
        true => login::authorized(client, scenario)?,
        false => client,
    };
    let client = client.connect().await?;
    let done = play(&client, scenario).await;
    client.close().await;
    done
}

/// Accepts a confirmation; every other field has a default.
fn answer(question: &Question) -> Answer {
    let confirms = |form: &FormSchema| form.fields().any(|(name, _)| name == "confirmed");
    match question.form().is_some_and(confirms) {
        true => question.accept(json!({ "confirmed": true })),
        false => question.accept(json!({})),
    }
}

/// Plays a scenario.
async fn play(client: &Client, scenario: &str) -> Outcome {
    match scenario {
        "tools_call" => {
            client.tools().all().await?;
            client.call("add_numbers", json!({ "a": 5, "b": 3 })).await?;
        }
        "elicitation-sep1034-client-defaults" => {
            call(client, &["test_client_elicitation_defaults"]).await?;
        }
        "sse-retry" => call(client, &["test_reconnection"]).await?,
        "sep-2322-client-request-state" => {
            let tools = ["test_mrtr_echo_state", "test_mrtr_no_state"];
            call(client, &tools).await?;
            call(client, &["test_mrtr_unrelated", "test_mrtr_no_result_type"]).await?;
        }
        "http-standard-headers" => use_everything(client).await?,
        "http-custom-headers" => call_as_told(client).await?,
        "http-invalid-tool-headers" => {
            client.tools().all().await?;
            client.call("valid_tool", json!({ "region": "us-west1" })).await?;
        }
        "sep-2640-client-no-prefetch" => {
            client.skills().all().await?;
        }
        "sep-2640-client-verify-digest" => refuse(client, SkillMismatch::is_digest).await?,
        "sep-2640-client-verify-size" => refuse(client, SkillMismatch::is_size).await?,
        "sep-2640-client-verify-frontmatter" => {
            refuse(client, SkillMismatch::is_frontmatter).await?;
        }
        "json-schema-2020-12-preservation" => echo_schema(client).await?,
        scenario if scenario.starts_with("auth/") => call(client, &["test-tool"]).await?,
        // The other scenarios test the connection, and list every feature.
        _ if client.capabilities().supports_tools() => {
            client.tools().all().await?;
        }
        _ => {}
    }
    Ok(())
}

/// Lists the tools and calls these, without arguments.
async fn call(client: &Client, tools: &[&str]) -> Outcome {
    client.tools().all().await?;
    for tool in tools {
        client.call(*tool, json!({})).await?;
    }
    Ok(())
}

/// Loads the skill of the server and one of its files, which must fail for this reason.
async fn refuse(client: &Client, is_reason: fn(&SkillMismatch) -> bool) -> Outcome {
    let skills = client.skills().all().await?;
    let used = async {
        let loaded = client.load_skill(skills.first().ok_or("there is no skill")?).await?;
        loaded.read("references/FORMS.md").await?;
        Ok::<_, Box<dyn Error>>(())
    };
    let Err(error) = used.await else { return Err("the skill was used".into()) };
    let mismatch = error.downcast_ref().and_then(bowline::client::Error::skill_mismatch);
    if mismatch.is_some_and(is_reason) { Ok(()) } else { Err(error) }
}

/// Uses every tool, resource and prompt of the server.
async fn use_everything(client: &Client) -> Outcome {
    for tool in client.tools().all().await? {
        client.call(tool.name, json!({})).await?;
    }
    for resource in client.resources().all().await? {
        client.read(resource.uri).await?;
    }
    for prompt in client.prompts().all().await? {
        client.prompt(prompt.name).await?;
    }
    Ok(())
}

/// Makes the calls that the scenario's context lists.
async fn call_as_told(client: &Client) -> Outcome {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        tool_calls: Vec<ToolCall>,
    }
    #[derive(Deserialize)]
    struct ToolCall {
        name: String,
        arguments: Value,
    }
    let told: Told = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    client.tools().all().await?;
    for ToolCall { name, arguments } in told.tool_calls {
        client.call(name, arguments).await?;
    }
    Ok(())
}

/// Sends the schema of one tool back through another tool, unchanged.
async fn echo_schema(client: &Client) -> Outcome {
    let tools = client.tools().all().await?;
    let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = &tool.ok_or("the server has no `json_schema_2020_12_tool`")?.input_schema;
    client.call("json_schema_echo", json!({ "schema": schema })).await?;
    Ok(())
}
