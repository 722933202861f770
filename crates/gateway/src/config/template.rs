//! Text of a configuration file with variables that are expanded late.

use std::fmt;

use super::variables::ConfigVariables;

/// Text with variables, as it stands in the file. Its `Debug` output hides it: hosts keep tokens in
/// such texts.
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    raw: String,
    syntax: Syntax,
}

/// The variables that a host expands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// `${NAME}` and `${NAME:-default}`.
    pub(crate) plain: bool,
    /// `$NAME`.
    pub(crate) bare: bool,
    /// `${env:NAME}`.
    pub(crate) prefixed: bool,
    /// `${input:id}`.
    pub(crate) inputs: bool,
    /// `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}`.
    pub(crate) folders: bool,
}

impl Template {
    pub(crate) fn new(raw: impl Into<String>, syntax: Syntax) -> Self {
        Self { raw: raw.into(), syntax }
    }

    /// The text as it stands in the file.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The variables in it, by their names in the file: `HOME`, `env:HOME`, `input:token`,
    /// `workspaceFolder`.
    pub fn variables(&self) -> Vec<&str> {
        self.pieces().into_iter().filter_map(Piece::variable).collect()
    }

    /// The text with its variables expanded.
    ///
    /// # Errors
    ///
    /// The name of a variable that has no value.
    pub(crate) fn expand(&self, variables: &ConfigVariables) -> Result<String, Missing> {
        let mut text = String::with_capacity(self.raw.len());
        for piece in self.pieces() {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Variable { name, default } => {
                    let value =
                        self.syntax.value(name, variables).or_else(|| default.map(str::to_owned));
                    text.push_str(&value.ok_or_else(|| Missing(name.to_owned()))?);
                }
            }
        }
        Ok(text)
    }

    /// The text with the variables expanded that have a value. The others stay, as `${NAME}`.
    pub fn expand_known(&self, variables: &ConfigVariables) -> String {
        let known = |piece: Piece<'_>| match piece {
            Piece::Text(plain) => plain.to_owned(),
            Piece::Variable { name, default } => {
                let value = self.syntax.value(name, variables);
                let value = value.or_else(|| default.map(str::to_owned));
                value.unwrap_or_else(|| format!("${{{name}}}"))
            }
        };
        self.pieces().into_iter().map(known).collect()
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        let mut rest = self.raw.as_str();
        let mut plain = 0;
        while let Some(dollar) = rest[plain..].find('$').map(|at| plain + at) {
            let Some((piece, length)) = self.syntax.variable(&rest[dollar..]) else {
                plain = dollar + 1;
                continue;
            };
            pieces.push(Piece::Text(&rest[..dollar]));
            pieces.push(piece);
            rest = &rest[dollar + length..];
            plain = 0;
        }
        pieces.push(Piece::Text(rest));
        pieces
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Template(..)")
    }
}

/// The name of a variable that has no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) String);

#[derive(Clone, Copy, Debug)]
enum Piece<'t> {
    Text(&'t str),
    Variable { name: &'t str, default: Option<&'t str> },
}

impl<'t> Piece<'t> {
    fn variable(self) -> Option<&'t str> {
        match self {
            Self::Text(_) => None,
            Self::Variable { name, .. } => Some(name),
        }
    }
}

impl Syntax {
    /// The variable at the beginning of a text, and its length. `None` if the host would leave
    /// these characters as they are.
    fn variable<'t>(&self, text: &'t str) -> Option<(Piece<'t>, usize)> {
        let Some(inner) = text.strip_prefix("${") else {
            let name = identifier(text.strip_prefix('$')?);
            let piece = Piece::Variable { name, default: None };
            return (self.bare && !name.is_empty()).then_some((piece, name.len() + 1));
        };
        let end = inner.find('}')?;
        let (name, default) = match inner[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inner[..end], None),
        };
        self.knows(name).then_some((Piece::Variable { name, default }, end + 3))
    }

    fn knows(&self, name: &str) -> bool {
        match name.split_once(':') {
            Some(("env", name)) => self.prefixed && !name.is_empty(),
            Some(("input", id)) => self.inputs && !id.is_empty(),
            Some(_) => false,
            None if self.folders && is_folder(name) => true,
            None => self.plain && !name.is_empty() && identifier(name) == name,
        }
    }

    fn value(&self, name: &str, variables: &ConfigVariables) -> Option<String> {
        match name.split_once(':') {
            Some(("env", name)) => variables.environment(name),
            Some(("input", id)) => variables.input(id),
            _ if self.folders && is_folder(name) => variables.folder(name),
            _ => variables.environment(name),
        }
    }
}

fn is_folder(name: &str) -> bool {
    matches!(
        name,
        "workspaceFolder" | "workspaceFolderBasename" | "userHome" | "pathSeparator" | "/"
    )
}

/// The name of a variable at the beginning of a text.
fn identifier(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::Dialect;
    use super::*;

    fn expand(text: &str, dialect: Dialect) -> Result<String, String> {
        let variables = ConfigVariables::none()
            .with_environment([("NAME", "ada"), ("EMPTY", "")])
            .with_input("token", "s3cret")
            .with_workspace("/srv/ada/notes");
        Template::new(text, dialect.syntax()).expand(&variables).map_err(|missing| missing.0)
    }

    #[test]
    fn each_host_expands_its_own_variables_and_no_others() {
        let text = "$NAME ${NAME} ${NAME:-x} ${env:NAME} ${input:token} ${workspaceFolder}";
        for (dialect, expected) in [
            (Dialect::Bowline, "$NAME ada ada ada s3cret /srv/ada/notes"),
            (Dialect::VsCode, "$NAME ${NAME} ${NAME:-x} ada s3cret /srv/ada/notes"),
            (Dialect::Cursor, "$NAME ${NAME} ${NAME:-x} ada ${input:token} /srv/ada/notes"),
            (Dialect::Windsurf, "$NAME ${NAME} ${NAME:-x} ada ${input:token} ${workspaceFolder}"),
            (Dialect::ClaudeDesktop, text),
            (Dialect::Codex, text),
            (Dialect::Zed, text),
        ] {
            assert_eq!(expand(text, dialect).unwrap(), expected, "{dialect}");
        }
        assert_eq!(expand("$NAME ${NAME}", Dialect::Gemini).unwrap(), "ada ada");
        assert_eq!(expand("${NAME} ${env:NAME}", Dialect::ClaudeCode).unwrap(), "ada ${env:NAME}");
    }

    #[test]
    fn a_default_stands_in_for_a_variable_without_value() {
        assert_eq!(expand("${NONE:-}|${NONE:-a:-b}", Dialect::Bowline).unwrap(), "|a:-b");
        assert_eq!(expand("a${EMPTY:-x}b", Dialect::Bowline).unwrap(), "ab");
    }

    #[test]
    fn a_variable_without_value_is_named() {
        assert_eq!(expand("${NONE}", Dialect::ClaudeCode).unwrap_err(), "NONE");
        assert_eq!(expand("${env:NONE}", Dialect::Cursor).unwrap_err(), "env:NONE");
        assert_eq!(expand("${input:none}", Dialect::VsCode).unwrap_err(), "input:none");
    }

    #[test]
    fn other_dollars_stay() {
        for text in ["$", "$$", "${", "${}", "a${b", "${a b}", "$1", "${1}", "5$", "${x:y}", "é$é"]
        {
            assert_eq!(expand(text, Dialect::Gemini).unwrap(), text);
        }
    }

    #[test]
    fn a_variable_without_value_stays_if_only_the_known_are_expanded() {
        let variables = ConfigVariables::none().with_environment([("A", "x")]);
        let template = Template::new("${A} ${B} ${C:-y} ${input:d}", Dialect::Bowline.syntax());
        assert_eq!(template.expand_known(&variables), "x ${B} y ${input:d}");
    }

    #[test]
    fn values_are_not_expanded_again() {
        let variables = ConfigVariables::none().with_environment([("A", "${B}"), ("B", "x")]);
        let template = Template::new("${A}", Dialect::Bowline.syntax());
        assert_eq!(template.expand(&variables).unwrap(), "${B}");
        assert_eq!(template.variables(), ["A"]);
    }
}
