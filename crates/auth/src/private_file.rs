//! Files of one user: other users cannot read them, and a reader never sees half of one.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use ring::rand::{SecureRandom as _, SystemRandom};

/// Creates a folder that only its owner has access to, and the folders above it. A folder that is there
/// stays as it is.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file that is only there to be locked, and creates it if it is absent.
///
/// # Errors
///
/// If it cannot be opened.
pub fn open_guard(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

/// Waits until no other process has locked this file, and locks it. The lock is free again when the file
/// is closed, also if the process is killed.
///
/// # Errors
///
/// If the file cannot be opened or locked.
pub fn lock(path: &Path) -> io::Result<File> {
    let guard = open_guard(path)?;
    guard.lock()?;
    Ok(guard)
}

/// Replaces a file in one step: the content is written beside it, to a file with a random name that
/// ends in `.new`, which then takes its name. A process that is killed meanwhile leaves that file.
///
/// # Errors
///
/// If the file cannot be written. Then the old one stays.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut random = [0; 8];
    let failed = |_| io::Error::other("the system gives no randomness");
    SystemRandom::new().fill(&mut random).map_err(failed)?;
    let beside = path.with_extension(format!("{:x}.new", u64::from_le_bytes(random)));
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&beside)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&beside, path)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// A file that only its owner can read and write.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for content in ["one", "2"] {
            replace(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stays_and_the_new_one_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        replace(&path, b"text").unwrap_err();
        assert_eq!(names(folder.path()), ["taken"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_has_access_even_if_others_could_read_the_old_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let own = folder.path().join("a/b");
        create_folder(&own).unwrap();
        let (file, guard) = (own.join("file"), own.join("guard"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        replace(&file, b"new").unwrap();
        drop(lock(&guard).unwrap());
        assert_eq!((mode(&own), mode(&file), mode(&guard)), (0o700, 0o600, 0o600));
    }
}
