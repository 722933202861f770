//! Loads the file of a gateway again after it has changed.
//!
//! The user named the file on the command line, as it was then. A change may come from a stranger, as
//! with `git checkout` in a project. So a command or URL that is new needs consent, and so do rules that
//! expose more than before, unless only the user can have written them: the file is in the user's folder
//! of configurations, and others cannot write it.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use bowline_gateway::config::{ConfigError, ConfigFile, ConfigVariables, Dialect, ServerEntry};
use bowline_gateway::{Gateway, Reloaded};

use crate::consent::{self, Agreed};
use crate::message_size::MessageArgs;
use bowline_ops::folders;

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
            if self.admits(&entry, gateway.loosened(&file, &entry)).await {
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

    async fn admits(&self, entry: &ServerEntry, loosened: Vec<&'static str>) -> bool {
        match self.consent {
            Consent::Given => true,
            _ if is_own(&self.path, folders::config()) => true,
            Consent::Asked => {
                let (entry, variables) = (entry.clone(), self.variables.clone());
                // On a thread of its own: the gateway serves on while the user reads.
                let asking = tokio::task::spawn_blocking(move || {
                    consent::ask(&entry, &variables, &loosened, Agreed::No).is_ok()
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

/// Whether only the user can have written a file: it is in this folder of configurations of the user,
/// belongs to the owner of that folder, and is not writable by a group.
fn is_own(path: &Path, folder: Option<PathBuf>) -> bool {
    let Some(folder) = folder.filter(|folder| folder.is_absolute()) else { return false };
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    /// A file with this mode.
    fn file(folder: &Path, mode: u32) -> PathBuf {
        let path = folder.join("gateway.json");
        fs::write(&path, "{}").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_file_is_the_users_own_only_in_the_users_folder_and_if_no_group_can_write_it() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let is_own = |path: &Path| is_own(path, Some(folder.path().to_owned()));
        assert!(is_own(&file(folder.path(), 0o644)));
        for mode in [0o664, 0o646, 0o666] {
            assert!(!is_own(&file(folder.path(), mode)), "{mode:o}");
        }
        let elsewhere = file(other.path(), 0o644);
        assert!(!is_own(&elsewhere));
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        assert!(!is_own(&link), "the file itself is elsewhere");
        assert!(!super::is_own(&elsewhere, Some(PathBuf::from("relative"))));
        assert!(!super::is_own(&elsewhere, None));
    }

    #[test]
    fn a_changed_file_of_another_user_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), 0o644);
        let current = owner(&fs::metadata(&path).unwrap());
        let reloading = |owner| Reloading {
            path: path.clone(),
            variables: ConfigVariables::none(),
            consent: Consent::Given,
            owner,
            message: MessageArgs::default(),
        };
        assert_eq!(reloading(current).distrust(), None);
        // Only root can give a file away; for others, the earlier owner is another one.
        let before = match chown(&path, Some(54_321), None) {
            Ok(()) => current,
            Err(_) => current.map(|id| id + 1),
        };
        let problem = reloading(before).distrust().unwrap().to_string();
        assert!(problem.contains("belongs to another user than at the start"), "{problem}");
        assert!(problem.ends_with("restart the gateway to use it"), "{problem}");
    }
}
