//! What a server does, asked through its service as a transport would ask.

mod arguments;
mod ask;
mod ask_as_task;
mod building;
mod caching;
mod completion;
mod extensions;
mod extractors;
mod following;
mod forms;
mod layers;
mod limits;
mod lists;
mod logging;
mod mounting;
mod pages;
mod peer;
mod prompts;
mod rates;
mod registry;
mod resources;
mod results;
mod roots;
mod rounds;
mod sampling;
mod scopes;
mod served;
#[cfg(feature = "skills")]
mod skills;
mod task_news;
mod tasks;
mod templates;
mod tools;
mod views;
mod visibility;
mod wire;
