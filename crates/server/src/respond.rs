//! What handlers may return.
//!
//! A tool may return text (`String`, `&str`), numbers, `bool`, nothing (`()`), content blocks, a
//! whole [`CallToolResult`](bowline_types::tool::CallToolResult), [`Json<T>`](Json) for programs, or
//! a `Result` of any of these. There is no result for an `Option`: only the author knows whether
//! "nothing" is a failure that the model should know.
//!
//! A resource holds text, bytes, [`Json<T>`](Json) or whole
//! [contents](bowline_types::resource::ResourceContents); here `None` is a resource that does not
//! exist. A prompt returns text, content blocks or whole
//! [messages](bowline_types::prompt::PromptMessage), and the completion of an argument a list of
//! suggestions, for which [`starting_with`] and [`resembling`] are at hand. A method of an
//! [`Extension`](crate::Extension) returns [`Json<T>`](Json) or nothing.

mod completion;
mod method;
mod nothing;
mod prompt;
mod resource;
mod tool;

pub use completion::{IntoCompletion, resembling, starting_with};
pub use method::IntoMethodResult;
pub use nothing::IntoNothing;
pub use prompt::IntoPromptResult;
pub use resource::IntoResourceResult;
pub use tool::{IntoToolResult, Json};
