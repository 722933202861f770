//! The statements for the marks of writers, which are values.

use bowline_store::backend::{Expect, Mark, MarkStep};
use rusqlite::{Connection, params};

use crate::file::now;
use crate::values::{self, NewValue};

/// Sets, prolongs or removes a mark. Returns whether its writer may append. The caller has the lock of
/// the file.
pub(crate) fn step(connection: &Connection, mark: &Mark, expires: i64) -> rusqlite::Result<bool> {
    let (key, owner) = (mark.key.as_str(), &*mark.owner);
    match mark.step {
        MarkStep::Begin => {
            let (key, value) = (mark.key.clone(), mark.owner.clone());
            values::put(connection, &NewValue { key, value, expires, expect: Expect::Anything })?;
            Ok(true)
        }
        MarkStep::Continue => {
            let sql =
                "UPDATE value SET expires = ?4 WHERE key = ?1 AND value = ?2 AND expires > ?3";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.execute(params![key, owner, now(), expires])? > 0)
        }
        MarkStep::End => {
            let sql = "DELETE FROM value WHERE key = ?1 AND value = ?2 AND expires > ?3";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.execute(params![key, owner, now()])? > 0)
        }
    }
}
