//! What was measured, and with which command; and what a plan leaves free.

/// Operations of the store for a request in a session.
/// `cargo test -p bowline-tests --test http requests_use_the_store_as_rarely_as_they_can`
pub(crate) const REQUEST: f64 = 1.0;

/// Operations of the store for an event of a stream that answers a request. The same test.
pub(crate) const EVENT: f64 = 1.0;

/// Operations of the store for an event of a GET stream. The same test.
pub(crate) const GET_EVENT: f64 = 2.0;

/// Operations that keep a session with an open GET stream and its log from expiring, and the seconds
/// between them: a quarter of `HttpLimits::session_idle`. See `keep_up` in
/// `crates/http/src/server/legacy/session/upkeep.rs`.
pub(crate) const UPKEEP: f64 = 2.0;
pub(crate) const UPKEEP_SECONDS: f64 = 150.0;

/// Microseconds of a core of Redis for an operation that reads, and for one that appends.
/// `cargo bench -p bowline-tests --bench sessions_on_redis`
pub(crate) const RENEW_MICROSECONDS: f64 = 7.0;
pub(crate) const APPEND_MICROSECONDS: f64 = 20.3;

/// Bytes of Redis for a record, for the log of a stream of five events, and for the log of a GET stream
/// after two hours. The same benchmark.
pub(crate) const RECORD_BYTES: f64 = 770.0;
pub(crate) const LOG_BYTES: f64 = 2128.0;
pub(crate) const LOG_EVENTS: f64 = 5.0;
pub(crate) const GET_LOG_BYTES: f64 = 3102.0;

/// Seconds for which the log of a stream that has ended is kept: `HttpLimits::resumption`.
pub(crate) const LOG_SECONDS: f64 = 60.0;

/// Bytes of a replica for its copy of a session, by the same benchmark, and for an open GET stream
/// beside it, by `cargo xtask bench --case memory`.
pub(crate) const COPY_BYTES: f64 = 5001.0;
pub(crate) const STREAM_BYTES: f64 = 14_301.0;

/// Seconds for which a replica keeps a copy that is not in use: `COPY_IDLE` in
/// `crates/http/src/server/legacy/sessions/sweep.rs`.
pub(crate) const COPY_SECONDS: f64 = 30.0;

/// Requests per second of one core of a replica, with its sessions in memory: `http/2025-11-25/64B/c32`
/// of `cargo xtask bench`; and the share of it that is left with sessions in Redis, which
/// `cargo bench -p bowline-tests --bench sessions_on_redis` measures: the lowest of three machines.
pub(crate) const REQUESTS: f64 = 104_012.0;
pub(crate) const SHARE_WITH_REDIS: f64 = 0.38;

/// A plan uses half of what was measured, of Redis and of replicas: the rest is for peaks, and for the
/// load of a machine that fails.
pub(crate) const USED: f64 = 0.5;

/// Open streams of one replica. Not measured but chosen: three quarters of
/// `HttpLimits::connections`. `HttpLimits::streams` and `sessions` have to be raised to it.
pub(crate) const STREAMS: f64 = 25_000.0;
