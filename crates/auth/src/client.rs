//! An MCP client as an OAuth client: it obtains, keeps and renews access tokens.
//!
//! The rules are plain state machines and functions; the time and the randomness are arguments
//! (`Moment`). Only [`drive`] waits, through three traits: the
//! [`Fetcher`](crate::fetch::Fetcher) sends HTTP requests, a [`Visitor`](visit::Visitor) brings the
//! user to a page, and a [`Store`](store::Store) keeps records.
//!
//! In reading order:
//!
//! * [`plan`] — how a program wants to log in: [`Browser`](plan::Browser) and its kin build it;
//! * `moment` — the time and the randomness of one step;
//! * `record` — what is kept about one login;
//! * `discover` — which authorization server issues tokens for an MCP server;
//! * `identity` — the client as an authorization server knows it;
//! * `register` — how the client gets an id there;
//! * `pkce` — the secret that binds an authorization code to this client;
//! * [`open`] — pages that a browser may open;
//! * `redeem` — requests to the token endpoint and their answers;
//! * `machine`, `enterprise` — grants without a user at a browser;
//! * `flow` — the state machine of a login, from the first challenge to the token;
//! * `refresh` — a new access token for an old login, and the end of a login;
//! * `dpop` — proofs that the client has the key that a token is bound to;
//! * [`store`] — where records are kept;
//! * [`visit`] — how the user reaches a page, and how the answer comes back;
//! * `logins` — the pause after a login whose token was refused at once;
//! * [`drive`] — runs all of this for an HTTP client.

pub mod drive;
pub mod open;
pub mod plan;
pub mod store;
pub mod visit;

pub(crate) mod discover;
pub(crate) mod dpop;
pub(crate) mod enterprise;
pub(crate) mod flow;
pub(crate) mod identity;
pub(crate) mod logins;
pub(crate) mod machine;
pub(crate) mod moment;
pub(crate) mod pkce;
pub(crate) mod record;
pub(crate) mod redeem;
pub(crate) mod refresh;
pub(crate) mod register;

#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod world;
