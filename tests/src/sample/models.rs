//! Tools that use sampling.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bowline::extract::Sampled;
use bowline::{Args, Ask, Json, Server, State, Tool, tool, tools};
use bowline_types::content::ToolUseContent;
use bowline_types::deprecated::sampling::{
    CreateMessageParams, IncludeContext, ModelPreferences, SamplingMessage, ToolChoiceMode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sampling with text, images, audio, context and tools.
pub(super) fn server(server: Server) -> Server {
    server.state(Lookups::default()).tools(tools![ask, summarize, describe, gather, advise, pick])
}

/// The text of a model's answer, with its name and its stop reason.
fn told(sampled: &Sampled) -> String {
    let reason = sampled.stop_reason.as_ref().map_or("for no reason", |reason| reason.as_str());
    format!("{} ({reason}): {}", sampled.model, sampled.text())
}

/// Ask the model
#[tool]
async fn ask(ask: Ask) -> bowline::Result<String> {
    Ok(told(&ask.sample("Hello?").await?))
}

/// Ask the model with every wish that there is
#[tool]
async fn summarize(ask: Ask) -> bowline::Result<String> {
    let preferences = ModelPreferences::new()
        .with_hint("large")
        .with_hint("small")
        .with_cost_priority(0.25)
        .with_speed_priority(0.5)
        .with_intelligence_priority(1.5);
    let summary = ask
        .sample("Summarize: a b c")
        .message(SamplingMessage::assistant("Do you mean the alphabet?"))
        .message(SamplingMessage::user("Yes"))
        .system("Be brief")
        .prefer(preferences)
        .temperature(0.5)
        .stop("END")
        .max_tokens(50);
    Ok(told(&summary.await?))
}

/// Show the model a picture and play it a sound
#[tool]
async fn describe(ask: Ask) -> bowline::Result<String> {
    let described =
        ask.sample("What is this?").image(b"picture", "image/png").audio(b"sound", "audio/wav");
    Ok(told(&described.await?))
}

/// Ask with the context of this server
#[tool]
async fn gather(ask: Ask) -> bowline::Result<String> {
    let mut params = CreateMessageParams::new([SamplingMessage::user("What do you know?")], 10);
    params.include_context = Some(IncludeContext::ThisServer);
    Ok(told(&ask.sample_with(params).await?))
}

/// How often the weather was looked up.
#[derive(Clone, Default)]
struct Lookups(Arc<AtomicU32>);

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: u32,
}

fn weather() -> Tool {
    let never = |Args(City { .. }): Args<City>| async { Json(Weather { celsius: 0 }) };
    Tool::new("weather", never).describe("Looks out of the window")
}

/// Let the model look up the weather, two turns at most before it must answer
#[tool]
async fn advise(State(lookups): State<Lookups>, ask: Ask) -> bowline::Result<String> {
    let look_up = |wish: ToolUseContent| {
        let celsius = 20 + lookups.0.fetch_add(1, Ordering::Relaxed);
        async move {
            let City { city } = wish.input.parse()?;
            match city.as_str() {
                "Atlantis" => Err(bowline::Error::from("it is under water")),
                _ => Ok(Json(Weather { celsius })),
            }
        }
    };
    let advice = ask.sample("What should I wear?").tools([weather()]).turns(2);
    Ok(told(&advice.run(look_up).await?))
}

/// Have the model choose a city by calling a tool, and go no further
#[tool]
async fn pick(ask: Ask) -> bowline::Result<String> {
    let picked = ask.sample("Pick a city").tools([weather()]);
    let picked = picked.tool_choice(ToolChoiceMode::Required).await?;
    let cities: Vec<_> = picked.tool_uses().map(|wish| wish.input.as_str()).collect();
    Ok(format!("{} {}", told(&picked), cities.join(" ")))
}
