//! Short programs written with bowline, one file each. `cargo run --example echo -- stdio` runs one.
