//! The era of handshakes (until 2025-11-25): sessions, their streams, resumption, and the transport
//! of 2024-11-05.
//!
//! In reading order:
//!
//! * `post` — the whole life of a POST in a session, `posted` — what it keeps of its message;
//!   `handshake` — a POST that opens a session;
//! * `get` — the GET stream, new or resumed; `resume` — the stream of a POST, resumed; `delete` — the
//!   end of a session;
//! * `sse2024` — both endpoints of 2024-11-05;
//! * `lookup`, `refusals`, `event_id` — what these share;
//! * `driver` — polls the calls of one POST; `standalone` — reads messages that belong to no call;
//! * `item` — what waits on the line between a session and its reader;
//! * `session` — one session: the state machine, its lines, streams, and copies at other endpoints;
//! * `sessions` — all sessions of an endpoint;
//! * `record`, `broadcast`, `broadcast_pace`, `replica`, `stream_mark` — what endpoints that share a
//!   store write there, and tell each other.

mod broadcast;
mod broadcast_pace;
mod delete;
mod driver;
mod event_id;
mod get;
mod handshake;
mod item;
mod lookup;
mod post;
mod posted;
mod record;
mod refusals;
mod replica;
mod resume;
mod session;
mod sessions;
mod sse2024;
mod standalone;
mod stream_mark;

pub(super) use self::delete::delete;
pub(super) use self::get::get;
pub(super) use self::post::post;
pub(super) use self::sessions::OpenSessions;
