//! The cases that a test runs in: every revision over every transport.
//!
//! The transports are listed once, in [`transport_kinds!`](crate::transport_kinds). The enum
//! [`TransportKind`] and the tests of `#[bowline::test]` are made from that list. A new transport
//! is a line there and a match arm in [`HarnessConnect`](super::HarnessConnect).
//! [`TransportKind::Stateless`] is not in the list: it cannot carry messages of the server, so a test
//! has to ask for it.

use std::fmt;

use bowline_types::revision::Revision;

/// One case of a test: a revision and a transport. Its name is the path of the generated test, so a
/// failure names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Case {
    /// The only revision that the client speaks.
    pub revision: Revision,
    /// The transport between client and server.
    pub transport: TransportKind,
}

impl Case {
    /// A case from its parts.
    pub const fn new(revision: Revision, transport: TransportKind) -> Self {
        Self { revision, transport }
    }

    /// Returns every revision over every transport of [`TransportKind::ALL`].
    pub fn all() -> impl Iterator<Item = Self> {
        let revisions = |&transport| Revision::ALL.map(|revision| Self::new(revision, transport));
        TransportKind::ALL.iter().flat_map(revisions)
    }
}

/// Writes the path of the case's test module: `stdio::v2026_07_28`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::v{}", self.transport, self.revision.as_str().replace('-', "_"))
    }
}

/// Calls the macro `$then` with `$given`, followed by the list of transports.
#[doc(hidden)]
#[macro_export]
macro_rules! transport_kinds {
    ($then:path, $given:tt) => {
        $crate::transport_kinds_with_http! { $then, $given
            /// Pipes, as between a client and a server that it starts as a child process.
            stdio Stdio,
            /// A channel in memory.
            duplex Duplex,
            /// A Unix socket in the file system.
            socket Socket,
        }
    };
}

/// Adds HTTP to the list.
#[cfg(feature = "http")]
#[doc(hidden)]
#[macro_export]
macro_rules! transport_kinds_with_http {
    ($then:path, $given:tt $($transports:tt)*) => {
        $then! { $given
            $($transports)*
            /// HTTP as the revision defines it, over an in-memory stream: HTTP+SSE in 2024-11-05,
            /// Streamable HTTP with a session until 2025-11-25, without one since 2026-07-28.
            http Http,
        }
    };
}

/// Adds nothing to the list.
#[cfg(not(feature = "http"))]
#[doc(hidden)]
#[macro_export]
macro_rules! transport_kinds_with_http {
    ($then:path, $given:tt $($transports:tt)*) => {
        $then! { $given $($transports)* }
    };
}

macro_rules! define {
    ({} $($(#[$doc:meta])* $name:ident $transport:ident,)*) => {
        /// The transport of a test.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum TransportKind {
            $($(#[$doc])* $transport,)*
            /// HTTP to a server without sessions, in the revisions that have sessions. Each request
            /// is independent: the server does not know the client's capabilities, cannot ask it, and
            /// sends only responses and the progress of a call.
            #[cfg(feature = "http")]
            Stateless,
        }

        impl TransportKind {
            /// Every transport but `Stateless`.
            pub const ALL: &[Self] = &[$(Self::$transport),*];

            /// Whether a server can send messages at any time, not only in response to a request.
            pub fn has_server_push(self) -> bool {
                Self::ALL.contains(&self)
            }
        }

        impl fmt::Display for TransportKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$transport => stringify!($name),)*
                    #[cfg(feature = "http")]
                    Self::Stateless => "stateless",
                })
            }
        }
    };
}

transport_kinds!(define, {});

/// Writes the tests of a function for `#[bowline::test]`: a module for each transport, with a test
/// for the newest revision of each era (`every_era`) or for every revision (`every_revision`). The
/// second argument has the attributes of the tests, the function's name and its return type.
#[doc(hidden)]
#[macro_export]
macro_rules! tests {
    (stateless $which:ident $function:tt) => {
        $crate::tests!($which $function);
        $crate::stateless_tests!($which $function);
    };
    ($which:ident $function:tt) => {
        $crate::transport_kinds!($crate::tests, ($which $function));
    };
    (($which:ident $function:tt) $($(#[$doc:meta])* $name:ident $transport:ident,)*) => {
        $(mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::tests!(@$which $transport $function);
        })*
    };
    (@every_revision $transport:ident $function:tt) => {
        $crate::tests!(v2024_11_05 V2024_11_05 $transport $function);
        $crate::tests!(v2025_03_26 V2025_03_26 $transport $function);
        $crate::tests!(v2025_06_18 V2025_06_18 $transport $function);
        $crate::tests!(@every_era $transport $function);
    };
    (@every_era $transport:ident $function:tt) => {
        $crate::tests!(v2025_11_25 V2025_11_25 $transport $function);
        $crate::tests!(v2026_07_28 V2026_07_28 $transport $function);
    };
    ($name:ident $revision:ident $transport:ident
     { $(#[$about:meta])* fn $function:ident() $($output:tt)* }) => {
        #[::core::prelude::v1::test]
        $(#[$about])*
        fn $name() $($output)* {
            use $crate::harness::{Case, TransportKind, Revision, run};
            run(Case::new(Revision::$revision, TransportKind::$transport), super::super::$function)
        }
    };
}

/// Writes the tests with [`TransportKind::Stateless`].
#[cfg(feature = "http")]
#[doc(hidden)]
#[macro_export]
macro_rules! stateless_tests {
    ($which:ident $function:tt) => {
        mod stateless {
            #[allow(unused_imports)]
            use super::*;

            $crate::stateless_tests!(@$which $function);
        }
    };
    (@every_revision $function:tt) => {
        $crate::tests!(v2025_03_26 V2025_03_26 Stateless $function);
        $crate::tests!(v2025_06_18 V2025_06_18 Stateless $function);
        $crate::stateless_tests!(@every_era $function);
    };
    (@every_era $function:tt) => {
        $crate::tests!(v2025_11_25 V2025_11_25 Stateless $function);
    };
}

/// Refuses `stateless` without the feature `http`.
#[cfg(not(feature = "http"))]
#[doc(hidden)]
#[macro_export]
macro_rules! stateless_tests {
    ($($ignored:tt)*) => {
        ::core::compile_error!("`stateless` needs the feature `http` of `bowline-testing`");
    };
}
