//! What the writer does that callers cannot see: when it waits for the disk, and what it sweeps.

use bowline_store::backend::{Expect, NewItem};
use tempfile::TempDir;

use super::*;
use crate::file::now;

fn writer() -> (Writer, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = StoreFile::open(&folder.path().join("store.db")).unwrap();
    let limits = SqliteLimits::default();
    let writer = Writer {
        connection: file.connect_to_write(&limits).unwrap(),
        listeners: Arc::new(Listeners::new(file.clone(), 1)),
        is_relaxed: Arc::default(),
        is_full: true,
        origin: 1,
        file,
        limits,
    };
    (writer, folder)
}

fn job(operation: Operation) -> Job {
    Job { operation, reply: oneshot::channel().0 }
}

fn put(name: &str, expires: i64) -> Job {
    let (key, value) = (Key::new([name]), "value".into());
    job(Operation::Put(NewValue { key, value, expires, expect: Expect::Anything }))
}

fn append(name: &str, expires: i64) -> Job {
    let (log, item) = (Key::new([name]), NewItem::new("item", Duration::ZERO));
    job(Operation::Append(ItemOfLog { log, item, expires }))
}

fn publish() -> Job {
    job(Operation::Publish(NewMessage { topic: Key::new(["topic"]), value: "news".into() }))
}

impl Writer {
    fn written(&mut self, batch: &[Job]) {
        assert!(self.try_commit(batch).is_ok());
    }

    /// 1 is `NORMAL`, 2 is `FULL`.
    fn mode(&self) -> i64 {
        self.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
    }

    fn rows(&self, table: &str) -> usize {
        let sql = format!("SELECT count(*) FROM {table}");
        self.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    }
}

#[test]
fn commits_wait_for_the_disk_unless_they_hold_only_messages_or_are_relaxed() {
    let (mut writer, _folder) = writer();
    for (batch, expected) in [
        (vec![put("a", i64::MAX)], 2),
        (vec![publish()], 1),
        (vec![publish(), append("log", i64::MAX)], 2),
        (vec![publish()], 1),
        (vec![job(Operation::Delete(Key::new(["a"])))], 2),
    ] {
        writer.written(&batch);
        assert_eq!(writer.mode(), expected);
    }
    writer.is_relaxed.store(true, Ordering::Relaxed);
    writer.written(&[put("a", i64::MAX)]);
    assert_eq!(writer.mode(), 1);
}

#[test]
fn a_sweep_removes_what_has_expired_in_steps() {
    let (mut writer, _folder) = writer();
    let gone = now() - 1;
    for number in 0..SWEPT_ROWS + 10 {
        writer.written(&[put(&format!("gone/{number}"), gone)]);
    }
    for number in 0..SWEPT_LOGS + 2 {
        let log = format!("log/{number}");
        // Two items: a log that has expired begins anew.
        writer.written(&[append(&log, i64::MAX), append(&log, gone)]);
    }
    writer.written(&[put("kept", i64::MAX), append("kept", i64::MAX), publish()]);
    assert!(writer.sweep_step().unwrap(), "there is more");
    assert_eq!((writer.rows("value"), writer.rows("log"), writer.rows("item")), (11, 3, 5));
    assert!(!writer.sweep_step().unwrap(), "that was all");
    assert_eq!((writer.rows("value"), writer.rows("log"), writer.rows("item")), (1, 1, 1));
    assert_eq!(writer.rows("message"), 1, "a message is kept for a moment");
    writer.connection.execute("UPDATE message SET expires = ?1", [gone]).unwrap();
    writer.sweep_step().unwrap();
    assert_eq!(writer.rows("message"), 0);
}

#[test]
fn messages_are_kept_up_to_a_number_of_bytes() {
    let (mut writer, _folder) = writer();
    let megabyte = || {
        let value = vec![0; 1024 * 1024].into();
        job(Operation::Publish(NewMessage { topic: Key::new(["topic"]), value }))
    };
    for _ in 0..20 {
        writer.written(&[megabyte()]);
    }
    assert_eq!(writer.rows("message"), 15, "of 16 MiB, each counts a little more than one");
    let huge = vec![0; 20 * 1024 * 1024].into();
    let huge = NewMessage { topic: Key::new(["topic"]), value: huge };
    writer.written(&[job(Operation::Publish(huge))]);
    assert_eq!(writer.rows("message"), 1, "the newest stays");
}

#[test]
fn an_operation_that_fails_does_not_fail_those_beside_it() {
    let (mut writer, _folder) = writer();
    writer.limits.file_bytes = 200 * 1024;
    writer.connection = writer.file.connect_to_write(&writer.limits).unwrap();
    let (jobs, mut queue) = mpsc::channel(1);
    drop(jobs);
    let with_reply = |operation| {
        let (reply, outcome) = oneshot::channel();
        (Job { operation, reply }, outcome)
    };
    let value = |name: &str, bytes: usize| {
        let (key, value) = (Key::new([name]), vec![0; bytes].into());
        with_reply(Operation::Put(NewValue {
            key,
            value,
            expires: i64::MAX,
            expect: Expect::Anything,
        }))
    };
    let (before, mut first) = value("before", 10);
    let (huge, mut refused) = value("huge", 1024 * 1024);
    let (after, mut last) = value("after", 10);
    writer.commit(vec![before, huge, after], &mut queue);
    assert!(matches!(first.try_recv().unwrap(), Ok(Outcome::Put(Written::Yes(_)))));
    assert!(matches!(last.try_recv().unwrap(), Ok(Outcome::Put(Written::Yes(_)))));
    let Err(error) = refused.try_recv().unwrap() else { panic!("it does not fit") };
    let text = error.to_string();
    assert!(text.contains("put") && text.contains("store.db") && text.contains("full"), "{text}");
}
