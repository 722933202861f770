//! The built-in server: one of everything that a server can do, so that every command has something
//! to be tried on.
//!
//! * `basics`: the tools of the `echo` example, and some that answer with other kinds of content;
//! * `asking`: tools that ask the user or the model;
//! * `notes`: resources that change, templates, prompts, completion.

mod asking;
mod basics;
mod notes;
mod sound;

use std::time::Duration;

use bowline::{Server, tools};

use self::notes::Notes;

/// How often the resource `demo://clock` changes.
const TICK: Duration = Duration::from_secs(2);

const INSTRUCTIONS: &str = "\
A server to try clients on. `echo`, `add`, `sleep` and `greet` show calls, progress and questions. \
`write_note` and `remove_note` change the resources below `demo://notes/`. `count` is a task.";

/// The server. [`tick`] makes its clock run.
pub(crate) fn server() -> Server {
    let server = Server::new("bowline-demo", env!("CARGO_PKG_VERSION"))
        .title("Bowline's demo server")
        .description("One of everything that a server can do")
        .instructions(INSTRUCTIONS)
        .tools(tools![basics::echo, basics::add, basics::sleep, asking::greet])
        .tools(tools![basics::count, basics::picture, basics::chime, basics::talk, basics::fail])
        .tools(tools![asking::book, asking::rhyme, asking::visit, asking::folders])
        .tools(tools![notes::write_note, notes::remove_note]);
    notes::offer(server.state(Notes::default()))
}

/// Makes the clock of a server run: subscribers of `demo://clock` hear of every tick. Never ends.
pub(crate) async fn tick(server: &Server) {
    let notify = server.notify();
    let mut interval = tokio::time::interval(TICK);
    loop {
        interval.tick().await;
        notify.resource_updated(notes::CLOCK);
    }
}
