//! The statements for messages of topics.
//!
//! A message is written to the file so that listeners in other processes get it. It is removed
//! soon after, and it need not survive a crash.

use std::time::Duration;

use bowline_store::backend::Key;
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::file::{expires, now};
use crate::values::next_number;

/// The most bytes of messages that are kept for listeners in other processes.
const MESSAGE_BYTES: i64 = 16 * 1024 * 1024;

/// The bytes that a message counts in addition to its content, so that very many small ones are
/// limited too.
const OVERHEAD: i64 = 256;

/// How long a message is kept. Other processes poll far more often.
const KEPT: Duration = Duration::from_secs(10);

/// A message to be published.
pub(crate) struct NewMessage {
    pub(crate) topic: Key,
    pub(crate) value: Bytes,
}

/// A message of another process.
pub(crate) struct StoredMessage {
    pub(crate) number: u64,
    pub(crate) topic: Key,
    pub(crate) value: Bytes,
}

/// Writes a message and removes those beyond the limits. Returns its number. The caller has the lock
/// of the file.
pub(crate) fn publish(
    connection: &Connection,
    origin: i64,
    new: &NewMessage,
) -> rusqlite::Result<u64> {
    let sql = "SELECT bytes + length(value) + ?1 FROM message ORDER BY number DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let before: Option<i64> = statement.query_row([OVERHEAD], |row| row.get(0)).optional()?;
    let before = before.unwrap_or_default();
    let number = next_number(connection)?;
    let sql = "INSERT INTO message (number, origin, topic, value, bytes, expires)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (topic, value) = (new.topic.as_str(), &*new.value);
    connection.prepare_cached(sql)?.execute(params![
        number,
        origin,
        topic,
        value,
        before,
        expires(KEPT)
    ])?;
    let after = before + value.len() as i64 + OVERHEAD;
    while let Some((oldest, before_oldest)) = oldest(connection)?
        && oldest < number
        && after - before_oldest > MESSAGE_BYTES
    {
        connection.prepare_cached("DELETE FROM message WHERE number = ?1")?.execute([oldest])?;
    }
    Ok(number)
}

/// The number of the oldest message, and the bytes of all before it.
fn oldest(connection: &Connection) -> rusqlite::Result<Option<(u64, i64)>> {
    let sql = "SELECT number, bytes FROM message ORDER BY number LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// The messages of other handles after a number, at most `limit`.
pub(crate) fn published_after(
    connection: &Connection,
    number: u64,
    origin: i64,
    limit: usize,
) -> rusqlite::Result<Vec<StoredMessage>> {
    let sql = "SELECT number, topic, value FROM message WHERE number > ?1 AND origin <> ?2
               ORDER BY number LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let messages = statement.query_map(params![number, origin, limit as i64], |row| {
        let topic = Key::new([row.get::<_, String>(1)?.as_str()]);
        let value = row.get::<_, Vec<u8>>(2)?.into();
        Ok(StoredMessage { number: row.get(0)?, topic, value })
    })?;
    messages.collect()
}

/// Removes at most `limit` messages that have expired. Returns how many.
pub(crate) fn sweep(connection: &Connection, limit: usize) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM message WHERE number IN
               (SELECT number FROM message ORDER BY number LIMIT ?2) AND expires <= ?1";
    connection.prepare_cached(sql)?.execute(params![now(), limit as i64])
}
