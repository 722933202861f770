//! The vocabulary of official extensions. Each exists only between two sides that declare it.

pub mod apps;
pub mod tasks;
