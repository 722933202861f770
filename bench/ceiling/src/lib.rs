//! A minimal MCP server over HTTP and stdio, the ceiling of every benchmark here.
//!
//! One parse of the members that the answer needs, one serialization, no checks, no sessions, no
//! routing. The additional cost of a real server is the cost of these.
//!
//! * `message`: from the text of a request to the text of its answer.
//! * `http`: bare hyper.
//! * `stdio`: a loop over lines.

use std::env;
use std::error::Error;

use crate::message::Server;

mod http;
mod message;
mod stdio;

/// Serves as the arguments of the program say: `stdio`, or `http ADDRESS`, or `http ADDRESS TOOLS`.
///
/// # Errors
///
/// If the arguments say none of these, or if the transport cannot be opened or breaks.
pub async fn serve() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        // In a task, which runs on the thread that polls the pipes; `main` would be woken across
        // threads.
        ["stdio"] => Ok(tokio::spawn(stdio::serve(Server::with_echo())).await??),
        ["http", address] => http::serve(address, Server::with_echo()).await,
        ["http", address, tools] => http::serve(address, Server::with_tools(tools.parse()?)).await,
        _ => Err("say how to serve: `stdio`, `http 127.0.0.1:3000` or `http 127.0.0.1:3000 1000`")?,
    }
}
