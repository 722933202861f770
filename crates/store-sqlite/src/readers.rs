//! The threads that read. With the write-ahead log, they see the last commit and never wait for the
//! writer.

use std::sync::Arc;

use bowline_store::backend::{BoxStream, Entry, Key, LogSlice, Position, Result};
use bytes::Bytes;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::file::StoreFile;
use crate::listeners::Listeners;
use crate::{logs, values};

/// How many threads read.
pub(crate) const READERS: usize = 2;

/// The most reads that wait for one thread. A caller beyond that waits for room.
pub(crate) const QUEUE: usize = 512;

/// A read, and where its result goes.
pub(crate) enum Read {
    Get(Key, Reply<Option<Entry>>),
    /// A value, and whether it is time to renew it until this time.
    GetToRenew(Key, i64, Reply<(Option<Entry>, bool)>),
    Scan(Scan, Reply<Vec<Key>>),
    Log(Key, Position, usize, Reply<LogSlice>),
    Listen(Key, Reply<BoxStream<'static, Bytes>>),
}

/// Which keys to look for.
pub(crate) struct Scan {
    pub(crate) prefix: Key,
    pub(crate) after: Option<Key>,
    pub(crate) limit: usize,
}

type Reply<T> = oneshot::Sender<Result<T>>;

/// What a thread owns.
pub(crate) struct Reader {
    pub(crate) file: StoreFile,
    pub(crate) connection: Connection,
    pub(crate) listeners: Arc<Listeners>,
}

impl Reader {
    /// Reads until every handle is gone.
    pub(crate) fn run(mut self, mut reads: mpsc::Receiver<Read>) {
        while let Some(read) = reads.blocking_recv() {
            self.answer(read);
        }
    }

    /// A caller that has gone away gets no reply.
    fn answer(&mut self, read: Read) {
        match read {
            Read::Get(key, reply) => {
                let entry = values::get(&self.connection, &key);
                let _ = reply.send(entry.map_err(|error| self.file.error("get", error)));
            }
            Read::GetToRenew(key, expires, reply) => {
                let found = values::get_to_renew(&self.connection, &key, expires);
                let _ = reply.send(found.map_err(|error| self.file.error("renew", error)));
            }
            Read::Scan(Scan { prefix, after, limit }, reply) => {
                let keys = values::scan(&self.connection, &prefix, after.as_ref(), limit);
                let _ = reply.send(keys.map_err(|error| self.file.error("scan", error)));
            }
            Read::Log(log, after, limit, reply) => {
                let slice = self.read_log(&log, after, limit);
                let _ = reply.send(slice.map_err(|error| self.file.error("read", error)));
            }
            Read::Listen(topic, reply) => {
                let _ = reply.send(self.listeners.listen(&self.connection, &topic));
            }
        }
    }

    fn read_log(&mut self, log: &Key, after: Position, limit: usize) -> rusqlite::Result<LogSlice> {
        let snapshot = self.connection.transaction()?;
        let slice = logs::read(&snapshot, log, after, limit)?;
        snapshot.commit()?;
        Ok(slice)
    }
}
