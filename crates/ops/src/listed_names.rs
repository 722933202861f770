//! Compares the entries of a file with the lists of their servers: finds rules for tools that a server does
//! not list, and resources that two servers of one file list.

use std::collections::HashMap;

use bowline_gateway::config::{Dialect, ServerEntry};
use bowline_types::text::excerpt;

use crate::lint::Lists;

/// The names in the lists of a server.
#[derive(Debug, Default)]
pub struct ListedNames {
    tools: Vec<String>,
    resources: Vec<String>,
}

impl ListedNames {
    /// The names in these lists.
    pub fn of(lists: &Lists) -> Self {
        Self {
            tools: lists.tools.iter().map(|tool| tool.name.clone()).collect(),
            resources: lists.resources.iter().map(|resource| resource.uri.clone()).collect(),
        }
    }
}

/// Notes for servers, by the places of their entries. Only servers that were listed are given.
pub fn notes(servers: &[(usize, &ServerEntry, ListedNames)]) -> Vec<(usize, String)> {
    let mut notes = Vec::new();
    let mut owners: HashMap<_, &str> = HashMap::new();
    for (place, entry, names) in servers {
        // A server without the list of tools is reported already.
        let listed = names.tools.iter().map(String::as_str);
        for unlisted in entry.tools.unlisted(&listed).iter().filter(|_| !names.tools.is_empty()) {
            notes.push((*place, format!("{}; {}", unlisted.problem(), unlisted.advice())));
        }
        // Servers in files of hosts keep their resources apart.
        let is_of_gateway = entry.dialect == Dialect::Bowline;
        let mut resources = names.resources.iter().filter(|_| is_of_gateway);
        let shared = resources.find_map(|uri| {
            let owner = *owners.entry((&entry.file, uri)).or_insert(&entry.name);
            (owner != entry.name).then_some((uri, owner))
        });
        if let Some((uri, owner)) = shared {
            let uri = excerpt(uri);
            let note = format!("`{owner}` also lists `{uri}`: a gateway reads it from `{owner}`");
            notes.push((*place, note));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use bowline_gateway::config::ConfigFile;

    use super::*;

    #[test]
    fn mistyped_rules_and_shared_resources_are_noted() {
        let text = r#"{ "mcpServers": {
            "one": { "command": "x", "tools": { "hide": ["git_rest"] } },
            "two": { "command": "y" } } }"#;
        let file = ConfigFile::parse(text, "c.json", Dialect::Bowline).unwrap();
        let names = |tools: &[&str]| ListedNames {
            tools: tools.iter().map(ToString::to_string).collect(),
            resources: vec!["notes://a".to_owned()],
        };
        let servers = [
            (0, &file.entries[0], names(&["git_reset", "git_log"])),
            (1, &file.entries[1], names(&["draw"])),
        ];
        let expected = [
            (
                0,
                "`tools.hide` names `git_rest`, which the server does not list, so it hides \
                 nothing; did you mean `git_reset`?"
                    .to_owned(),
            ),
            (1, "`one` also lists `notes://a`: a gateway reads it from `one`".to_owned()),
        ];
        assert_eq!(notes(&servers), expected);
    }
}
