//! Logins as tables: what an MCP server and an authorization server answer, and what the client does.
//!
//! * `discovery` — finding the authorization server;
//! * `registration` — getting a client id;
//! * `visits` — scopes, the page, and the answer of the browser;
//! * `unattended` — programs without a user;
//! * `bound` — tokens that are bound to a key;
//! * `oauth_flow` — servers that answer anything at all.

mod bound;
mod discovery;
mod oauth_flow;
mod registration;
mod unattended;
mod visits;
