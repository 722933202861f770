//! Forms with every kind of field, and one that is not allowed.

use bowline::{Ask, Elicited, Json, Server, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A form with every field, one that is asked before the tool runs, and one that asks for a secret.
pub(super) fn server(server: Server) -> Server {
    server.tools(tools![order, travel, connect])
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    /// Who orders
    #[schemars(length(min = 1, max = 40))]
    name: String,
    #[serde(default = "country")]
    country: String,
    #[schemars(email)]
    mail: Option<String>,
    #[schemars(extend("format" = "uri"))]
    shop: Option<String>,
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    moment: Option<String>,
    #[schemars(range(min = 1, max = 9))]
    #[serde(default = "one")]
    amount: u8,
    weight: Option<f64>,
    #[serde(default)]
    gift: bool,
    #[serde(default = "small")]
    size: Size,
    colour: Colour,
    #[schemars(length(max = 2))]
    #[serde(default = "ribbon")]
    extras: Vec<Extra>,
    accents: Option<Vec<Colour>>,
}

fn country() -> String {
    "Sweden".to_owned()
}

fn one() -> u8 {
    1
}

fn small() -> Size {
    Size::Small
}

fn ribbon() -> Vec<Extra> {
    vec![Extra::Ribbon]
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "doc comments would be part of the form")]
pub enum Size {
    Small,
    Large,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    #[schemars(title = "Fiery red")]
    Red,
    #[schemars(title = "Sky blue")]
    Blue,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Extra {
    Ribbon,
    Card,
    Candle,
}

/// Order something
#[tool]
async fn order(ask: Ask) -> bowline::Result<Json<Order>> {
    Ok(Json(ask.form("What do you want?").await?))
}

/// Where do you want to go?
#[derive(Deserialize, JsonSchema)]
struct Trip {
    city: String,
}

/// Travel somewhere
#[tool]
fn travel(Elicited(trip): Elicited<Trip>) -> String {
    format!("Off to {}", trip.city)
}

#[derive(Deserialize, JsonSchema)]
struct Credentials {
    user: String,
    password: String,
}

/// Ask for what no form may ask for
#[tool]
async fn connect(ask: Ask) -> bowline::Result<String> {
    let credentials: Credentials = ask.form("Who are you?").await?;
    Ok(format!("{}, {} letters", credentials.user, credentials.password.len()))
}
