//! Names of servers, variables, headers and inputs. People and logs read them, so that a name in which
//! not every character is seen is refused: it could look like another one, or like other text.

use super::document::At;
use super::error::ConfigError;
use bowline_types::hidden::marked;

/// The longest name, in characters.
const LONGEST: usize = 256;

/// Refuses a name with characters that a reader does not see, and one that is too long.
pub(super) fn check(kind: &str, name: &str, at: &At<'_>) -> Result<(), ConfigError> {
    if let Some((c, _)) = marked(name).find(|(_, is_hidden)| *is_hidden) {
        let problem = format!(
            "the name of the {kind} has a character that is not seen, U+{:04X}",
            u32::from(c)
        );
        return Err(at.fault(problem).with_advice("remove it"));
    }
    if name.chars().count() > LONGEST {
        let problem = format!("the name of the {kind} has more than {LONGEST} characters");
        return Err(at.fault(problem).with_advice("shorten it"));
    }
    if kind == "variable" && (name.is_empty() || name.contains('=')) {
        let problem = "the name of the variable is empty or has a `=`";
        return Err(at.fault(problem).with_advice("write the value beside the name"));
    }
    Ok(())
}

/// A text of the file that is a name.
pub(super) fn text(kind: &str, at: &At<'_>) -> Result<String, ConfigError> {
    let name = at.text()?;
    check(kind, name, at)?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{ConfigFile, Dialect};

    /// What is wrong with the only entry of a file.
    fn fault(text: &str, path: &str, dialect: Dialect) -> String {
        let file = ConfigFile::parse(text, path, dialect).unwrap();
        assert!(file.entries.is_empty(), "{:?}", file.entries);
        file.faults[0].to_string()
    }

    #[test]
    fn a_name_that_is_not_seen_whole_is_refused_with_its_place() {
        let forged = fault(
            r#"{"mcpServers":{"a":{"command":"sh","env":{"X\n\n/usr/bin/docs --read-only":""}}}}"#,
            ".mcp.json",
            Dialect::ClaudeCode,
        );
        assert_eq!(
            forged,
            ".mcp.json: $.mcpServers.a.env[\"X\\n\\n/usr/bin/docs --read-only\"]: the name of the \
             variable has a character that is not seen, U+000A; remove it"
        );
        for (entry, kind, place) in [
            (r#""a\u001b[2J":{"command":"x"}"#, "server", r#"$.S["a\u{1b}[2J"]"#),
            (r#""ad\u200dmin":{"command":"x"}"#, "server", r#"$.S["ad\u{200d}min"]"#),
            (
                r#""a":{"url":"x","headers":{"X\u202e":"y"}}"#,
                "header",
                r#"$.S.a.headers["X\u{202e}"]"#,
            ),
            (r#""a":{"command":"x","env_vars":["A\r"]}"#, "variable", "$.S.a.env_vars[0]"),
            (r#""a":{"command":"x","env":{"A=B":"y"}}"#, "variable", r#"$.S.a.env["A=B"]"#),
            (
                r#""a":{"url":"x","bearer_token_env_var":"A\u0000"}"#,
                "variable",
                "$.S.a.bearer_token_env_var",
            ),
        ] {
            for (key, dialect) in [
                ("mcpServers", Dialect::Bowline),
                ("mcpServers", Dialect::Cursor),
                ("servers", Dialect::VsCode),
                ("context_servers", Dialect::Zed),
            ] {
                let shown = fault(&format!(r#"{{"{key}":{{{entry}}}}}"#), "x.json", dialect);
                let expected = format!(
                    "x.json: {}: the name of the {kind} ",
                    place.replacen(".S", &format!(".{key}"), 1)
                );
                assert!(shown.starts_with(&expected), "{shown}: {expected}");
            }
        }
        let like_another = r#"{"mcpServers":{"admin\ufe0f":{"command":"x"}}}"#;
        let shown = fault(like_another, "x.json", Dialect::Bowline);
        assert!(shown.contains("a character that is not seen, U+FE0F; remove it"), "{shown}");
        let toml = "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\n\"A\\nB\" = \"y\"\n";
        let shown = fault(toml, "config.toml", Dialect::Codex);
        assert!(shown.contains("U+000A"), "{shown}");
    }

    #[test]
    fn a_name_of_any_script_is_taken() {
        let text = r#"{"mcpServers":{"工具 ü":{"command":"x","env":{"ПУТЬ":"y"}}}}"#;
        let file = ConfigFile::parse(text, "x.json", Dialect::Bowline).unwrap();
        assert_eq!((file.entries[0].name.as_str(), file.faults.len()), ("工具 ü", 0));
    }
}
