//! Authorization of the Model Context Protocol over HTTP, for both sides.
//!
//! An MCP server is an OAuth resource server: it verifies the access token of every request. An MCP
//! client is an OAuth client: it obtains tokens from the authorization server that the MCP server
//! names. This crate holds the rules of both. The time is an argument of the rules, and every HTTP
//! request goes through a [`Fetcher`](fetch::Fetcher) that the caller brings; of the rest, only the
//! client's `drive`, `open` and `store` wait, start a browser and write files, with `private_file`. It can be reviewed
//! alone, because it uses only `bowline-types` and `bowline-proto` of this workspace.
//!
//! Everything here reads text that another machine wrote. So every length and count has a limit, a
//! constant named `MOST_…` beside the code that enforces it.
//!
//! In reading order:
//!
//! * [`error`] — the error of this crate;
//! * [`secret`] — values that are never printed and are erased when dropped;
//! * [`url`] — absolute `http` and `https` URLs, strictly;
//! * [`scope`] — sets of scopes;
//! * [`challenge`] — the `WWW-Authenticate` header;
//! * [`form`] — names and values of queries and of requests to a token endpoint;
//! * [`fetch`] — one HTTP request, as a value, and the trait that sends it;
//! * [`jose`] — signatures, keys and JSON Web Tokens;
//! * [`metadata`] — the documents in which resources and authorization servers describe themselves;
//! * `private_file` — files that only their owner can read (feature `client`);
//! * `client` — obtains access tokens (feature `client`);
//! * `resource` — verifies the access tokens of callers (feature `resource`).

pub mod challenge;
#[cfg(feature = "client")]
pub mod client;
#[cfg(test)]
mod damage;
pub mod error;
pub mod fetch;
pub mod form;
pub mod jose;
pub mod metadata;
#[cfg(feature = "client")]
pub mod private_file;
#[cfg(feature = "resource")]
pub mod resource;
pub mod scope;
pub mod secret;
pub mod url;
