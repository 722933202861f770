//! The statements for logs.

use bowline_store::backend::{Appended, Key, LogItem, LogSlice, NewItem, Position};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::file::{SqliteLimits, now};
use crate::marks;

/// The bytes that an item counts in addition to its content, so that very many small ones are
/// limited too.
const OVERHEAD: usize = 64;

/// An item to be appended.
pub(crate) struct ItemOfLog {
    pub(crate) log: Key,
    pub(crate) item: NewItem,
    pub(crate) expires: i64,
}

/// The row of a log.
struct StoredLog {
    id: i64,
    oldest: u64,
    next: u64,
    bytes: usize,
    expires: i64,
}

/// Appends an item, unless its writer has lost its mark, and drops the oldest ones beyond the limits.
/// The caller has the lock of the file, and publishes.
pub(crate) fn append(
    connection: &Connection,
    new: &ItemOfLog,
    limits: &SqliteLimits,
) -> rusqlite::Result<Appended> {
    if let Some(mark) = &new.item.mark
        && !marks::step(connection, mark, new.expires)?
    {
        return Ok(Appended::Fenced);
    }
    let mut log = match find(connection, &new.log)? {
        Some(log) if log.expires > now() => log,
        expired => {
            if let Some(expired) = expired {
                remove(connection, expired.id)?;
            }
            if new.item.value.is_none() && new.item.above == Position(0) {
                return Ok(Appended::At(Position(0)));
            }
            create(connection, &new.log)?
        }
    };
    if log.next <= new.item.above.0 {
        forget_all(connection, &mut log, new.item.above)?;
    }
    if let Some(value) = &new.item.value {
        push(connection, &mut log, value, limits)?;
    }
    let sql = "UPDATE log SET oldest = ?2, next = ?3, bytes = ?4, expires = ?5 WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![log.id, log.oldest, log.next, log.bytes as i64, new.expires])?;
    Ok(Appended::At(Position(log.next - 1)))
}

/// Adds an item, and drops the oldest ones beyond the limits.
fn push(
    connection: &Connection,
    log: &mut StoredLog,
    value: &[u8],
    limits: &SqliteLimits,
) -> rusqlite::Result<()> {
    let position = log.next;
    let sql = "INSERT INTO item (log, position, value) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![log.id, position, value])?;
    log.next += 1;
    log.bytes += value.len() + OVERHEAD;
    // The newest item stays even if it exceeds the limit alone.
    while (log.bytes > limits.log_bytes || log.next - log.oldest > limits.log_items as u64)
        && log.oldest < position
    {
        forget_oldest(connection, log)?;
    }
    Ok(())
}

/// The items of a log after a position. The caller's transaction makes both statements see the same.
pub(crate) fn read(
    connection: &Connection,
    log: &Key,
    after: Position,
    limit: usize,
) -> rusqlite::Result<LogSlice> {
    let Some(log) = find(connection, log)?.filter(|log| log.expires > now()) else {
        return Ok(LogSlice::empty());
    };
    let sql = "SELECT position, value FROM item WHERE log = ?1 AND position > ?2
               ORDER BY position LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let after = i64::try_from(after.0).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let items = statement.query_map(params![log.id, after, limit], |row| {
        let value = row.get::<_, Vec<u8>>(1)?.into();
        Ok(LogItem { position: Position(row.get(0)?), value })
    })?;
    let items = items.collect::<rusqlite::Result<_>>()?;
    Ok(LogSlice { oldest: Position(log.oldest), next: Position(log.next), items })
}

/// Removes a log. Returns whether there was one that had not expired.
pub(crate) fn delete(connection: &Connection, log: &Key) -> rusqlite::Result<bool> {
    let Some(log) = find(connection, log)? else { return Ok(false) };
    remove(connection, log.id)?;
    Ok(log.expires > now())
}

/// Removes at most `limit` logs that have expired. Returns how many.
pub(crate) fn sweep(connection: &Connection, limit: usize) -> rusqlite::Result<usize> {
    let sql = "SELECT id FROM log WHERE expires <= ?1 LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let expired = statement.query_map(params![now(), limit as i64], |row| row.get(0))?;
    let expired = expired.collect::<rusqlite::Result<Vec<i64>>>()?;
    expired.iter().try_for_each(|id| remove(connection, *id))?;
    Ok(expired.len())
}

fn find(connection: &Connection, key: &Key) -> rusqlite::Result<Option<StoredLog>> {
    let sql = "SELECT id, oldest, next, bytes, expires FROM log WHERE key = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let log = |row: &rusqlite::Row<'_>| {
        let (id, oldest, next) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(StoredLog { id, oldest, next, bytes: row.get(3)?, expires: row.get(4)? })
    };
    statement.query_row([key.as_str()], log).optional()
}

fn create(connection: &Connection, log: &Key) -> rusqlite::Result<StoredLog> {
    let sql = "INSERT INTO log (key, oldest, next, bytes, expires) VALUES (?1, 1, 1, 0, 0)";
    connection.prepare_cached(sql)?.execute([log.as_str()])?;
    let id = connection.last_insert_rowid();
    Ok(StoredLog { id, oldest: 1, next: 1, bytes: 0, expires: 0 })
}

fn remove(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM item WHERE log = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM log WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Empties a log that has lost its end: its next item comes after `above`.
fn forget_all(
    connection: &Connection,
    log: &mut StoredLog,
    above: Position,
) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM item WHERE log = ?1")?.execute([log.id])?;
    log.next = above.0.saturating_add(1);
    (log.oldest, log.bytes) = (log.next, 0);
    Ok(())
}

/// The positions of the others stay.
fn forget_oldest(connection: &Connection, log: &mut StoredLog) -> rusqlite::Result<()> {
    let sql = "DELETE FROM item WHERE log = ?1 AND position = ?2 RETURNING length(value)";
    let mut statement = connection.prepare_cached(sql)?;
    let length: usize = statement.query_row(params![log.id, log.oldest], |row| row.get(0))?;
    log.oldest += 1;
    log.bytes = log.bytes.saturating_sub(length + OVERHEAD);
    Ok(())
}
