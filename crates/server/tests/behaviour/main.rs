//! What a server does, asked through its service as a transport would ask.

mod arguments;
mod ask;
mod building;
mod extractors;
mod layers;
mod peer;
mod registry;
mod results;
mod rounds;
mod served;
mod tools;
