//! Whether an entry is valid, and whether a file is the one that an entry describes.
//!
//! A client checks the entry before it reads any file, and each file before it passes it on:
//!
//! ```
//! use bowline_skills::{SkillLimits, Skills};
//!
//! let text = "---\nname: greet\ndescription: How to greet people\n---\nSay moin.\n";
//! let catalogue = Skills::files([("greet/SKILL.md", text)])?.current();
//!
//! let skill = catalogue.skill("skill://greet/SKILL.md").unwrap();
//! skill.check(&SkillLimits::default())?;
//! skill.verify("skill://greet/SKILL.md", text.as_bytes())?;
//!
//! let changed = text.replace("moin", "hello");
//! let error = skill.verify("skill://greet/SKILL.md", changed.as_bytes()).unwrap_err();
//! assert!(error.is_size());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::fmt;

use crate::digest::Digest;
use crate::entry::{Skill, SkillFiles};
use crate::frontmatter::Frontmatter;
use crate::limits::SkillLimits;
use crate::uri;

/// The error for a file that differs from the entry of its skill, or for an invalid entry. The content
/// must not be used.
///
/// The skill may just have changed: get its entry again, and ask the user again if they approved
/// the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillMismatch {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Entry,
    Unlisted,
    Size,
    Digest,
    Frontmatter,
}

impl SkillMismatch {
    fn new(kind: Kind, text: String) -> Self {
        Self { kind, text }
    }

    /// Whether the entry itself breaks a rule, is larger than the limits, or has no digests.
    pub fn is_entry(&self) -> bool {
        self.kind == Kind::Entry
    }

    /// Whether the file is not one of the skill.
    pub fn is_unlisted(&self) -> bool {
        self.kind == Kind::Unlisted
    }

    /// Whether the file has another size.
    pub fn is_size(&self) -> bool {
        self.kind == Kind::Size
    }

    /// Whether the file has another digest.
    pub fn is_digest(&self) -> bool {
        self.kind == Kind::Digest
    }

    /// Whether the frontmatter of `SKILL.md` has other fields.
    pub fn is_frontmatter(&self) -> bool {
        self.kind == Kind::Frontmatter
    }
}

impl fmt::Display for SkillMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for SkillMismatch {}

impl Skill {
    /// Checks the entry, before any file is read.
    ///
    /// # Errors
    ///
    /// If the URI does not end in the name of the skill and `SKILL.md`; if the files are not all
    /// listed, each once, in the directory of the skill; or if they exceed the limits.
    pub fn check(&self, limits: &SkillLimits) -> Result<(), SkillMismatch> {
        let fail = |problem: String| {
            let text = format!("the entry of {} {problem}", self.uri);
            Err(SkillMismatch::new(Kind::Entry, text))
        };
        if let SkillFiles::Unreadable(reason) = &self.files {
            return fail(format!("cannot be read: {reason}"));
        }
        if let Err(error) = self.frontmatter.check() {
            return fail(format!("has a wrong frontmatter: {error}"));
        }
        let name = self.name();
        let Some(root) = uri::root(&self.uri).filter(|_| uri::name(&self.uri) == Some(name)) else {
            return fail(format!("has a URI that does not end in `/{name}/{}`", uri::SKILL_MD));
        };
        if !uri::is_skill_name(name) {
            return fail(format!("has the name `{name}`, which breaks the rules for names"));
        }
        if self.files == SkillFiles::Dynamic {
            return fail("has no digests, because its server makes it when it is read".into());
        }
        let files = self.files.listed();
        let (count, most) = (files.len(), limits.files);
        if count > most {
            return fail(format!("lists {count} files; {most} are allowed"));
        }
        let (size, most) =
            (files.iter().fold(0, |sum, it| it.size.saturating_add(sum)), limits.bytes);
        if size > most {
            return fail(format!("lists files of {size} bytes; {most} are allowed"));
        }
        let mut seen = BTreeSet::new();
        for file in files {
            let path = file.uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
            if !path.is_some_and(stays_below) {
                return fail(format!("lists {}, which is not in its directory", file.uri));
            }
            if !seen.insert(&file.uri) {
                return fail(format!("lists {} twice", file.uri));
            }
        }
        if !seen.contains(&self.uri) {
            return fail(format!("does not list its `{}`", uri::SKILL_MD));
        }
        Ok(())
    }

    /// Checks a file that was read.
    ///
    /// # Errors
    ///
    /// If the file is not listed, or its size or its digest differs. If it is the `SKILL.md` of the
    /// skill, also if its frontmatter differs.
    pub fn verify(&self, uri: &str, bytes: &[u8]) -> Result<(), SkillMismatch> {
        let Some(file) = self.file(uri) else {
            return Err(self.unlisted(uri));
        };
        let size = bytes.len() as u64;
        if size != file.size {
            let text = format!("{uri} has the size {size}; its entry has {}", file.size);
            return Err(SkillMismatch::new(Kind::Size, text));
        }
        let digest = Digest::of(bytes);
        if digest != file.digest {
            let text = format!("{uri} has the digest {digest}; its entry has {}", file.digest);
            return Err(SkillMismatch::new(Kind::Digest, text));
        }
        if uri == self.uri { self.verify_frontmatter(bytes) } else { Ok(()) }
    }

    /// Compares the frontmatter of `SKILL.md` with the entry, field by field.
    fn verify_frontmatter(&self, bytes: &[u8]) -> Result<(), SkillMismatch> {
        let fail = |problem: String| {
            let text = format!("the frontmatter of {} {problem}", self.uri);
            Err(SkillMismatch::new(Kind::Frontmatter, text))
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return fail("is not UTF-8".to_owned());
        };
        match Frontmatter::of_skill(text) {
            Err(error) => fail(format!("cannot be read: {error}")),
            Ok(read) => match read.difference(&self.frontmatter) {
                Some(field) => fail(format!("differs from its entry in `{field}`")),
                None => Ok(()),
            },
        }
    }

    /// The URI that a reference in the text of the skill means: relative to the directory of the
    /// skill, or a whole URI.
    ///
    /// # Errors
    ///
    /// If the skill has no such file.
    pub fn resolve(&self, reference: &str) -> Result<&str, SkillMismatch> {
        let candidates = uri::root(&self.uri).and_then(|root| uri::resolve(root, reference));
        let mut files = candidates.iter().flatten().filter_map(|uri| self.file(uri));
        files.next().map(|file| file.uri.as_str()).ok_or_else(|| self.unlisted(reference))
    }

    fn unlisted(&self, file: &str) -> SkillMismatch {
        let text = format!("the entry of {} does not list {file}", self.uri);
        SkillMismatch::new(Kind::Unlisted, text)
    }
}

/// Whether a path below a directory stays there.
fn stays_below(path: &str) -> bool {
    path.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

#[cfg(test)]
mod tests;
