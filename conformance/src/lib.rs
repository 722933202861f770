//! The everything-server: one of each feature of the protocol, for tests of other programs.
//!
//! The names that begin with `test_`, and their results, are those that the official conformance
//! suite expects. Those that begin with `interop_` are ours, for what other SDKs can do
//! beyond the suite. All of it is written as a user of the library would, once for all revisions.
//!
//! In reading order: tools that only answer (`content`, `schema`), tools that send messages while
//! they run (`talking`), tools that ask (`asking`, and `input_required` for results of 2026-07-28),
//! tools that run as tasks (`tasks`), tools that announce changes (`changes`), and `interop`; then
//! `resources`, `prompts` and `skills`.

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
mod skills;
mod talking;
mod tasks;

/// The everything-server.
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
        .tools(tasks::tools())
        .tools(changes::tools())
        .tools(interop::tools())
        .on_roots_changed(interop::roots_changed)
        .resources(resources::resources())
        .prompts(prompts::prompts())
        .skills(skills::skills())
}
