//! Drives any MCP server over HTTP or stdio, as cheaply as it can, and checks every answer.
//!
//! There is no SDK inside, and only one thread: requests are prepared bytes in which nothing but
//! the id changes, and an answer that differs from one already understood by its id alone is not
//! parsed again. One core of this is faster than one core of any server, the ceiling included.
//!
//! * [`message`]: what is said, in the words of each revision.
//! * [`answer`]: whether what comes back is right.
//! * [`http`]: one connection, one request at a time; [`stdio`]: a child, some requests at a time.
//! * [`sessions`]: many sessions at once, idle or told of a change; [`start`]: from nothing to the
//!   first answer.
//! * [`figures`]: how long it took; [`arguments`]: what to do.

pub mod answer;
pub mod arguments;
pub mod figures;
pub mod http;
pub mod message;
pub mod sessions;
pub mod start;
pub mod stdio;
