//! Every feature in every revision over every transport: what a client's user sees.
//!
//! Each module is one feature. A test writes a small server, uses it through a real client, and says
//! what comes of it where a revision lacks something.

mod about;
mod ask;
mod cache;
mod cancellation;
mod changes;
mod completion;
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
mod time;
mod tools;
mod urls;
mod visibility;
