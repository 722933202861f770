//! The file: how it is opened, which format it has, and errors that name it.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bowline_store::backend::{Error, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// "BWLN", which tells our files from those of other programs.
const APPLICATION: i32 = 0x4257_4c4e;

/// How long a statement waits for another process that writes to the file.
const BUSY: Duration = Duration::from_millis(500);

/// How long `open` waits for other processes that create or migrate the file at the same time.
const OPENING: Duration = Duration::from_secs(5);

/// The most bytes that the write-ahead log keeps on disk after its content is in the file.
const JOURNAL_BYTES: u32 = 16 * 1024 * 1024;

/// The steps from an empty file to the format of this version. Step `n` leads to format `n`. A step
/// that was released never changes, and an older process may run beside a newer one for a while, so
/// steps add and never remove.
const MIGRATIONS: &[&str] = &["
    -- The last number that was used as the version of a value or the place of a message.
    CREATE TABLE counter (number INTEGER NOT NULL);
    INSERT INTO counter VALUES (0);

    -- Expiry is in microseconds since 1970.
    CREATE TABLE value (
        key TEXT PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL, expires INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX value_expires ON value (expires);

    CREATE TABLE log (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
        oldest INTEGER NOT NULL, next INTEGER NOT NULL, bytes INTEGER NOT NULL,
        expires INTEGER NOT NULL
    );
    CREATE INDEX log_expires ON log (expires);
    CREATE TABLE item (
        log INTEGER NOT NULL, position INTEGER NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (log, position)
    ) WITHOUT ROWID;

    -- Messages of topics, for a short time. `bytes` is the sum of all before it.
    CREATE TABLE message (
        number INTEGER PRIMARY KEY, origin INTEGER NOT NULL, topic TEXT NOT NULL,
        value BLOB NOT NULL, bytes INTEGER NOT NULL, expires INTEGER NOT NULL
    );
"];

/// The limits of an [`SqliteBackend`](crate::SqliteBackend).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteLimits {
    /// The most bytes of the file. A write that does not fit fails. Space that expires is used
    /// again, but the file does not shrink.
    pub file_bytes: u64,
    /// The most bytes of one log. Beyond that it drops its oldest items.
    pub log_bytes: usize,
    /// The most items of one log. Beyond that it drops its oldest.
    pub log_items: usize,
}

impl Default for SqliteLimits {
    fn default() -> Self {
        Self { file_bytes: 1024 * 1024 * 1024, log_bytes: 1024 * 1024, log_items: 1024 }
    }
}

/// The path of the file, for connections to it and for errors.
#[derive(Clone)]
pub(crate) struct StoreFile {
    path: Arc<Path>,
}

impl StoreFile {
    /// Creates the file if there is none, and brings it to the format of this version. A file that
    /// is not ours, or is newer, stays as it is.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display();
        // An absolute path stays valid when the process changes its folder, and never is one of the
        // names that are special to SQLite.
        let absolute = std::path::absolute(path)
            .map_err(|error| Error::new(format!("cannot open the store `{name}`: {error}")))?;
        create(&absolute)
            .map_err(|error| Error::new(format!("cannot open the store `{name}`: {error}")))?;
        let file = Self { path: absolute.into() };
        let mut connection = file.connect().map_err(|error| file.error("open", error))?;
        file.check(&mut connection)?;
        file.use_write_ahead_log(&connection)?;
        file.migrate(&mut connection)?;
        Ok(file)
    }

    /// A connection that waits a little for other processes.
    pub(crate) fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }

    /// A connection that cannot write.
    pub(crate) fn connect_to_read(&self) -> rusqlite::Result<Connection> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// The connection of the writer. It keeps the file within its limit, and commits wait for the disk.
    pub(crate) fn connect_to_write(&self, limits: &SqliteLimits) -> rusqlite::Result<Connection> {
        let connection = self.connect()?;
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(limits.file_bytes).unwrap_or(i64::MAX) / page.max(1);
        // SQLite counts pages in 32 bits.
        let pages = pages.clamp(1, i64::from(u32::MAX) - 1);
        let set = |name: &str, value: i64| {
            connection.pragma_update_and_check(None, name, value, |_| Ok(()))
        };
        set("max_page_count", pages)?;
        set("journal_size_limit", JOURNAL_BYTES.into())?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    }

    /// An error that names the file and the operation that failed.
    pub(crate) fn error(&self, operation: &str, cause: rusqlite::Error) -> Error {
        let name = self.path.display();
        let reason = match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another process holds its lock".to_owned()
            }
            Some(ErrorCode::DiskFull) => "the disk, or the limit of its bytes, is full".to_owned(),
            _ => cause.to_string(),
        };
        Error::new(format!("cannot {operation} in the store `{name}`: {reason}")).caused_by(cause)
    }

    /// The same for each of the operations that failed together. Only the first can own the cause,
    /// so all repeat its code and text.
    pub(crate) fn repeated_error(&self, operation: &str, cause: &rusqlite::Error) -> Error {
        let code = cause.sqlite_error().map_or(0, |error| error.extended_code);
        let error = rusqlite::ffi::Error::new(code);
        self.error(operation, rusqlite::Error::SqliteFailure(error, Some(cause.to_string())))
    }

    /// The error of an operation whose thread has ended.
    pub(crate) fn closed(&self, operation: &str) -> Error {
        Error::new(format!("cannot {operation} in the store `{}`: closed", self.path.display()))
    }

    /// Refuses files of other programs and of newer versions.
    fn check(&self, connection: &mut Connection) -> Result<()> {
        let identity = retrying(|| Identity::of(connection));
        let identity = identity.map_err(|error| self.error("open", error))?;
        let (name, format, newest) = (self.path.display(), identity.format, MIGRATIONS.len());
        if !identity.is_new() && identity.application != i64::from(APPLICATION) {
            return Err(Error::new(format!("`{name}` is a database of another program")));
        }
        if format > newest as i64 {
            return Err(Error::new(format!(
                "the store `{name}` has format {format}, of a newer version; this one reads up to \
                 format {newest}"
            )));
        }
        Ok(())
    }

    /// Readers do not wait for the writer then, nor does it wait for them.
    fn use_write_ahead_log(&self, connection: &Connection) -> Result<()> {
        let mode: String = retrying(|| {
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        })
        .map_err(|error| self.error("open", error))?;
        if mode != "wal" {
            let name = self.path.display();
            return Err(Error::new(format!("the file system of `{name}` has no shared memory")));
        }
        Ok(())
    }

    /// Each step is one transaction that no other process can see half of.
    fn migrate(&self, connection: &mut Connection) -> Result<()> {
        for (before, step) in MIGRATIONS.iter().enumerate() {
            retrying(|| migrate_from(connection, before as i64, step))
                .map_err(|error| self.error("migrate", error))?;
        }
        Ok(())
    }
}

/// What a file says about its format.
struct Identity {
    application: i64,
    format: i64,
    tables: i64,
}

impl Identity {
    /// Reads all at once: another process may be creating the file.
    fn of(connection: &mut Connection) -> rusqlite::Result<Self> {
        let snapshot = connection.transaction()?;
        let read = |name| snapshot.pragma_query_value(None, name, |row| row.get(0));
        let tables =
            snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok(Self { application: read("application_id")?, format: read("user_version")?, tables })
    }

    fn is_new(&self) -> bool {
        self.application == 0 && self.format == 0 && self.tables == 0
    }
}

/// Nothing is done if another process was faster.
fn migrate_from(connection: &mut Connection, before: i64, step: &str) -> rusqlite::Result<()> {
    let exclusive = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let format: i64 = exclusive.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if format != before {
        return Ok(());
    }
    exclusive.execute_batch(step)?;
    exclusive.pragma_update(None, "application_id", APPLICATION)?;
    exclusive.pragma_update(None, "user_version", before + 1)?;
    exclusive.commit()
}

/// Repeats what fails because another process holds the lock. SQLite waits by itself, but not when
/// it turns the write-ahead log on.
fn retrying<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let begin = Instant::now();
    loop {
        match work() {
            Err(error) if is_busy(&error) && begin.elapsed() < OPENING => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Whether another process holds the lock of the file.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Creates the file for its owner only, since it holds the ids of sessions. SQLite gives the files
/// beside it the same mode.
fn create(path: &PathBuf) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Microseconds since 1970. Expiry is wall-clock time, because it must hold across restarts.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// When something expires that is written now.
pub(crate) fn expires(expiry: Duration) -> i64 {
    let expiry = i64::try_from(expiry.as_micros()).unwrap_or(i64::MAX);
    now().saturating_add(expiry)
}
