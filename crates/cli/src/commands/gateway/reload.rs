//! Loads the file of a gateway again after it has changed.
//!
//! The user named the file on the command line, as it was then. A change may come from a stranger, as
//! with `git checkout` in a project. So a command or URL that is new needs consent, unless only the
//! user can have written it: the file is in the user's folder of configurations, and others cannot
//! write it.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use bowline_gateway::config::{ConfigError, ConfigFile, ConfigVariables, Dialect, ServerEntry};
use bowline_gateway::{Gateway, Reloaded};

use crate::consent::{self, Agreed};
use crate::discover::Folders;
use crate::message_size::MessageArgs;

/// Reads the file of a gateway. The size of the option counts more than that of the file.
pub(super) fn read(path: &Path, message: MessageArgs) -> Result<ConfigFile, ConfigError> {
    let mut file = ConfigFile::read(path, Dialect::Bowline)?;
    file.gateway.max_message_mib.take_if(|_| message.bytes().is_some());
    Ok(file)
}

/// What a reload may start.
pub(super) struct Reloading {
    pub(super) path: PathBuf,
    pub(super) variables: ConfigVariables,
    pub(super) consent: Consent,
    /// The user whose file it was at the start.
    pub(super) owner: Option<u32>,
    /// The longest message, if an option sets it.
    pub(super) message: MessageArgs,
}

/// Whether the user agrees to commands and URLs that a reload brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// To all of them: `--yes`.
    Given,
    /// The user is asked at the terminal.
    Asked,
    /// The user cannot be asked.
    Impossible,
}

impl Reloading {
    /// Loads the file again.
    ///
    /// # Errors
    ///
    /// If the file is wrong, or may have been written by another user.
    pub(super) async fn load(&self, gateway: &Gateway) -> Result<Reloaded, ConfigError> {
        if let Some(problem) = self.distrust() {
            return Err(problem);
        }
        let file = read(&self.path, self.message)?;
        let mut admitted = Vec::new();
        for entry in gateway.newcomers(&file) {
            if self.admits(&entry).await {
                admitted.push(entry);
            }
        }
        gateway.reload_admitting(&file, |entry| admitted.contains(entry))
    }

    /// Why the changed file is not read.
    fn distrust(&self) -> Option<ConfigError> {
        let metadata = std::fs::metadata(&self.path).ok()?;
        let owner = owner(&metadata);
        let is_foreign = owner != self.owner && owner != Some(ROOT);
        let advice = match is_foreign {
            true => "restart the gateway to use it",
            false => return writable_by_all(&self.path),
        };
        let problem = "the file belongs to another user than at the start";
        Some(ConfigError::new(&self.path, "", problem).with_advice(advice))
    }

    async fn admits(&self, entry: &ServerEntry) -> bool {
        match self.consent {
            Consent::Given => true,
            _ if is_own(&self.path) => true,
            Consent::Asked => {
                let (entry, variables) = (entry.clone(), self.variables.clone());
                // On a thread of its own: the gateway serves on while the user reads.
                let asking = tokio::task::spawn_blocking(move || {
                    consent::ask(&entry, &variables, Agreed::No).is_ok()
                });
                asking.await.unwrap_or(false)
            }
            Consent::Impossible => false,
        }
    }
}

/// The id of the superuser, who can write any file.
const ROOT: u32 = 0;

/// What is wrong with a file that all users can write.
pub(super) fn writable_by_all(path: &Path) -> Option<ConfigError> {
    let metadata = std::fs::metadata(path).ok()?;
    (mode(&metadata) & 0o002 != 0).then(|| {
        let problem = "all users can write the file, and so run commands as you";
        ConfigError::new(path, "", problem).with_advice("`chmod o-w` it")
    })
}

/// Whether only the user can have written a file: it is in the user's folder of configurations,
/// belongs to the owner of that folder, and is not writable by a group.
fn is_own(path: &Path) -> bool {
    let folder = Folders::of_process().config.filter(|folder| folder.is_absolute());
    let Some(folder) = folder else { return false };
    let (Ok(path), Ok(folder)) = (path.canonicalize(), folder.canonicalize()) else { return false };
    let (Ok(file), Ok(owned)) = (path.metadata(), folder.metadata()) else { return false };
    path.starts_with(&folder) && owner(&file) == owner(&owned) && mode(&file) & 0o022 == 0
}

/// The user whose file it is. `None` where the operating system does not tell.
pub(super) fn owner(metadata: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::uid(metadata));
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// Who may write a file, as bits.
fn mode(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}
