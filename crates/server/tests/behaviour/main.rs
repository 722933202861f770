//! What a server does, asked through its service as a transport would ask.

mod arguments;
mod ask;
mod building;
mod caching;
mod completion;
mod extractors;
mod following;
mod forms;
mod layers;
mod limits;
mod lists;
mod logging;
mod pages;
mod peer;
mod prompts;
mod registry;
mod resources;
mod results;
mod roots;
mod rounds;
mod sampling;
mod served;
mod templates;
mod tools;
mod visibility;
mod wire;
