//! What a person copies into a host to add the server: commands and pieces of configuration files.

/// How to add the server to one host.
pub(super) struct HostEntry {
    /// The host, and where the text goes.
    pub(super) place: &'static str,
    /// What to copy.
    pub(super) text: String,
}

/// An entry for each of the common hosts. `name` may be any text; hosts get a short form of it.
pub(super) fn entries(name: &str, url: &str) -> Vec<HostEntry> {
    let name = short_name(name);
    let argument = shell_word(url);
    let entry = |place, text| HostEntry { place, text };
    vec![
        entry(
            "Claude Code, in a terminal",
            format!("claude mcp add --transport http {name} {argument}"),
        ),
        entry(
            "Claude Desktop, in claude_desktop_config.json",
            format!(
                r#"{{
  "mcpServers": {{
    "{name}": {{ "command": "bowline", "args": ["connect", "{url}"] }}
  }}
}}"#
            ),
        ),
        entry(
            "Cursor, in .cursor/mcp.json",
            format!(
                r#"{{
  "mcpServers": {{
    "{name}": {{ "url": "{url}" }}
  }}
}}"#
            ),
        ),
        entry(
            "VS Code, in .vscode/mcp.json",
            format!(
                r#"{{
  "servers": {{
    "{name}": {{ "type": "http", "url": "{url}" }}
  }}
}}"#
            ),
        ),
        entry("Codex, in ~/.codex/config.toml", format!("[mcp_servers.{name}]\nurl = \"{url}\"")),
        entry(
            "Any host that starts its servers as processes: the command is",
            format!("bowline connect {argument}"),
        ),
    ]
}

/// A URL in which nothing can end a string of JSON, TOML or a shell: such characters are
/// percent-encoded.
pub(super) fn clean(url: &str) -> String {
    let mut clean = String::new();
    for byte in url.bytes() {
        match byte {
            b'\'' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                clean.push_str(&format!("%{byte:02X}"));
            }
            byte if byte.is_ascii_graphic() => clean.push(char::from(byte)),
            byte => clean.push_str(&format!("%{byte:02X}")),
        }
    }
    clean
}

/// A [clean](clean()) URL as a word of a shell's command line.
fn shell_word(url: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/%".contains(&byte);
    if url.bytes().all(is_plain) { url.to_owned() } else { format!("'{url}'") }
}

/// The name of the server as a key: letters, digits, `-` and `_`, at most 40 of them.
fn short_name(name: &str) -> String {
    let is_kept = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = name.split(|character| !is_kept(character)).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let short: String = joined.chars().take(40).collect();
    if short.is_empty() { "server".to_owned() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_url_or_a_name_can_break_out_of_an_entry() {
        let url = clean("http://localhost:1/a'b\"c$(d);e f\\\u{e9}");
        assert_eq!(url, "http://localhost:1/a%27b%22c$(d);e%20f%5C%C3%A9");
        let entries = entries("x\"; rm -rf /", &url);
        let texts: Vec<_> = entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(
            texts[0],
            "claude mcp add --transport http x-rm-rf 'http://localhost:1/a%27b%22c$(d);e%20f%5C%C3%A9'"
        );
        assert_eq!(texts[4], format!("[mcp_servers.x-rm-rf]\nurl = \"{url}\""));
        for text in &texts[1..4] {
            let parsed: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
            assert!(parsed.is_ok(), "{text}");
        }
    }

    #[test]
    fn a_name_without_letters_still_has_a_key() {
        assert_eq!(short_name("日本"), "server");
        assert_eq!(short_name("My Server, v2!"), "my-server-v2");
        assert_eq!(short_name(&"a".repeat(100)).len(), 40);
    }
}
