//! The macro for errors about one value that breaks a rule, such as a tool name.

/// Declares an error type with a value and the rule that it breaks. It prints
/// ``what `value`: reason``.
///
/// The caller cuts values that a peer chose, so that a message never grows with its input.
macro_rules! invalid_value {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            value: String,
            reason: std::borrow::Cow<'static, str>,
        }

        impl $name {
            pub(crate) fn new(
                value: impl Into<String>,
                reason: impl Into<std::borrow::Cow<'static, str>>,
            ) -> Self {
                Self { value: value.into(), reason: reason.into() }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($what, " `{}`: {}"), self.value, self.reason)
            }
        }

        impl std::error::Error for $name {}
    };
}
pub(crate) use invalid_value;
