//! What is wrong with a folder of skills.

use std::fmt;

/// Why skills cannot be served. The text names the file, the line if there is one, and what to do.
///
/// ```
/// use bowline_skills::Skills;
///
/// let error = Skills::files([("greet/SKILL.md", "---\nname: greet\n---\n")]).unwrap_err();
/// let expected = "greet/SKILL.md: the frontmatter has no `description`";
/// assert_eq!(error.to_string(), expected);
/// assert_eq!(error.file(), "greet/SKILL.md");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SkillError {
    file: String,
    line: Option<usize>,
    problem: String,
}

impl SkillError {
    /// A problem of a file, or of a folder: what is wrong, as in "is too long".
    pub fn new(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, problem: problem.into() }
    }

    pub(crate) fn at(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }

    /// Puts the folder that was read in front of the file.
    pub(crate) fn within(mut self, folder: &str) -> Self {
        self.file = match self.file.as_str() {
            "" => folder.to_owned(),
            file => format!("{}/{file}", folder.trim_end_matches('/')),
        };
        self
    }

    /// The file or folder that is wrong.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line that is wrong, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl fmt::Debug for SkillError {
    /// The text, because that is what a `main` that returns the error prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SkillError {}
