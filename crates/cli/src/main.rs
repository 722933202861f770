//! The `bowline` command: everything that a person does with MCP servers at a terminal.
//!
//! What needs no terminal is in `bowline-ops`. Reading order:
//!
//! * `cli`: the command line, and the list of commands.
//! * `commands`: one file for each command, with its arguments and what it does.
//! * `target`: which server a command is for, and how to connect to it.
//! * `client`: what the client of every command declares; `wire`: what is watched of its messages.
//! * `request`: options and connection of the commands that send requests to one server.
//! * `lists`: the lists of a server, read side by side.
//! * `logins`: logins that all commands share.
//! * `consent`: to servers that a file of a project names.
//! * `variables`: values for the variables of their entries.
//! * `tools`: the tool of a call; `arguments`: values for its parameters, from the command line.
//! * `demo`: the built-in server.
//! * `inspect`: looks at a server step by step.
//! * `exit`: exit codes, and failures with their hints.
//! * `serving`: what the commands that serve have in common.
//! * `shared_state`: the store and the keys that several of their processes share.
//! * `open_files`: how many files a process that serves over HTTP may open.
//! * `observe`: traces, metrics, a log of requests, and health, for the commands that serve.
//! * `interrupt`: Ctrl-C.
//! * `questions`: those of a server in the middle of a call; `sampling`: those to a model.
//! * `save`: files from bytes of a result.
//! * `terminal`: questions to the user.
//! * `print`: output for people and for programs.

mod arguments;
mod cli;
mod client;
mod commands;
mod consent;
mod demo;
mod exit;
mod inspect;
mod interrupt;
mod lists;
mod logins;
mod message_size;
mod observe;
mod open_files;
mod print;
mod questions;
mod request;
mod sampling;
mod save;
mod serving;
mod shared_state;
mod target;
mod terminal;
mod tools;
mod variables;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}
