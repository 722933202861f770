//! Holds back what is written to standard error while a question is open there: other lines would push
//! away what the question is about.

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{TerminalText, text};

/// How much is held back, in bytes. What comes after that is lost.
const MOST: usize = 1 << 20;

/// What is held back; `None` while no question is open.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

#[derive(Default)]
struct Held {
    text: String,
    lost: usize,
}

/// Standard error while it has a question. What is held back is written when this is dropped.
pub(crate) struct Quiet(());

/// Holds back what others write, until the value is dropped.
pub(crate) fn hold_back() -> Quiet {
    held().get_or_insert_default();
    Quiet(())
}

impl Quiet {
    /// Shows what the question is about.
    #[expect(clippy::unused_self, reason = "only the one that asks may write")]
    pub(crate) fn show(&self, shown: &TerminalText) {
        write(shown.as_str());
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let mut held = held();
        let Some(Held { text: waiting, lost }) = held.take() else { return };
        if !waiting.is_empty() {
            write(waiting.trim_end_matches('\n'));
        }
        if lost > 0 {
            write(text!("{lost} lines were lost while the question was open").as_str());
        }
    }
}

/// Writes a line to standard error, now or after the question.
pub(super) fn line(line: &str) {
    let mut held = held();
    match &mut *held {
        // The lock is held meanwhile, so that no question begins in the middle of it.
        None => write(line),
        Some(held) if held.text.len() + line.len() < MOST => {
            held.text += line;
            held.text.push('\n');
        }
        Some(held) => held.lost += 1,
    }
}

fn write(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}
