//! The resource server against an authorization server that the tests play.

mod authority;
mod build;
mod caching;
mod document;
mod dpop_replay;
mod introspection;
mod jwks_rotation;
mod jwt_verify;
mod scopes;
mod token_table;
