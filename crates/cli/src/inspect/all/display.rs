//! What is going on while servers are looked at. Only terminals show it.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::print::clean;

/// A line for all servers together, and one for each that is looked at. Everything disappears when
/// the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Display(Arc<Lines>);

#[derive(Debug)]
struct Lines {
    all: MultiProgress,
    total: ProgressBar,
}

/// The line of one server; it disappears when this is dropped.
#[derive(Debug)]
pub(super) struct Line {
    display: Display,
    bar: ProgressBar,
}

const TICK: Duration = Duration::from_millis(100);

impl Display {
    pub(super) fn new(count: usize) -> Self {
        let all = MultiProgress::new();
        let total = ProgressBar::new(count.try_into().unwrap_or(u64::MAX));
        let total = all.add(total.with_style(style("{pos} of {len} servers")));
        total.tick();
        Self(Arc::new(Lines { all, total }))
    }

    pub(super) fn line(&self, name: &str) -> Line {
        let bar = ProgressBar::new_spinner().with_style(style("{spinner} {elapsed:>3} {wide_msg}"));
        let bar = self.0.all.insert_before(&self.0.total, bar);
        bar.set_message(clean(name).replace('\n', " "));
        bar.enable_steady_tick(TICK);
        Line { display: self.clone(), bar }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.display.0.all.remove(&self.bar);
        self.display.0.total.inc(1);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.total.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
