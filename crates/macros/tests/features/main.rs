//! What the macros make of functions: what clients see, and what reaches the functions.

mod methods;
mod prompt;
mod resource;
mod support;
mod tool;
