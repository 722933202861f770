//! The values of the variables in configuration files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};

/// Values for the variables in a configuration file.
///
/// ```
/// use bowline_gateway::config::ConfigVariables;
///
/// let variables = ConfigVariables::of_process().with_workspace(".").with_input("token", "1234");
/// ```
#[derive(Clone, Default)]
pub struct ConfigVariables {
    environment: BTreeMap<String, String>,
    inputs: BTreeMap<String, String>,
    workspace: Option<PathBuf>,
}

impl ConfigVariables {
    /// No values at all: only variables with a default can be expanded.
    pub fn none() -> Self {
        Self::default()
    }

    /// The environment of this process. Variables whose value is no text are left out.
    pub fn of_process() -> Self {
        let texts = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::none().with_environment(texts)
    }

    /// Adds variables of the environment.
    #[must_use]
    pub fn with_environment<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment.extend(variables);
        self
    }

    /// Sets the folder that `${workspaceFolder}` stands for.
    #[must_use]
    pub fn with_workspace(mut self, folder: impl AsRef<Path>) -> Self {
        self.workspace = Some(folder.as_ref().to_owned());
        self
    }

    /// Adds the answer that `${input:id}` stands for.
    #[must_use]
    pub fn with_input(mut self, id: impl Into<String>, answer: impl Into<String>) -> Self {
        self.inputs.insert(id.into(), answer.into());
        self
    }

    pub(crate) fn environment(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }

    pub(crate) fn input(&self, id: &str) -> Option<String> {
        self.inputs.get(id).cloned()
    }

    pub(crate) fn folder(&self, name: &str) -> Option<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        match name {
            "workspaceFolder" => self.workspace.as_deref().map(text),
            "workspaceFolderBasename" => {
                Some(self.workspace.as_ref()?.file_name()?.to_string_lossy().into_owned())
            }
            "userHome" => self.environment("HOME").or_else(|| self.environment("USERPROFILE")),
            _ => Some(MAIN_SEPARATOR_STR.to_owned()),
        }
    }
}

impl fmt::Debug for ConfigVariables {
    /// Names only: values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigVariables")
            .field("environment", &self.environment.len())
            .field("inputs", &self.inputs.keys())
            .field("workspace", &self.workspace)
            .finish()
    }
}
