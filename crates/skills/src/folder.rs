//! Collects the files of skills from a folder.
//!
//! Nothing outside of the folder is ever read: links are refused, not followed. Names that begin
//! with a dot are left out, and so are files that belong to no skill.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::path::Path;

use bytes::Bytes;

use crate::error::SkillError;
use crate::limits::SkillLimits;
use crate::uri::SKILL_MD;

/// Files by their paths below the folder, with `/` between the parts.
pub(crate) type Files = Vec<(String, Bytes)>;

/// Reads all files of all skills below a folder.
///
/// # Errors
///
/// Names the file that cannot be served, and why.
pub(crate) fn collect(folder: &Path, limits: &SkillLimits) -> Result<Files, SkillError> {
    let mut walk = Walk { limits, files: Vec::new(), left: limits.bytes_in_all };
    let visited = walk.visit(folder, "", Place::Outside);
    visited.map_err(|error| error.within(&folder.display().to_string()))?;
    Ok(walk.files)
}

/// Whether a folder belongs to a skill.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Outside,
    InSkill,
}

struct Walk<'a> {
    limits: &'a SkillLimits,
    files: Files,
    /// Bytes that may still be read.
    left: u64,
}

impl Walk<'_> {
    /// Reads a folder that has this path below the folder of all skills.
    fn visit(&mut self, folder: &Path, path: &str, place: Place) -> Result<(), SkillError> {
        let unreadable =
            |error: io::Error| SkillError::new(path, format!("cannot be read: {error}"));
        if path.split('/').count() > self.limits.depth {
            let problem = format!("folders are nested deeper than {}", self.limits.depth);
            return Err(SkillError::new(path, problem));
        }
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        let mut entries: Vec<DirEntry> = entries.collect::<Result<_, _>>().map_err(unreadable)?;
        entries.sort_by_key(DirEntry::file_name);
        let has_manifest = entries.iter().any(|entry| entry.file_name() == SKILL_MD);
        let place = if has_manifest { Place::InSkill } else { place };
        for entry in entries {
            self.take(&entry, path, place)?;
        }
        Ok(())
    }

    /// Reads one file or folder.
    fn take(&mut self, entry: &DirEntry, folder: &str, place: Place) -> Result<(), SkillError> {
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        if shown.starts_with('.') {
            return Ok(());
        }
        let path = if folder.is_empty() { shown.to_string() } else { format!("{folder}/{shown}") };
        let fail = |problem: &str| Err(SkillError::new(&path, problem));
        if name.to_str().is_none() {
            return fail("the name is not UTF-8");
        }
        // Does not follow links.
        let kind = entry.file_type().map_err(|error| SkillError::new(&path, error.to_string()))?;
        if kind.is_symlink() {
            fail("links are not followed; copy the file, or remove the link")
        } else if kind.is_dir() {
            self.visit(&entry.path(), &path, place)
        } else if !kind.is_file() {
            fail("neither a file nor a folder")
        } else if place == Place::Outside && shown.eq_ignore_ascii_case(SKILL_MD) {
            fail("the file must be called `SKILL.md`, in capital letters")
        } else if place == Place::Outside {
            Ok(())
        } else {
            let bytes = self.read(&entry.path()).map_err(|it| SkillError::new(&path, it))?;
            self.files.push((path, bytes));
            Ok(())
        }
    }

    /// Reads a file, as far as the limits allow.
    fn read(&mut self, file: &Path) -> Result<Bytes, String> {
        let most = self.left.min(self.limits.bytes);
        let mut bytes = Vec::new();
        let opened = File::open(file).map(|file| file.take(most.saturating_add(1)));
        let read = opened.and_then(|mut file| file.read_to_end(&mut bytes));
        let read = read.map_err(|error| format!("cannot be read: {error}"))? as u64;
        if read > self.limits.bytes {
            return Err(format!("longer than {} bytes", self.limits.bytes));
        }
        if read > self.left {
            return Err(format!("all skills together exceed {} bytes", self.limits.bytes_in_all));
        }
        self.left -= read;
        Ok(bytes.into())
    }
}
