//! The servers under test of transcripts, by the names in the header `server:`.
//!
//! Each has only what its transcripts need, so that lists and capabilities stay short. All of them
//! answer the same way every time, and wait in virtual time where the transcript is played
//! in virtual time.

mod asks;
mod completion;
mod forms;
mod hosts;
mod limits;
mod live;
mod log;
mod models;
mod prompts;
mod resources;
mod roots;
mod rounds;
mod tasks;
mod time;
mod tools;
mod visits;

use bowline::Server;

pub use forms::Size;
pub use hosts::host;
pub use tools::CRASH;

/// Returns the server with a name; `kit` is the default.
///
/// # Panics
///
/// Panics if there is none with that name.
pub fn server(name: Option<&str>) -> Server {
    let name = name.unwrap_or("kit");
    let server = Server::new(name, "1.0.0");
    match name {
        "kit" => tools::kit(server),
        "bare" => server.instructions("There is nothing to use here"),
        "empty" => server.tools([]).resources([]).prompts([]),
        "adorned" => tools::adorned(server),
        "pages" => tools::pages(server),
        "results" => tools::results(server),
        "time" => time::server(server),
        "log" => log::server(server),
        "live" => live::tools(server),
        "asks" => asks::server(server),
        "asks-briefly" => asks::briefly(server),
        "asks-late" => asks::late(server),
        "changes" => live::everything(server),
        "shelf" => resources::shelf(server),
        "families" => resources::families(server),
        "adorned-resources" => resources::adorned(server),
        "resource-pages" => resources::pages(server),
        "hidden-resources" => resources::hidden(server),
        "resource-asks" => resources::asks(server),
        "still-resources" => resources::still(server),
        "prompts" => prompts::plain(server),
        "adorned-prompts" => prompts::adorned(server),
        "prompt-pages" => prompts::pages(server),
        "hidden-prompts" => prompts::hidden(server),
        "prompt-asks" => prompts::asks(server),
        "completion" => completion::server(server),
        "no-completion" => completion::silent(server),
        "log-data" => log::data(server),
        "forms" => forms::server(server),
        "visits" => visits::server(server),
        "models" => models::server(server),
        "roots" => roots::server(server),
        "rounds" => rounds::server(server),
        "tasks" => tasks::server(server),
        "limits" => limits::tools(server),
        "limits-around" => limits::server(server),
        _ => panic!("no sample server is called `{name}`"),
    }
}
