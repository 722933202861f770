//! The cases that a test runs in: every revision over every carrier.
//!
//! The carriers stand in one list, [`carriers!`](crate::carriers), of which the enum and the tests
//! are made. A new one is a line there and an arm where [`Connect`](super::Connect) opens channels.
//! [`Carrier::Stateless`] stands apart: it cannot carry everything, so a test has to ask for it.

use std::fmt;

use bowline::types::revision::Revision;

/// A revision, and what carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Case {
    /// The revision that the client speaks, and no other.
    pub revision: Revision,
    /// What carries the messages.
    pub carrier: Carrier,
}

impl Case {
    /// The case of a revision and a carrier.
    pub const fn new(revision: Revision, carrier: Carrier) -> Self {
        Self { revision, carrier }
    }

    /// Every case that a test runs in without being asked.
    pub fn all() -> impl Iterator<Item = Self> {
        let revisions = |&carrier| Revision::ALL.map(|revision| Self::new(revision, carrier));
        Carrier::ALL.iter().flat_map(revisions)
    }
}

/// The path of its test: `stdio::v2026_07_28`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::v{}", self.carrier, self.revision.as_str().replace('-', "_"))
    }
}

/// Hands the list of carriers to another macro, after what that one was given.
#[doc(hidden)]
#[macro_export]
macro_rules! carriers {
    ($then:path, $given:tt) => {
        $crate::carriers_with_http! { $then, $given
            /// Pipes, as between a client and the server that it starts.
            stdio Stdio,
            /// Memory.
            duplex Duplex,
            /// A Unix socket in the file system.
            socket Socket,
        }
    };
}

/// The list, longer where there is HTTP.
#[cfg(feature = "http")]
#[doc(hidden)]
#[macro_export]
macro_rules! carriers_with_http {
    ($then:path, $given:tt $($carriers:tt)*) => {
        $then! { $given
            $($carriers)*
            /// HTTP as the revision has it: a session before 2026-07-28, none since, and a stream
            /// beside a place to post to in 2024-11-05. It stays in memory.
            http Http,
        }
    };
}

/// The list as it is.
#[cfg(not(feature = "http"))]
#[doc(hidden)]
#[macro_export]
macro_rules! carriers_with_http {
    ($then:path, $given:tt $($carriers:tt)*) => {
        $then! { $given $($carriers)* }
    };
}

macro_rules! define {
    ({} $($(#[$doc:meta])* $name:ident $carrier:ident,)*) => {
        /// What carries the messages of a test.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Carrier {
            $($(#[$doc])* $carrier,)*
            /// HTTP to a server that keeps no sessions, in the revisions that have them: each
            /// request stands alone, so the server knows nothing of its client, cannot ask it and
            /// cannot tell it anything but the answer to a call, and what belongs to that.
            #[cfg(feature = "http")]
            Stateless,
        }

        impl Carrier {
            /// Every carrier that can carry everything.
            pub const ALL: &[Self] = &[$(Self::$carrier),*];

            /// Whether a server can reach its client at any time, and not only to answer it.
            pub fn has_way_back(self) -> bool {
                Self::ALL.contains(&self)
            }
        }

        impl fmt::Display for Carrier {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$carrier => stringify!($name),)*
                    #[cfg(feature = "http")]
                    Self::Stateless => "stateless",
                })
            }
        }
    };
}

carriers!(define, {});

/// Writes the tests of a function for `#[bowline::test]`: a module for each carrier, with a test
/// for the newest revision of each era, or for every revision. It is told which, and given the
/// attributes of the tests, the function and what that returns.
#[doc(hidden)]
#[macro_export]
macro_rules! tests {
    (stateless $which:ident $function:tt) => {
        $crate::tests!($which $function);
        $crate::stateless_tests!($which $function);
    };
    ($which:ident $function:tt) => {
        $crate::carriers!($crate::tests, ($which $function));
    };
    (($which:ident $function:tt) $($(#[$doc:meta])* $name:ident $carrier:ident,)*) => {
        $(mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::tests!(@$which $carrier $function);
        })*
    };
    (@every_revision $carrier:ident $function:tt) => {
        $crate::tests!(v2024_11_05 V2024_11_05 $carrier $function);
        $crate::tests!(v2025_03_26 V2025_03_26 $carrier $function);
        $crate::tests!(v2025_06_18 V2025_06_18 $carrier $function);
        $crate::tests!(@every_era $carrier $function);
    };
    (@every_era $carrier:ident $function:tt) => {
        $crate::tests!(v2025_11_25 V2025_11_25 $carrier $function);
        $crate::tests!(v2026_07_28 V2026_07_28 $carrier $function);
    };
    ($name:ident $revision:ident $carrier:ident
     { $(#[$about:meta])* fn $function:ident() $($output:tt)* }) => {
        #[::core::prelude::v1::test]
        $(#[$about])*
        fn $name() $($output)* {
            use $crate::harness::{Case, Carrier, Revision, run};
            run(Case::new(Revision::$revision, Carrier::$carrier), super::super::$function)
        }
    };
}

/// Writes the tests for a server without sessions.
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

/// Says that there are none.
#[cfg(not(feature = "http"))]
#[doc(hidden)]
#[macro_export]
macro_rules! stateless_tests {
    ($($ignored:tt)*) => {
        ::core::compile_error!("`stateless` needs the feature `http` of `bowline-testing`");
    };
}
