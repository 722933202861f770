//! How large a skill may be.

/// How large a skill may be, and all skills of a folder together.
///
/// Every host accepts skills up to the defaults of `files` and `bytes`, which the extension fixes. A
/// server with larger limits may have skills that some hosts refuse.
///
/// ```
/// use bowline_skills::SkillLimits;
///
/// let limits = SkillLimits { skills: 50, ..SkillLimits::default() };
/// assert_eq!(limits.files, 512);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillLimits {
    /// Files of one skill, `SKILL.md` included: 512.
    pub files: usize,
    /// Bytes of all files of one skill: 16 MiB.
    pub bytes: u64,
    /// Skills in all: 1000.
    pub skills: usize,
    /// Bytes of all files of all skills: 256 MiB. A server holds them in memory.
    pub bytes_in_all: u64,
    /// How deep folders may be nested: 16.
    pub depth: usize,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self {
            files: 512,
            bytes: 16 * 1024 * 1024,
            skills: 1000,
            bytes_in_all: 256 * 1024 * 1024,
            depth: 16,
        }
    }
}
