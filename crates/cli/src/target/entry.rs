//! Targets from entries of configuration files: consent comes first, then the values of variables.

use bowline_gateway::config::{ConfigVariables, Launch};
use bowline_ops::discover::{Found, Origin};

use super::{Target, TargetArgs};
use crate::consent::{self, Agreed};
use crate::exit::Failure;
use crate::print::text;
use crate::{print, terminal};

impl TargetArgs {
    /// A server that a configuration file names. Asks the user to agree if a file of the project
    /// names it, and then for the values of its inputs. Only then its file of variables is read.
    ///
    /// # Errors
    ///
    /// If the user does not consent or cannot be asked, or if a variable of the entry has no value.
    pub(crate) fn found(&self, found: &Found) -> Result<Target, Failure> {
        let entry = &found.entry;
        let variables = self.inputs.variables(found.workspace.as_deref());
        if found.origin == Origin::Project && !self.is_only_named {
            let agreed = if self.yes { Agreed::Yes } else { Agreed::No };
            consent::ask(entry, &variables, &[], agreed)?;
        }
        let variables = self.ask_for_inputs(found, variables)?;
        let launch = match self.is_only_named {
            true => entry.resolve_unread(&variables),
            false => entry.resolve(&variables),
        };
        Ok(match launch? {
            Launch::Command(launch) => self.target(entry.name.clone(), self.command_launch(launch)),
            Launch::Http(launch) => self.target(entry.name.clone(), self.http_launch(launch)),
        })
    }

    /// Asks for the values of `${input:id}` that the command line does not give.
    fn ask_for_inputs(
        &self,
        found: &Found,
        mut variables: ConfigVariables,
    ) -> Result<ConfigVariables, Failure> {
        if !terminal::is_interactive() {
            return Ok(variables);
        }
        let (entry, needed) = (&found.entry, found.entry.variables());
        let is_needed =
            |id: &str| needed.iter().any(|name| name.strip_prefix("input:") == Some(id));
        for input in found.inputs.iter().filter(|it| is_needed(&it.id) && !self.inputs.has(&it.id))
        {
            let (file, name) = (entry.file.display(), &entry.name);
            print::note(text!("{file} asks for a value for `{name}`:"));
            variables = variables.with_input(&input.id, terminal::input(input)?);
        }
        Ok(variables)
    }

    /// Whether the command line has a value for each input that the entry needs.
    pub(crate) fn has_inputs(&self, found: &Found) -> bool {
        let needed = found.entry.variables();
        let mut inputs = needed.iter().filter_map(|name| name.strip_prefix("input:"));
        inputs.all(|id| self.inputs.has(id))
    }
}
