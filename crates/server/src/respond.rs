//! What handlers may return.
//!
//! A tool may return text (`String`, `&str`), numbers, `bool`, nothing (`()`), content blocks, a
//! whole [`CallToolResult`](bowline_types::tool::CallToolResult), [`Json<T>`](Json) for programs, or
//! a `Result` of any of these. There is no result for an `Option`: only the author knows whether
//! "nothing" is a failure that the model should hear of.

mod tool;

pub use tool::{IntoToolResult, Json};
