//! Types of official extensions. An extension exists only if both sides declare it.

pub mod apps;
pub mod tasks;
