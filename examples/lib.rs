//! Short programs written with bowline, one file each: `cargo run -p bowline-examples --example NAME`.
//!
//! A server speaks over stdio. Most of them also take `--http 127.0.0.1:3000`.
//!
//! | | |
//! |---|---|
//! | `hello_server` | the smallest server, over stdio |
//! | `http_server` | the same over HTTP |
//! | `axum_auth` | a server inside axum, whose authentication middleware hands the user to a tool |
//! | `protected_server` | a server for callers with an access token of an authorization server |
//! | `plain_function` | the same without macros, with structured output |
//! | `state_and_layers` | shared state, errors that the model reads, tower layers |
//! | `live_registry` | tools that come and go, a resource that changes |
//! | `resources_and_prompts` | resources, templates, completion, prompts |
//! | `progress` | progress; cancellation needs no code |
//! | `tasks` | a slow tool as a task, for clients that have tasks |
//! | `task_client` | a client that does something else while a task runs |
//! | `extension` | a method outside of the specification, on both sides |
//! | `skills` | skills: texts that tell models how to use the server |
//! | `apps` | a tool with a view: HTML that hosts show with its results |
//! | `ask_the_user` | questions, the same code in both eras |
//! | `client` | starts any server and calls one of its tools |
//! | `login` | a client that logs in with the user's browser, and keeps its tokens |
//! | `hub` | a server that mounts two others: one in the same program, one in a child process |
//! | `replicas` | one of several replicas, with its sessions in Redis |
//! | `traces` | traces and metrics of a server and its client, with OpenTelemetry |
//! | `tested_server` | a server with its test, run in both eras over each transport |
//! | `echo` | the server that the checks and benchmarks of this repository call |
//! | `tour` | calls all tools of `echo`, in both eras |
