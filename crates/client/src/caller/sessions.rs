//! The sessions of callers that listen: they get what belongs to no call.
//!
//! A question of the upstream server that belongs to no call goes to a session only if the relay
//! serves no other. Otherwise it is refused, because another caller could get it.

use std::collections::VecDeque;
use std::fmt;
use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use bowline_proto::request::{ClientProfile, EveryResource, Outbox, Outgoing, Parts};
use bowline_proto::sync::lock;
use bowline_transport::connect::QuestionAnswer;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use tokio::sync::broadcast;

use super::ask;

/// The sessions of callers that listen now.
#[derive(Debug, Default)]
pub(crate) struct CallerSessions {
    open: Mutex<Vec<CallerSession>>,
    /// Whether the relay serves one session and no other caller.
    is_for_one: AtomicBool,
    /// The least severe level that the upstream server was asked for.
    level: Mutex<Option<LoggingLevel>>,
    /// The web pages that callers were sent to, by the names that the server gave them.
    pages: Mutex<VecDeque<(String, Outbox)>>,
    /// The names of pages that users have finished with.
    completed: OnceLock<broadcast::Sender<Arc<str>>>,
    asked: QuestionHook,
}

/// Called with each question of the upstream server.
#[derive(Default)]
struct QuestionHook(OnceLock<Box<dyn Fn() + Send + Sync>>);

impl fmt::Debug for QuestionHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QuestionHook")
    }
}

/// The most pages whose callers are remembered; of more, the newest.
const PAGES: usize = 256;

/// A session of a caller. All calls of a session share the allocation of the profile, so its address
/// identifies the session.
#[derive(Clone, Debug)]
struct CallerSession {
    client: Arc<ClientProfile>,
    /// Of the call that listens on behalf of the session.
    outbox: Outbox,
    /// Tells that call apart from others that listen for the session.
    name: Arc<()>,
}

impl CallerSessions {
    /// Adds the session on whose behalf a call listens. Dropping the guard removes it. Callers
    /// without a session get only what belongs to their calls (LOG-20).
    pub(crate) fn open(sessions: &Arc<Self>, parts: &Parts) -> Option<impl Drop + use<>> {
        parts.extensions.get::<EveryResource>()?;
        let name = Arc::new(());
        let (client, outbox) = (parts.client.clone(), parts.outbox.clone());
        let mut open = sessions.lock();
        // A call that listens anew replaces the earlier one.
        open.retain(|session| !Arc::ptr_eq(&session.client, &client));
        open.push(CallerSession { client, outbox, name: name.clone() });
        drop(open);
        Some(SessionGuard { sessions: sessions.clone(), name })
    }

    /// Notes that the relay serves one session and no other caller.
    pub(crate) fn serve_one(&self) {
        self.is_for_one.store(true, Ordering::Relaxed);
    }

    /// Whether the relay serves one session and no other caller.
    pub(crate) fn is_for_one(&self) -> bool {
        self.is_for_one.load(Ordering::Relaxed)
    }

    /// Sets the function that is called with each question. The first one stays.
    pub(crate) fn on_question(&self, hook: impl Fn() + Send + Sync + 'static) {
        // Fails if there is one already.
        let _ = self.asked.0.set(Box::new(hook));
    }

    /// Notes that the upstream server asks.
    pub(crate) fn note_question(&self) {
        if let Some(hook) = self.asked.0.get() {
            hook();
        }
    }

    /// Puts a question that belongs to no call to the only session, or refuses it.
    pub(crate) fn ask(&self, question: InputRequest) -> QuestionAnswer {
        self.note_question();
        let only = match &self.lock()[..] {
            [session] if self.is_for_one() => Some(session.clone()),
            _ => None,
        };
        match only {
            Some(session) => Box::pin(ask(session.outbox, session.client, question)),
            None => {
                let message = "the question belongs to no call of one client; ask it while you \
                               serve a call, and on the stream of that call";
                Box::pin(ready(Err(ErrorObject::internal(message))))
            }
        }
    }

    /// Passes a log message that belongs to no call to all sessions. Each gets only the levels that
    /// it asked for.
    pub(crate) fn log(&self, message: &LogMessageParams) {
        let sessions = self.lock().clone();
        for session in sessions {
            // Log messages may be lost if the caller is slow.
            let _ = session.outbox.emit(Outgoing::Log(message.clone()));
        }
    }

    /// Notes that a caller wants this level. `None` if the server was asked for it already.
    pub(crate) fn lower_level(&self, level: LoggingLevel) -> Option<AskedLevel<'_>> {
        let mut asked = lock(&self.level);
        if asked.is_some_and(|asked| asked <= level) {
            return None;
        }
        let before = asked.replace(level);
        Some(AskedLevel { sessions: self, level, before, is_accepted: false })
    }

    /// Remembers which caller was sent to a page.
    pub(crate) fn opened_page(&self, name: &str, outbox: &Outbox) {
        let mut pages = lock(&self.pages);
        if pages.len() >= PAGES {
            pages.pop_front();
        }
        pages.push_back((name.to_owned(), outbox.clone()));
    }

    /// The names of pages that users have finished with from now on.
    pub(crate) fn completions(&self) -> broadcast::Receiver<Arc<str>> {
        self.completed.get_or_init(|| broadcast::channel(PAGES).0).subscribe()
    }

    /// Passes on that the user has finished with a page.
    pub(crate) fn completed_page(&self, name: &str) {
        let mut pages = lock(&self.pages);
        let place = pages.iter().position(|(known, _)| known == name);
        let page = place.and_then(|place| pages.remove(place));
        drop(pages);
        if let Some((name, outbox)) = page {
            // If there is no room, the caller has to find out by itself.
            let _ = outbox.emit(Outgoing::ElicitationComplete(name));
        }
        if let Some(completed) = self.completed.get() {
            // Fails if no call waits.
            let _ = completed.send(name.into());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CallerSession>> {
        lock(&self.open)
    }
}

/// A level that the upstream server is asked for. Dropping it says that the server did not accept it,
/// so that it is asked again.
pub(crate) struct AskedLevel<'s> {
    sessions: &'s CallerSessions,
    level: LoggingLevel,
    before: Option<LoggingLevel>,
    is_accepted: bool,
}

impl AskedLevel<'_> {
    /// The server accepted it.
    pub(crate) fn accept(mut self) {
        self.is_accepted = true;
    }
}

impl Drop for AskedLevel<'_> {
    fn drop(&mut self) {
        let mut asked = lock(&self.sessions.level);
        if !self.is_accepted && *asked == Some(self.level) {
            *asked = self.before;
        }
    }
}

/// Keeps a session in [`CallerSessions`].
struct SessionGuard {
    sessions: Arc<CallerSessions>,
    name: Arc<()>,
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.lock().retain(|entry| !Arc::ptr_eq(&entry.name, &self.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_counts_from_the_moment_when_the_server_has_accepted_it() {
        use LoggingLevel::{Debug, Error, Info};
        let sessions = CallerSessions::default();
        sessions.lower_level(Error).unwrap().accept();
        drop(sessions.lower_level(Info).unwrap());
        let info = sessions.lower_level(Info).unwrap();
        assert!(sessions.lower_level(Info).is_none(), "the server is being asked");
        sessions.lower_level(Debug).unwrap().accept();
        // The server sends more anyway.
        drop(info);
        assert!(sessions.lower_level(Info).is_none());
    }
}
