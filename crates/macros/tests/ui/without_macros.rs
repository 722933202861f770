use bowline::{Args, Server, Tool, tool};

#[derive(serde::Deserialize)]
struct Forecast {
    city: String,
}

async fn forecast(Args(forecast): Args<Forecast>) -> String {
    forecast.city
}

struct MyError;

async fn fail() -> Result<String, MyError> {
    Err(MyError)
}

async fn search(query: String) -> String {
    query
}

#[tool]
async fn greet() -> &'static str {
    "Good morning"
}

fn main() {
    let _ = Tool::new("forecast", forecast);
    let _ = Tool::new("fail", fail);
    let _ = Tool::new("search", search);
    let _ = Server::new("greeter", "1.0.0").tool(greet);
}
