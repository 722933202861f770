//! A catalogue of skills that can be read again.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;

use crate::catalogue::Catalogue;
use crate::error::SkillError;
use crate::folder;
use crate::limits::SkillLimits;

/// The skills of a server, read from a folder or compiled into the program. Cheap to clone; clones
/// share the same skills.
///
/// Everything is read and checked at once, and held in memory: a client gets the file whose digest
/// it was given, also if the folder changes meanwhile. After a change, call [`reload`](Self::reload).
///
/// A folder of skills looks like this. `refunds` has the URI `skill://acme/refunds/SKILL.md`:
///
/// ```text
/// skills
/// ├── git-workflow
/// │   ├── SKILL.md
/// │   └── references
/// │       └── branches.md
/// └── acme
///     └── refunds
///         └── SKILL.md
/// ```
#[derive(Clone)]
pub struct Skills {
    shared: Arc<Shared>,
    ttl: Duration,
}

struct Shared {
    source: Source,
    limits: SkillLimits,
    current: RwLock<Arc<Catalogue>>,
    listeners: Mutex<Vec<Listener>>,
}

enum Source {
    Folder(PathBuf),
    /// In the program; they never change.
    Fixed,
}

/// What a server does at each reload.
struct Listener {
    /// Looks at the new skills before they replace the old ones.
    check: Box<Check>,
    /// Is called afterwards, until it returns `false`.
    reloaded: Box<Reloaded>,
}

type Check = dyn Fn(&Catalogue) -> Result<(), SkillError> + Send + Sync;

/// Gets the old and the new skills.
type Reloaded = dyn Fn(&Catalogue, &Catalogue) -> bool + Send + Sync;

impl Skills {
    /// Reads the skills in a folder.
    ///
    /// Each folder in it with a `SKILL.md` is a skill, at any depth. Files whose names begin with a
    /// dot are left out. Links are refused. It reads files, so call it before the server serves.
    ///
    /// # Errors
    ///
    /// Names the file that cannot be served, the line, and the reason.
    pub fn dir(folder: impl AsRef<Path>) -> Result<Self, SkillError> {
        Self::dir_within(folder, SkillLimits::default())
    }

    /// Reads the skills in a folder, within limits of your own.
    ///
    /// # Errors
    ///
    /// Names the file that cannot be served, the line, and the reason.
    pub fn dir_within(folder: impl AsRef<Path>, limits: SkillLimits) -> Result<Self, SkillError> {
        let folder = folder.as_ref();
        let catalogue = read(folder, &limits)?;
        Ok(Self::of(Source::Folder(folder.to_owned()), limits, catalogue))
    }

    /// Skills that are part of the program: files by their paths below a folder of skills.
    ///
    /// ```
    /// use bowline_skills::Skills;
    ///
    /// let text = "---\nname: greet\ndescription: How to greet people here\n---\n\nSay moin.\n";
    /// let skills = Skills::files([("greet/SKILL.md", text)])?;
    /// # Ok::<(), bowline_skills::SkillError>(())
    /// ```
    ///
    /// With files of the crate, write `("greet/SKILL.md", include_str!("greet/SKILL.md"))`.
    ///
    /// # Errors
    ///
    /// Names the file that cannot be served, the line, and the reason.
    pub fn files<P, B>(files: impl IntoIterator<Item = (P, B)>) -> Result<Self, SkillError>
    where
        P: Into<String>,
        B: Into<Bytes>,
    {
        let files = files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect();
        let limits = SkillLimits::default();
        let catalogue = Catalogue::new(files, &limits)?;
        Ok(Self::of(Source::Fixed, limits, catalogue))
    }

    fn of(source: Source, limits: SkillLimits, catalogue: Catalogue) -> Self {
        let current = RwLock::new(Arc::new(catalogue));
        let shared = Shared { source, limits, current, listeners: Mutex::default() };
        Self { shared: Arc::new(shared), ttl: Duration::ZERO }
    }

    /// Sets how long clients may keep lists, entries and files (2026-07-28). By default they may
    /// not: they ask again each time. Nothing announces to them that a list of skills has changed.
    #[must_use]
    pub fn ttl(mut self, duration: Duration) -> Self {
        self.ttl = duration;
        self
    }

    /// How long clients may keep lists, entries and files.
    pub fn fresh_for(&self) -> Duration {
        self.ttl
    }

    /// The skills as of now.
    pub fn current(&self) -> Arc<Catalogue> {
        self.shared.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the folder again. From then on clients get the new skills, and clients that asked for
    /// it are notified. It reads files: in a server that serves, use `tokio::task::spawn_blocking`.
    ///
    /// # Errors
    ///
    /// As [`dir`](Self::dir), and if a server that offers the skills cannot send a file. Then clients
    /// still get the old skills.
    pub fn reload(&self) -> Result<(), SkillError> {
        let Source::Folder(folder) = &self.shared.source else { return Ok(()) };
        // Taken first, so that of two reloads the later one wins.
        let mut listeners = self.listeners();
        let new = Arc::new(read(folder, &self.shared.limits)?);
        listeners.iter().try_for_each(|listener| (listener.check)(&new))?;
        let mut current = self.shared.current.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, new.clone());
        drop(current);
        listeners.retain(|listener| (listener.reloaded)(&old, &new));
        Ok(())
    }

    /// Calls a function after each reload, with the old and the new skills, until it returns
    /// `false`. The function must not reload or register functions itself: it would wait for itself.
    pub fn on_reload(
        &self,
        listener: impl Fn(&Catalogue, &Catalogue) -> bool + Send + Sync + 'static,
    ) {
        self.on_checked_reload(|_| Ok(()), listener);
    }

    /// As [`on_reload`](Self::on_reload). Before it, `check` gets the new skills, and its error makes
    /// the reload fail: then clients still get the old skills.
    pub fn on_checked_reload(
        &self,
        check: impl Fn(&Catalogue) -> Result<(), SkillError> + Send + Sync + 'static,
        listener: impl Fn(&Catalogue, &Catalogue) -> bool + Send + Sync + 'static,
    ) {
        let listener = Listener { check: Box::new(check), reloaded: Box::new(listener) };
        self.listeners().push(listener);
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the skills in a folder.
fn read(folder: &Path, limits: &SkillLimits) -> Result<Catalogue, SkillError> {
    let files = folder::collect(folder, limits)?;
    let within = |error: SkillError| error.within(&folder.display().to_string());
    Catalogue::new(files, limits).map_err(within)
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uris: Vec<_> = self.current().skills().iter().map(|skill| skill.uri.clone()).collect();
        f.debug_tuple("Skills").field(&uris).finish()
    }
}
