//! Tools that ask the user, the model, or the client.

use bowline::{Ask, Result, tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Greet the user by name
#[tool]
pub(super) async fn greet(ask: Ask) -> Result<String> {
    let Name { name } = ask.form("What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Class {
    Economy,
    Business,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Extra {
    Window,
    Bicycle,
    Lounge,
}

impl Extra {
    fn name(&self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Bicycle => "bicycle",
            Self::Lounge => "lounge",
        }
    }
}

/// Every kind of field that a form can have.
#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Where to
    #[schemars(length(min = 2, max = 40))]
    city: String,
    /// In how many days
    #[schemars(range(min = 1, max = 365))]
    days: u16,
    /// Which class
    class: Class,
    /// Kilograms of luggage
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 40.0))]
    luggage: Option<f64>,
    /// What else
    #[serde(default)]
    extras: Vec<Extra>,
    /// With a meal
    #[serde(default)]
    meal: bool,
    /// Where the ticket goes
    #[serde(default)]
    #[schemars(email)]
    email: Option<String>,
}

/// Book a flight that does not exist: a form with every kind of field, then a question
#[tool]
pub(super) async fn book(ask: Ask) -> Result<String> {
    let trip: Trip = ask.form("Where do you want to fly?").await?;
    let class = match trip.class {
        Class::Economy => "economy",
        Class::Business => "business",
    };
    let question = format!("Fly to {} in {} days, {class}: book it?", trip.city, trip.days);
    if !ask.confirm(question).await? {
        return Ok("Not booked".to_owned());
    }
    let meal = if trip.meal { "with a meal" } else { "without a meal" };
    let ticket = trip.email.map(|email| format!("; ticket to {email}")).unwrap_or_default();
    let extras: String = trip.extras.iter().map(|extra| format!(", {}", extra.name())).collect();
    let luggage = trip.luggage.map(|weight| format!(", {weight} kg")).unwrap_or_default();
    let Trip { city, days, .. } = trip;
    Ok(format!("Booked: {city} in {days} days, {class}, {meal}{luggage}{extras}{ticket}"))
}

/// Ask the client's model for a rhyme
#[tool(read_only)]
pub(super) async fn rhyme(ask: Ask, word: String) -> Result<String> {
    let question = format!("Answer with one word that rhymes with `{word}`.");
    Ok(ask.sample(question).max_tokens(20).await?.text())
}

/// Ask the user to open a page
#[tool(read_only)]
pub(super) async fn visit(ask: Ask) -> Result<&'static str> {
    let page = ask.url("Read about the protocol?", "https://modelcontextprotocol.io/");
    page.await?.complete().await;
    Ok("you agreed to open the page")
}

/// List the folders that the client lets servers work in
#[tool(read_only)]
pub(super) async fn folders(ask: Ask) -> Result<String> {
    let roots = ask.roots().await?;
    let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(if uris.is_empty() { "none".to_owned() } else { uris.join("\n") })
}
