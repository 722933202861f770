//! What is wrong with a configuration: which file, where in it, what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// A fault of a configuration file. Never contains values of the file, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    file: PathBuf,
    at: String,
    problem: String,
    advice: Option<String>,
}

impl ConfigError {
    /// A fault at a place of a file, which is empty if the whole file is meant.
    pub fn new(file: &Path, at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), at: at.into(), problem: problem.into(), advice: None }
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The place in the file as a JSON path such as `$.mcpServers.git.command`, or a line and
    /// column. Empty if the whole file is meant.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// What is wrong, without file and place.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The file, the place and what is wrong, without what the user can do.
    pub fn without_advice(&self) -> String {
        Self { advice: None, ..self.clone() }.to_string()
    }

    /// What the user can do.
    pub fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.problem)?;
        match &self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}
