//! The steps of the drive, one row each: in which session it belongs, and what it does.

mod features;
mod legacy;
mod modern;
mod rough;
mod skills;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bowline_types::revision::Revision;

use super::probe::Probe;
use crate::past::Carrier;

/// What a session of the check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// What a client does every day.
    Usual,
    /// What servers have to refuse.
    Rough,
    /// A handshake for a version that the server cannot know.
    Strange,
}

impl SessionKind {
    /// All, in the order of a check.
    pub const ALL: [Self; 3] = [Self::Usual, Self::Rough, Self::Strange];
}

impl fmt::Display for SessionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usual => "opens a session",
            Self::Rough => "opens a session for what servers refuse",
            Self::Strange => "begins with a strange handshake",
        })
    }
}

type Running<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A step of the drive.
pub struct Step {
    /// What it does.
    pub name: &'static str,
    /// The session that it belongs to.
    pub session: SessionKind,
    carrier: Option<Carrier>,
    exists: fn(Revision) -> bool,
    /// Whether a process may end instead of an answer. Such a step is the last one of its session.
    pub(super) may_end_process: bool,
    pub(super) run: for<'a> fn(&'a mut Probe) -> Running<'a>,
}

impl Step {
    /// Whether it belongs to a session.
    pub fn belongs(&self, session: SessionKind, revision: Revision, carrier: Carrier) -> bool {
        self.session == session
            && self.carrier.is_none_or(|own| own == carrier)
            && (self.exists)(revision)
    }

    const fn over(mut self, carrier: Carrier) -> Self {
        self.carrier = Some(carrier);
        self
    }

    const fn may_end_process(mut self) -> Self {
        self.may_end_process = true;
        self
    }

    const fn if_revision(mut self, exists: fn(Revision) -> bool) -> Self {
        self.exists = exists;
        self
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("name", &self.name).finish_non_exhaustive()
    }
}

const fn step(
    name: &'static str,
    session: SessionKind,
    run: for<'a> fn(&'a mut Probe) -> Running<'a>,
) -> Step {
    Step { name, session, carrier: None, exists: |_| true, may_end_process: false, run }
}

const fn usual(name: &'static str, run: for<'a> fn(&'a mut Probe) -> Running<'a>) -> Step {
    step(name, SessionKind::Usual, run)
}

const fn rough(name: &'static str, run: for<'a> fn(&'a mut Probe) -> Running<'a>) -> Step {
    step(name, SessionKind::Rough, run)
}

const fn strange(name: &'static str, run: for<'a> fn(&'a mut Probe) -> Running<'a>) -> Step {
    step(name, SessionKind::Strange, run)
}

/// All steps, in order.
///
/// A step sends what clients must not send only where a rule is about what servers do then. On stdio
/// every line is a valid message (STDIO-5): a process cannot refuse anything else but by its end.
pub static STEPS: &[Step] = &[
    usual("pings", |p| Box::pin(legacy::ping(p))).if_revision(Revision::has_handshake),
    usual("lists everything, page by page", |p| Box::pin(features::lists(p))),
    usual("asks for lists that are not declared", |p| Box::pin(features::undeclared(p))),
    usual("reads resources", |p| Box::pin(features::reads(p))),
    usual("gets prompts", |p| Box::pin(features::prompts(p))),
    usual("completes arguments", |p| Box::pin(features::completes(p))),
    usual("sets the log level", |p| Box::pin(legacy::log_level(p)))
        .if_revision(Revision::has_handshake),
    usual("subscribes to a resource", |p| Box::pin(legacy::subscribes(p)))
        .if_revision(Revision::has_handshake),
    usual("calls tools that change nothing", |p| Box::pin(features::calls(p))),
    usual("calls a tool as a task", |p| Box::pin(legacy::tasks(p)))
        .if_revision(Revision::has_core_tasks),
    usual("opens a stream of changes", |p| Box::pin(modern::listens(p)))
        .if_revision(Revision::has_listen)
        .over(Carrier::Stdio),
    usual("asks about tasks of the extension", |p| Box::pin(modern::tasks(p)))
        .if_revision(Revision::has_extensions),
    usual("reads skills", |p| Box::pin(skills::reads(p))).if_revision(Revision::has_extensions),
    usual("cancels too late", |p| Box::pin(features::cancels_late(p))),
    usual("sends a batch", |p| Box::pin(legacy::batch(p))).if_revision(Revision::has_batches),
    usual("opens the GET stream", |p| Box::pin(legacy::get(p)))
        .if_revision(Revision::has_sessions)
        .over(Carrier::Http),
    usual("resumes a stream", |p| Box::pin(legacy::resumes(p)))
        .if_revision(Revision::has_sessions)
        .over(Carrier::Http),
    usual("lists again", |p| Box::pin(features::lists(p))),
    usual("ends the session", |p| Box::pin(legacy::ends(p)))
        .if_revision(Revision::has_sessions)
        .over(Carrier::Http),
    rough("sends an unknown method", |p| Box::pin(rough::unknown_method(p))),
    rough("sends an unknown notification", |p| Box::pin(rough::unknown_notification(p))),
    rough("names things that do not exist", |p| Box::pin(rough::unknown_names(p))),
    rough("leaves params out", |p| Box::pin(rough::missing_params(p))),
    rough("asks for removed methods", |p| Box::pin(modern::removed(p)))
        .if_revision(Revision::has_listen),
    rough("leaves `_meta` out", |p| Box::pin(modern::without_meta(p)))
        .if_revision(Revision::has_listen),
    rough("asks for a version that does not exist", |p| Box::pin(modern::version(p)))
        .if_revision(Revision::has_listen),
    rough("sends wrong headers", |p| Box::pin(modern::headers(p)))
        .if_revision(Revision::has_mirrored_headers)
        .over(Carrier::Http),
    rough("names a wrong version in the header", |p| Box::pin(legacy::version_header(p)))
        .if_revision(|it| it.has_sessions() && it.has_version_header())
        .over(Carrier::Http),
    rough("leaves the session out", |p| Box::pin(legacy::no_session(p)))
        .if_revision(Revision::has_sessions)
        .over(Carrier::Http),
    rough("comes from a foreign page", |p| Box::pin(rough::origin(p))).over(Carrier::Http),
    rough("sends an array", |p| Box::pin(rough::array(p)))
        .if_revision(Revision::has_version_header)
        .over(Carrier::Http),
    rough("sends JSON that is no request", |p| Box::pin(rough::no_request(p))).over(Carrier::Http),
    rough("sends text that is no JSON", |p| Box::pin(rough::no_json(p))).over(Carrier::Http),
    strange("asks for a version of 1999", |p| Box::pin(legacy::old_version(p)))
        .if_revision(Revision::has_handshake)
        .may_end_process(),
];
