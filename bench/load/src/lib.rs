//! Drives any MCP server over HTTP or stdio at the least cost, and checks every answer.
//!
//! There is no SDK inside, and only one thread: requests are prepared bytes in which nothing but
//! the id changes, and an answer that differs from one already understood by its id alone is not
//! parsed again. One core of this is faster than one core of any server, the ceiling included.
//!
//! * [`message`]: the requests, in each revision.
//! * [`answer`]: checks the answers.
//! * [`http`]: one connection, one request at a time; [`stdio`]: a child, some requests at a time.
//! * [`sessions`]: many sessions at once, idle or notified of a change; [`start`]: from the start
//!   of a server to its first answer.
//! * [`figures`]: the times of the calls; [`arguments`]: the command line.

pub mod answer;
pub mod arguments;
pub mod figures;
pub mod http;
pub mod message;
pub mod sessions;
pub mod start;
pub mod stdio;
