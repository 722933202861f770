//! What is going on while servers are looked at. Only terminals show it.

use std::sync::Arc;

use crate::print::bar::{Bar, Bars};
use crate::print::line;

/// A line for all servers together, and one for each that is looked at. Everything disappears when
/// the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Display(Arc<Lines>);

#[derive(Debug)]
struct Lines {
    all: Bars,
    total: Bar,
}

/// The line of one server; it disappears when this is dropped.
#[derive(Debug)]
pub(super) struct Line {
    display: Display,
    bar: Bar,
}

impl Display {
    pub(super) fn new(count: usize) -> Self {
        let all = Bars::default();
        let end = count.try_into().unwrap_or(u64::MAX);
        let total = all.add(Bar::new("{pos} of {len} servers", Some(end)));
        total.draw();
        Self(Arc::new(Lines { all, total }))
    }

    pub(super) fn line(&self, name: &str) -> Line {
        let bar = Bar::new("{spinner} {elapsed:>3} {wide_msg}", None);
        let bar = self.0.all.insert_before(&self.0.total, bar);
        bar.message(line(name));
        bar.spin();
        Line { display: self.clone(), bar }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.clear();
        self.display.0.all.remove(&self.bar);
        self.display.0.total.advance();
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.total.clear();
    }
}
