//! A [`Backend`](bowline_store::Backend) in an SQLite file: sessions and events survive a restart.
//!
//! One file serves one machine. Two processes may have it open at once, as during a restart that
//! starts the new process before the old one has ended. Several machines need a database server.
//!
//! * `backend`: [`SqliteBackend`], the handle that a server gets.
//! * `file`: the file, its format, and errors that name it.
//! * `values`, `logs`, `marks`, `messages`: the statements for each kind of data.
//! * `writer`: the thread that writes; it commits operations that wait for it together.
//! * `readers`: the threads that read, while the writer writes.
//! * `listeners`: the listeners of topics, and the thread that polls for messages of other processes.

mod backend;
mod file;
mod listeners;
mod logs;
mod marks;
mod messages;
mod readers;
mod values;
mod writer;

pub use self::backend::SqliteBackend;
pub use self::file::SqliteLimits;
