//! The values of the variables in configuration files.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use bowline_gateway::config::ConfigVariables;
use bowline_ops::discover::variables;

/// The option of commands that use servers of configuration files.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct InputArgs {
    /// The value of `${input:ID}` in a configuration file; can be repeated
    #[arg(long = "input", value_name = "ID=VALUE")]
    inputs: Vec<InputValue>,
}

impl InputArgs {
    /// The values for an entry: the environment of this process, this folder as
    /// `${workspaceFolder}`, and the inputs of the command line.
    pub(crate) fn variables(&self, workspace: Option<&Path>) -> ConfigVariables {
        let inputs = self.inputs.iter();
        inputs.fold(variables(workspace), |it, input| it.with_input(&input.id, &input.value))
    }

    /// Whether the command line has a value for this input.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.inputs.iter().any(|input| input.id == id)
    }
}

/// `ID=VALUE`. Its `Debug` output hides the value, which may be secret.
#[derive(Clone)]
struct InputValue {
    id: String,
    value: String,
}

impl FromStr for InputValue {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (id, value) = text.split_once('=').ok_or("write it as `ID=VALUE`")?;
        Ok(Self { id: id.to_owned(), value: value.to_owned() })
    }
}

impl fmt::Debug for InputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputValue").field("id", &self.id).finish_non_exhaustive()
    }
}
