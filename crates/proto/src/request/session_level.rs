//! The log level of a session, which its client may change while the session lasts.

use std::fmt;
use std::sync::{Mutex, MutexGuard};

use bowline_types::deprecated::logging::LoggingLevel;

use crate::sync::lock;

/// The log level that the client of a session has set with `logging/setLevel`.
///
/// The connection of the session sets it. A relay listens to it, to ask its own server for the same
/// messages. A clone has the level, and no listeners.
#[derive(Default)]
pub struct SessionLevel(Mutex<LevelState>);

#[derive(Default)]
struct LevelState {
    level: Option<LoggingLevel>,
    listeners: Vec<Listener>,
}

/// Hears of each level; gives whether it wants to hear of more.
type Listener = Box<dyn Fn(LoggingLevel) -> bool + Send>;

impl SessionLevel {
    /// The level; `None` if the client has set none, or has no session.
    pub fn level(&self) -> Option<LoggingLevel> {
        self.lock().level
    }

    /// Calls a function with each level from now on, until it returns `false`. It must not block.
    pub fn listen(&self, listener: impl Fn(LoggingLevel) -> bool + Send + 'static) {
        self.lock().listeners.push(Box::new(listener));
    }

    /// Sets the level.
    pub(crate) fn set(&self, level: LoggingLevel) {
        let mut state = self.lock();
        state.level = Some(level);
        state.listeners.retain(|listener| listener(level));
    }

    fn lock(&self) -> MutexGuard<'_, LevelState> {
        lock(&self.0)
    }
}

impl Clone for SessionLevel {
    fn clone(&self) -> Self {
        Self(Mutex::new(LevelState { level: self.level(), listeners: Vec::new() }))
    }
}

impl fmt::Debug for SessionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionLevel").field(&self.level()).finish()
    }
}
