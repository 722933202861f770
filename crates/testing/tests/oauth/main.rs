//! The authorization server for tests does what such a server should, and makes mistakes on request.

mod app;
mod assertions;
mod dpop;
mod faults;
mod introspection;
mod login;
mod metadata;
mod observation;
mod registration;
mod tokens;
