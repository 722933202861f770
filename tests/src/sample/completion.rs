//! A server with completions for the arguments of a prompt and the variables of a template.

use bowline::{Args, Error, Prompt, Resource, Server, Typed, starting_with};
use bowline_types::completion::Completion;
use schemars::JsonSchema;
use serde::Deserialize;

/// Completions that are few, many, failing, dependent on others, or none.
pub(super) fn server(server: Server) -> Server {
    let street =
        Resource::template("map://{city}/{street}", |city: String, street: String| async move {
            format!("{street}, {city}")
        })
        .complete("street", |typed| async move { starting_with(typed, ["Quai", "Rue", "Ring"]) });
    let number =
        Resource::template("number://{number}", |number: u32| async move { number.to_string() })
            .complete("number", numbers)
            .visible(|caller| caller.client.capabilities.roots.is_some());
    server.prompt(trip()).resources([street, number])
}

/// A prompt without completions.
pub(super) fn silent(server: Server) -> Server {
    server.prompt(Prompt::new("trip", plan))
}

fn trip() -> Prompt {
    Prompt::new("trip", plan)
        .complete("country", |typed| async move { starting_with(typed, ["France", "Finland"]) })
        .complete("city", cities)
        .complete("day", numbers)
        .complete("hotel", |_| async { Completion::new(["Ritz"]) })
        .complete("guide", |_| async { Err::<Vec<String>, Error>("out for lunch".into()) })
        .complete_with("train", trains)
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    country: String,
    city: String,
    day: Option<u32>,
    hotel: Option<String>,
    guide: Option<String>,
    train: Option<String>,
    purpose: Option<String>,
}

async fn plan(Args(trip): Args<Trip>) -> String {
    let day = trip.day.map(|day| day.to_string());
    let wishes = [day, trip.hotel, trip.guide, trip.train, trip.purpose];
    let wishes: Vec<String> = wishes.into_iter().flatten().collect();
    format!("Plan a trip to {}, {}. {}", trip.city, trip.country, wishes.join(", "))
}

async fn cities(typed: Typed) -> Vec<String> {
    match typed.chosen("country") {
        Some("France") => starting_with(typed.as_str(), ["Paris", "Lyon"]),
        Some("Finland") => starting_with(typed.as_str(), ["Espoo", "Pori"]),
        _ => starting_with(typed.as_str(), ["Paris", "Pori"]),
    }
}

async fn numbers(typed: Typed) -> Vec<String> {
    starting_with(typed, (1..=150).map(|number| number.to_string()))
}

#[derive(Deserialize, JsonSchema)]
struct Chosen {
    city: String,
}

async fn trains(Args(Chosen { city }): Args<Chosen>) -> [String; 1] {
    [format!("the train to {city}")]
}
