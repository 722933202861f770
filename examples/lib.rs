//! Short programs written with bowline, one file each; `cargo run --example NAME`.
//!
//! | | |
//! |---|---|
//! | `hello_server` | the smallest server |
//! | `plain_function` | the same without macros, with structured output |
//! | `state_and_layers` | shared state, errors for the model, tower layers |
//! | `live_registry` | tools that come and go, a resource that changes |
//! | `resources_and_prompts` | resources, templates, completion, prompts |
//! | `progress` | progress; cancellation needs no code |
//! | `ask_the_user` | questions, the same code in both eras |
//! | `client` | starts any server and calls one of its tools |
//! | `hub` | one server for several: one of our own, and one in a child process |
//! | `tested_server` | a server with its test, run in both eras over each transport |
//! | `echo` | the server that our checks and benchmarks drive |
//! | `tour` | calls everything that `echo` has, in both eras |
