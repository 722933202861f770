//! Ask the user: the same code in a 2025 session and in a stateless 2026 request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bowline::{Ask, Server, State, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Default)]
struct Airline(Arc<AtomicU32>);

impl Airline {
    async fn hold(&self, trip: &Trip) -> bowline::Result<u32> {
        Ok(40 + trip.city.len() as u32 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Where to
    city: String,
    /// In how many days
    days: u8,
}

/// Book a flight
#[tool]
async fn book(State(airline): State<Airline>, ask: Ask) -> bowline::Result<String> {
    let trip: Trip = ask.form("Where and when?").await?;
    let price = ask.once("hold", || airline.hold(&trip)).await?;
    if !ask.confirm(format!("{price} EUR, book it?")).await? {
        return Ok("Not booked".into());
    }
    Ok(format!("Booked: {} in {} days", trip.city, trip.days))
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    Server::new("airline", "1.0.0").state(Airline::default()).tools(tools![book]).run().await
}
