//! Checks our sources and our manual against the specification and the code.

use std::fs;
use std::path::{Path, PathBuf};

use bowline_json_schema::Validator;
use serde_json::json;

const TRANSPORTS: &str = include_str!("../../crates/bowline/src/manual/_13_transports.md");
const SAFETY: &str = include_str!("../../crates/bowline/src/manual/_16_safety.md");

// spec: SCH-5
#[test]
fn the_manual_names_exactly_the_supported_json_schema_dialects() {
    let safety = SAFETY.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = safety.split_once("The dialect is").expect("a sentence names the dialects");
    let (named, _) = rest.split_once("Any other is refused").expect("what is refused follows");
    for (name, uri) in [
        ("draft-03", "http://json-schema.org/draft-03/schema#"),
        ("draft-04", "http://json-schema.org/draft-04/schema#"),
        ("draft-06", "http://json-schema.org/draft-06/schema#"),
        ("draft-07", "http://json-schema.org/draft-07/schema#"),
        ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ] {
        let is_supported = Validator::compile(&json!({ "$schema": uri })).is_ok();
        assert_eq!(named.contains(name), is_supported, "{name} in `{named}`");
    }
}

// spec: TR-5
#[test]
fn the_manual_describes_the_framing_of_messages_on_a_socket() {
    // Without code blocks, in which a line may begin like a heading.
    let prose: String = TRANSPORTS.split("```").step_by(2).collect();
    let mut sections = prose.split("\n# ");
    let sockets = sections.find(|it| it.starts_with("Sockets")).expect("a section on sockets");
    let parts =
        ["opens one connection", "one line of UTF-8", "`notifications/cancelled`", "closing"];
    for part in parts {
        assert!(sockets.contains(part), "set-up, framing, cancellation and end: `{part}`");
    }
}

/// The Rust files of all crates, without test files.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        match path.is_dir() {
            _ if is_test => {}
            true => sources(&path, found),
            false if path.extension().is_some_and(|it| it == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The numbers from -32099 to -32000 in a file, without its tests.
fn reserved_codes(program: &str) -> Vec<i64> {
    let program = program.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = program.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.map(|line| line.replace('_', "")).collect::<Vec<_>>().join("\n");
    let digits = code.split("-320").skip(1).filter_map(|rest| rest.get(..2)?.parse::<i64>().ok());
    digits.map(|digits| -32000 - digits).collect()
}

// spec: ERR-6, ERR-9
#[test]
fn no_crate_defines_an_error_code_in_the_reserved_range() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let folder = entry.unwrap().path();
        // It judges the codes of other servers by their numbers, and answers nothing itself.
        if !folder.ends_with("check") {
            sources(&folder.join("src"), &mut files);
        }
    }
    let mut found = Vec::new();
    for path in files {
        let codes = reserved_codes(&fs::read_to_string(&path).unwrap());
        let is_table = path.ends_with("types/src/error.rs");
        assert!(codes.is_empty() || is_table, "{}: {codes:?}; use a constant", path.display());
        found.extend(codes);
    }
    found.sort_unstable();
    // -32099 and -32000 are the ends of ranges.
    let defined = [-32099, -32042, -32022, -32021, -32020, -32002, -32000];
    assert_eq!(found, defined, "these are defined");
}
