//! Tests of finding servers.

use std::fs;

use super::*;

/// A home and a project with these files.
fn folders(files: &[(&str, &str)]) -> (tempfile::TempDir, Folders) {
    let root = tempfile::tempdir().unwrap();
    let below = |name: &str| Some(root.path().join(name));
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (settings, config) = (below("home/.config"), below("home/.config"));
    let projects = below("project").into_iter().collect();
    let folders = Folders { home: below("home"), settings, config, projects };
    (root, folders)
}

fn names(discovery: &Discovery) -> Vec<(String, Origin)> {
    discovery.found.iter().map(|it| (it.qualified(), it.origin)).collect()
}

#[test]
fn files_of_all_hosts_are_found_and_those_of_the_user_come_first() {
    let plain = r#"{"mcpServers":{"a":{"command":"run"}}}"#;
    let vs_code = r#"{"servers":{"a":{"command":"run"}}, /* note */ "inputs":[]}"#;
    let toml = "[mcp_servers.a]\ncommand = \"run\"\n";
    let zed = r#"{"context_servers":{"a":{"command":"run","args":[]}}}"#;
    let (_root, folders) = folders(&[
        ("home/.claude.json", plain),
        ("home/.cursor/mcp.json", plain),
        ("home/.codex/config.toml", toml),
        ("home/.codeium/windsurf/mcp_config.json", plain),
        ("home/.gemini/settings.json", plain),
        ("home/.config/Claude/claude_desktop_config.json", plain),
        ("home/.config/Code/User/mcp.json", vs_code),
        ("home/.config/zed/settings.json", zed),
        ("project/.mcp.json", plain),
        ("project/.cursor/mcp.json", plain),
        ("project/.vscode/mcp.json", vs_code),
    ]);
    let discovery = discover(&folders);
    assert!(discovery.problems.is_empty(), "{:?}", discovery.problems);
    let expected = [
        ("claude-code:a", Origin::User),
        ("cursor:a", Origin::User),
        ("codex:a", Origin::User),
        ("windsurf:a", Origin::User),
        ("gemini-cli:a", Origin::User),
        ("claude-desktop:a", Origin::User),
        ("vs-code:a", Origin::User),
        ("zed:a", Origin::User),
        ("claude-code:a", Origin::Project),
        ("cursor:a", Origin::Project),
        ("vs-code:a", Origin::Project),
    ];
    assert_eq!(names(&discovery), expected.map(|(name, origin)| (name.to_owned(), origin)));
}

#[test]
fn a_server_of_the_user_hides_one_of_the_project() {
    let (_root, folders) = folders(&[
        ("home/.claude.json", r#"{"mcpServers":{"git":{"command":"mine"}}}"#),
        ("home/.cursor/mcp.json", r#"{"mcpServers":{"git":{"command":"mine"}}}"#),
        ("home/.gemini/settings.json", r#"{"mcpServers":{"git":{"command":"other"}}}"#),
        ("project/.mcp.json", r#"{"mcpServers":{"git":{"command":"evil"}}}"#),
    ]);
    let discovery = discover(&folders);
    let addresses = |name| -> Vec<String> {
        discovery.named(name).iter().map(|it| it.entry.address()).collect()
    };
    assert_eq!(addresses("git"), ["mine", "other"]);
    assert_eq!(addresses("gemini-cli:git"), ["other"]);
    assert_eq!(addresses("hub"), [""; 0]);
}

#[test]
fn entries_for_other_projects_are_left_out() {
    let (root, folders) = folders(&[]);
    let project = root.path().join("project");
    let text = format!(
        r#"{{"projects":{{{:?}:{{"mcpServers":{{"here":{{"command":"a"}}}}}},
            "elsewhere":{{"mcpServers":{{"there":{{"command":"b"}}}}}}}}}}"#,
        project.to_str().unwrap()
    );
    fs::create_dir_all(root.path().join("home")).unwrap();
    fs::write(root.path().join("home/.claude.json"), text).unwrap();
    assert_eq!(names(&discover(&folders)), [("claude-code:here".to_owned(), Origin::User)]);
}

#[test]
fn in_the_home_folder_a_file_of_the_user_stays_one() {
    let text = r#"{"mcpServers":{"a":{"command":"run"}}}"#;
    let (_root, mut folders) = folders(&[("home/.cursor/mcp.json", text)]);
    folders.projects = folders.home.iter().cloned().collect();
    assert_eq!(names(&discover(&folders)), [("cursor:a".to_owned(), Origin::User)]);
}

#[test]
fn a_broken_file_is_a_problem_and_hides_no_others() {
    let (_root, folders) = folders(&[
        ("home/.claude.json", "{"),
        ("home/.cursor/mcp.json", r#"{"mcpServers":{"a":{"command":"run"},"b":{}}}"#),
    ]);
    let discovery = discover(&folders);
    assert_eq!(names(&discovery).len(), 1);
    assert_eq!(discovery.problems.len(), 2, "{:?}", discovery.problems);
}

#[test]
fn files_of_a_project_are_searched_up_to_the_root_of_its_repository() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("home/work/repository/.git")).unwrap();
    fs::create_dir_all(at("home/work/repository/a/b")).unwrap();
    let searched = |working: &str| places::projects(&at(working), Some(&at("home")));
    let inside = searched("home/work/repository/a/b");
    let expected = ["home/work/repository/a/b", "home/work/repository/a", "home/work/repository"];
    assert_eq!(inside, expected.map(at));
    // Without a repository: below the home, and not the home itself.
    assert_eq!(searched("home/work/notes"), ["home/work/notes", "home/work"].map(at));
    assert_eq!(searched("home"), [at("home")]);
    // Other users may write to the parents, and make one of them a repository.
    fs::create_dir_all(at("elsewhere/.git")).unwrap();
    assert_eq!(searched("elsewhere/notes"), [at("elsewhere/notes")]);
    assert_eq!(places::projects(&at("elsewhere/notes"), None), [at("elsewhere/notes")]);
}

#[test]
fn the_nearest_folder_of_a_project_hides_its_parents() {
    let named = |command: &str| format!(r#"{{"mcpServers":{{"git":{{"command":"{command}"}}}}}}"#);
    let (root, mut folders) = folders(&[
        ("project/.mcp.json", &named("root")),
        ("project/sub/.mcp.json", &named("near")),
    ]);
    folders.projects.insert(0, root.path().join("project/sub"));
    let discovery = discover(&folders);
    assert_eq!(addresses(&discovery, "git"), ["near"]);
    assert_eq!(discovery.found[1].workspace, Some(root.path().join("project")));
}

/// The addresses of the servers of this name.
fn addresses(discovery: &Discovery, name: &str) -> Vec<String> {
    discovery.named(name).iter().map(|it| it.entry.address()).collect()
}

#[test]
fn within_one_host_the_first_file_hides_the_others() {
    let named = |command: &str| format!(r#"{{"servers":{{"git":{{"command":"{command}"}}}}}}"#);
    let settings = format!(r#"{{"mcp":{}}}"#, named("second"));
    let (_root, folders) = folders(&[
        ("home/.config/Code/User/mcp.json", &named("first")),
        ("home/.config/Code/User/settings.json", &settings),
        ("home/.config/Code - Insiders/User/mcp.json", &named("third")),
        ("project/.vscode/mcp.json", r#"{"servers":{"hub":{"command":"first"}}}"#),
        ("project/.vscode/settings.json", r#"{"mcp":{"servers":{"hub":{"command":"second"}}}}"#),
    ]);
    let discovery = discover(&folders);
    for name in ["git", "vs-code:git", "hub", "vs-code:hub"] {
        assert_eq!(addresses(&discovery, name), ["first"], "{name}");
    }
}

#[test]
fn equal_entries_with_the_folder_of_the_project_are_one() {
    let entry = r#"{"git":{"command":"run","args":["${workspaceFolder}"]}}"#;
    let (_root, folders) = folders(&[
        ("home/.cursor/mcp.json", &format!(r#"{{"mcpServers":{entry}}}"#)),
        ("home/.config/Code/User/mcp.json", &format!(r#"{{"servers":{entry}}}"#)),
    ]);
    assert_eq!(addresses(&discover(&folders), "git"), ["run"]);
}

#[test]
fn a_file_of_variables_is_not_read_to_compare_entries() {
    let entry = |file: &str| {
        format!(r#"{{"mcpServers":{{"git":{{"command":"run","envFile":"{file}"}}}}}}"#)
    };
    let (_root, folders) = folders(&[
        ("project/.mcp.json", &entry("/no/such/file")),
        ("project/.cursor/mcp.json", &entry("/no/such/file")),
        ("project/.gemini/settings.json", &entry("/no/other/file")),
    ]);
    assert_eq!(discover(&folders).named("git").len(), 2);
}

#[test]
fn an_entry_that_is_switched_off_does_not_make_a_name_ambiguous() {
    let off = r#"{"mcpServers":{"git":{"command":"off","disabled":true}}}"#;
    let (_root, folders) = folders(&[
        ("home/.claude.json", off),
        ("home/.cursor/mcp.json", r#"{"mcpServers":{"git":{"command":"on"}}}"#),
    ]);
    let discovery = discover(&folders);
    assert_eq!(addresses(&discovery, "git"), ["on"]);
    // Its whole name still names it.
    assert_eq!(addresses(&discovery, "claude-code:git"), ["off"]);
}
