//! Progress at a terminal: a bar, or a spinner with a message. Nothing of it stays.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::TerminalText;

/// A line that shows progress; it is not shown where standard error is no terminal.
#[derive(Clone, Debug)]
pub(crate) struct Bar(ProgressBar);

const TICK: Duration = Duration::from_millis(100);

impl Bar {
    /// A bar that ends at this count, or has no end. `template` is one of `indicatif`.
    pub(crate) fn new(template: &'static str, end: Option<u64>) -> Self {
        let bar = Self(end.map_or_else(ProgressBar::no_length, ProgressBar::new));
        bar.restyle(template);
        bar
    }

    /// A bar that is never shown.
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    pub(crate) fn restyle(&self, template: &'static str) {
        let style = ProgressStyle::with_template(template);
        self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    /// The bar itself, and how far it is filled, in thousandths.
    pub(crate) fn fill(&self, template: &'static str, thousandths: u64) {
        self.restyle(template);
        self.0.set_length(1000);
        self.0.set_position(thousandths);
    }

    pub(crate) fn message(&self, message: impl Into<TerminalText>) {
        self.0.set_message(message.into().as_str().to_owned());
    }

    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }

    pub(crate) fn draw(&self) {
        self.0.tick();
    }

    /// Moves its spinner from now on.
    pub(crate) fn spin(&self) {
        self.0.enable_steady_tick(TICK);
    }

    /// Hides it while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// Several lines that show progress together.
#[derive(Debug, Default)]
pub(crate) struct Bars(MultiProgress);

impl Bars {
    pub(crate) fn add(&self, bar: Bar) -> Bar {
        Bar(self.0.add(bar.0))
    }

    pub(crate) fn insert_before(&self, later: &Bar, bar: Bar) -> Bar {
        Bar(self.0.insert_before(&later.0, bar.0))
    }

    pub(crate) fn remove(&self, bar: &Bar) {
        self.0.remove(&bar.0);
    }
}
