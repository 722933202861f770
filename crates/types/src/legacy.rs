//! What 2026-07-28 removed: the handshake, `ping`, `logging/setLevel`, `resources/subscribe`, and
//! the experimental tasks of the core protocol.
//!
//! | up to 2025-11-25 | since 2026-07-28 |
//! |---|---|
//! | [`initialize`] | `_meta` of each request, and [`server/discover`](crate::discover) |
//! | [`set_level`] | [`meta::key::LOG_LEVEL`](crate::meta::key::LOG_LEVEL) in each request |
//! | [`subscribe`] | [`subscriptions/listen`](crate::subscription) |
//! | [`task`] | the [tasks extension](crate::ext::tasks) |
//! | [`ping`] | nothing |

pub mod initialize;
pub mod ping;
pub mod set_level;
pub mod subscribe;
pub mod task;
