//! The statements for values.

use bowline_store::backend::{Entry, Expect, Key, Version, Written};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::file::now;

/// A value to be set.
pub(crate) struct NewValue {
    pub(crate) key: Key,
    pub(crate) value: Bytes,
    pub(crate) expires: i64,
    pub(crate) expect: Expect,
}

/// The value at a key.
pub(crate) fn get(connection: &Connection, key: &Key) -> rusqlite::Result<Option<Entry>> {
    let sql = "SELECT value, version FROM value WHERE key = ?1 AND expires > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let entry = |row: &rusqlite::Row<'_>| {
        let value = row.get::<_, Vec<u8>>(0)?.into();
        Ok(Entry { value, version: Version(row.get(1)?) })
    };
    statement.query_row(params![key.as_str(), now()], entry).optional()
}

/// The value at a key, and whether less than three quarters of the time until `expires` remain for it.
pub(crate) fn get_to_renew(
    connection: &Connection,
    key: &Key,
    expires: i64,
) -> rusqlite::Result<(Option<Entry>, bool)> {
    let (now, entry) = (now(), get(connection, key)?);
    let sql = "SELECT 1 FROM value WHERE key = ?1 AND expires > ?2 AND expires < ?3";
    let due = expires.saturating_sub(expires.saturating_sub(now) / 4);
    let is_due = connection.prepare_cached(sql)?.exists(params![key.as_str(), now, due])?;
    Ok((entry, is_due))
}

/// The value at a key, which expires at `expires` from now on, unless it does later. The caller has
/// the lock of the file.
pub(crate) fn renew(
    connection: &Connection,
    key: &Key,
    expires: i64,
) -> rusqlite::Result<Option<Entry>> {
    let sql = "UPDATE value SET expires = ?2 WHERE key = ?1 AND expires > ?3 AND expires < ?2";
    connection.prepare_cached(sql)?.execute(params![key.as_str(), expires, now()])?;
    get(connection, key)
}

/// Sets a value, if the current one is as expected. The caller has the lock of the file.
pub(crate) fn put(connection: &Connection, new: &NewValue) -> rusqlite::Result<Written> {
    let sql = "SELECT version FROM value WHERE key = ?1 AND expires > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let key = new.key.as_str();
    let found = statement.query_row(params![key, now()], |row| row.get(0)).optional()?;
    let is_expected = match new.expect {
        Expect::Anything => true,
        Expect::Absent => found.is_none(),
        Expect::Version(Version(version)) => found == Some(version),
    };
    if !is_expected {
        return Ok(Written::Conflict);
    }
    let version = next_number(connection)?;
    let sql = "INSERT INTO value (key, value, version, expires) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (key) DO UPDATE SET value = ?2, version = ?3, expires = ?4";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![key, &*new.value, version, new.expires])?;
    Ok(Written::Yes(Version(version)))
}

/// Removes a value. Returns whether there was one that had not expired.
pub(crate) fn delete(connection: &Connection, key: &Key) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM value WHERE key = ?1 RETURNING expires";
    let mut statement = connection.prepare_cached(sql)?;
    let expires: Option<i64> = statement.query_row([key.as_str()], |row| row.get(0)).optional()?;
    Ok(expires.is_some_and(|expires| expires > now()))
}

/// The keys that begin with a prefix. Compares the prefix here, because no character is special here.
pub(crate) fn scan(
    connection: &Connection,
    prefix: &Key,
    after: Option<&Key>,
    limit: usize,
) -> rusqlite::Result<Vec<Key>> {
    let sql = "SELECT key, expires FROM value WHERE key >= ?1 AND key > ?2 ORDER BY key";
    let mut statement = connection.prepare_cached(sql)?;
    // No key is empty, so every key comes after the empty one.
    let after = after.map_or("", Key::as_str);
    let mut rows = statement.query([prefix.as_str(), after])?;
    let (mut keys, now) = (Vec::new(), now());
    while keys.len() < limit
        && let Some(row) = rows.next()?
    {
        let key: String = row.get(0)?;
        if !key.starts_with(prefix.as_str()) {
            break;
        }
        if row.get::<_, i64>(1)? > now {
            keys.push(Key::new([key.as_str()]));
        }
    }
    Ok(keys)
}

/// Removes at most `limit` values that have expired. Returns how many.
pub(crate) fn sweep(connection: &Connection, limit: usize) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM value WHERE key IN
               (SELECT key FROM value WHERE expires <= ?1 LIMIT ?2)";
    connection.prepare_cached(sql)?.execute(params![now(), limit as i64])
}

/// A number that no value and no message has had. It is stored, so it holds after a restart and for
/// other processes too.
pub(crate) fn next_number(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "UPDATE counter SET number = number + 1 RETURNING number";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// The last number that was used.
pub(crate) fn last_number(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached("SELECT number FROM counter")?.query_row([], |row| row.get(0))
}
