//! The everything-server: one of each feature that the protocol has, for others to test.
//!
//! The names that begin with `test_`, and what they answer, are those that the official conformance
//! suite asks for. Those that begin with `interop_` are ours, for what the SDKs of others can do
//! beyond the suite. All of it is written as a user of the library would, once for all revisions.
//!
//! In reading order: tools that only answer (`content`, `schema`), tools that talk while they run
//! (`talking`), tools that ask (`asking`, and `input_required` in the words of 2026-07-28), tools
//! that tell of changes (`changes`), and `interop`; then `resources` and `prompts`.

use bowline::Server;

mod asking;
mod changes;
mod content;
mod input_required;
mod interop;
mod media;
mod prompts;
mod resources;
mod schema;
mod talking;

/// The server that has everything.
///
/// It is a plain [`Server`]: serve it over any transport.
///
/// ```
/// assert!(bowline_conformance::server().build().is_ok());
/// ```
pub fn server() -> Server {
    let server = Server::new("everything-server", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .instructions("Call whatever you like; nothing here does anything.");
    let notify = server.notify();
    server
        .state(notify)
        .state(interop::Seen::default())
        // The suite calls the first tool of the list with no arguments.
        .tools(content::tools())
        .tools(schema::tools())
        .tools(talking::tools())
        .tools(asking::tools())
        .tools(input_required::tools())
        .tools(changes::tools())
        .tools(interop::tools())
        .on_roots_changed(interop::roots_changed)
        .resources(resources::resources())
        .prompts(prompts::prompts())
}
