//! A file that makes a backend in memory survive the kill of its process.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use bowline_store::backend::{Backend, Expect, Key, NewItem};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

pub(crate) const LONG: Duration = Duration::from_secs(3600);

/// What was written, in order: a kind, then a key and a value with their lengths.
pub(crate) struct Journal(File);

impl Journal {
    pub(crate) fn create(path: &Path) -> Self {
        Self(File::options().create(true).append(true).open(path).unwrap())
    }

    /// In one write, so that a killed process leaves all of it or nothing.
    pub(crate) fn note(&self, kind: u8, key: &Key, value: &Bytes) {
        let mut entry = BytesMut::new();
        entry.put_u8(kind);
        for part in [key.as_str().as_bytes(), value] {
            entry.put_u32(part.len() as u32);
            entry.put_slice(part);
        }
        (&self.0).write_all(&entry).unwrap();
    }
}

/// Writes what a journal has to another backend. Items lose `torn` bytes of their end.
pub(crate) async fn replay(journal: &Path, torn: usize, to: &dyn Backend) {
    let mut entries = Bytes::from(std::fs::read(journal).unwrap_or_default());
    while entries.has_remaining() {
        let kind = entries.get_u8();
        let mut part = || {
            let length = entries.get_u32() as usize;
            entries.split_to(length)
        };
        let (key, value) = (part(), part());
        let key = Key::new([std::str::from_utf8(&key).unwrap()]);
        if kind == b'v' {
            to.put(&key, value, LONG, Expect::Anything).await.unwrap();
        } else {
            let value = value.slice(..value.len().saturating_sub(torn));
            to.append(&key, NewItem::new(value, LONG)).await.unwrap();
        }
    }
}
