//! The observers, one subject in each file.
//!
//! To add one: a function from what was seen to a verdict, a row in the table of its file, and a
//! wrong server in `tests/wrong` that breaks exactly this rule.

mod cache;
mod cancel;
mod capability;
mod completion;
mod content;
mod discover;
mod elicitation;
mod errors;
mod extension;
mod headers;
mod http;
mod lifecycle;
mod list;
mod logging;
mod meta;
mod progress;
mod prompts;
mod resources;
mod round_trip;
mod rpc;
mod sampling;
mod sessions;
mod skills;
mod stdio;
mod subscription;
mod tasks;
mod tools;

pub(crate) use self::skills::SKILLS;
use crate::rule::Rule;

/// The tables of all subjects.
static TABLES: &[&[Rule]] = &[
    rpc::RULES,
    errors::RULES,
    meta::RULES,
    lifecycle::RULES,
    capability::RULES,
    cancel::RULES,
    progress::RULES,
    list::RULES,
    logging::RULES,
    completion::RULES,
    tools::RULES,
    resources::RULES,
    prompts::RULES,
    content::RULES,
    sampling::RULES,
    elicitation::RULES,
    tasks::RULES,
    stdio::RULES,
    http::RULES,
    sessions::RULES,
    discover::RULES,
    headers::RULES,
    round_trip::RULES,
    subscription::RULES,
    cache::RULES,
    extension::RULES,
    skills::RULES,
];

/// All rules that have an observer.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().copied().flatten()
}

/// The rule with this id.
pub fn named(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}
