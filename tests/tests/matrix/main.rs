//! Every feature in every revision over every transport, through the API of a client.
//!
//! Each module is one feature. A test writes a small server, calls it through a real client, and
//! says what the client gets where a revision lacks something.

mod about;
mod ask;
mod cache;
mod cancellation;
mod changes;
mod completion;
mod endless;
mod extensions;
mod forms;
mod group;
mod layers;
mod logging;
mod meta;
mod pages;
mod process;
mod progress;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod tasks;
mod time;
mod tools;
mod urls;
mod visibility;
