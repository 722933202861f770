//! The documents in which resources and authorization servers describe themselves.
//!
//! * [`resource`] — an MCP server says which authorization servers it trusts (RFC 9728);
//! * [`server`] — an authorization server says where its endpoints are (RFC 8414, OpenID Connect).

pub mod resource;
pub mod server;
