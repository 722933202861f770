//! A server that mounts two others: one of the same program, and one that runs as a child process.
//! `hub COMMAND…`, for example `hub uvx mcp-server-git`.

use bowline::{Client, Command, Server};

mod weather {
    use bowline::{Server, tool, tools};

    /// Forecast the weather
    #[tool(read_only)]
    async fn forecast(city: String) -> String {
        format!("{city}: rain")
    }

    pub(crate) fn server() -> Server {
        Server::new("weather", "1.0.0").tools(tools![forecast])
    }
}

#[tokio::main]
async fn main() -> bowline::Result {
    let mut command = std::env::args().skip(1);
    let program = command.next().ok_or("usage: hub COMMAND…")?;
    let other = Client::connect(Command::new(program).args(command)).await?;
    let hub = Server::new("hub", "1.0.0").mount("weather", weather::server()).mount("other", other);
    Ok(hub.run().await?)
}
