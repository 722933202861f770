//! The macro for `with_…` methods that do nothing but set a member.
//!
//! Wire structs have a constructor for the required members and one `with_…` per optional member.
//! `setters!` stands inside an `impl` block and takes for each method a doc comment, its name with
//! its arguments, and in braces the code that follows `self.`:
//!
//! ```text
//! impl ProgressParams {
//!     setters! {
//!         /// Sets the total, in the same unit as the progress.
//!         with_total(total: f64) { total = Some(total) }
//!     }
//! }
//! ```
//!
//! becomes
//!
//! ```text
//! /// Sets the total, in the same unit as the progress.
//! #[must_use]
//! pub fn with_total(mut self, total: f64) -> Self {
//!     self.total = Some(total);
//!     self
//! }
//! ```
//!
//! A method that does more than one thing is written out.

/// Declares `with_…` methods, as the module explains.
macro_rules! setters {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) { $($set:tt)* }
    )*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self $(, $argument: $type)*) -> Self {
            self.$($set)*;
            self
        }
    )*};
}
pub(crate) use setters;
