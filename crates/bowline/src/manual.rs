//! The manual: one chapter for each concept, in the order to read them.
//!
//! For a first look the [front page](crate) is enough; what a single item does stands with the item.

#[doc = include_str!("manual/_01_concepts.md")]
pub mod _01_concepts {}

#[doc = include_str!("manual/_02_servers_and_tools.md")]
pub mod _02_servers_and_tools {}

#[doc = include_str!("manual/_03_resources.md")]
pub mod _03_resources {}

#[doc = include_str!("manual/_04_prompts.md")]
pub mod _04_prompts {}

#[doc = include_str!("manual/_05_completion.md")]
pub mod _05_completion {}

#[doc = include_str!("manual/_06_asking.md")]
pub mod _06_asking {}

#[doc = include_str!("manual/_07_progress_and_logging.md")]
pub mod _07_progress_and_logging {}

#[doc = include_str!("manual/_08_changes.md")]
pub mod _08_changes {}

#[doc = include_str!("manual/_09_clients.md")]
pub mod _09_clients {}

#[doc = include_str!("manual/_10_answering.md")]
pub mod _10_answering {}

#[doc = include_str!("manual/_11_transports.md")]
pub mod _11_transports {}

#[doc = include_str!("manual/_12_limits_and_safety.md")]
pub mod _12_limits_and_safety {}

#[doc = include_str!("manual/_13_testing.md")]
pub mod _13_testing {}
