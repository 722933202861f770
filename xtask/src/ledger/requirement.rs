//! The tables of requirements.

use crate::finding::Finding;
use crate::markdown::cells;
use crate::tree::Tree;

/// The files with requirements, in reading order; an area is a file.
pub(super) const AREAS: &[&str] = &[
    "base",
    "transports",
    "authorization",
    "server-features",
    "client-features",
    "stateless-2026-07-28",
    "extensions",
];

/// One row of a table.
#[derive(Debug)]
pub(super) struct Requirement {
    pub(super) id: String,
    pub(super) level: Level,
    /// The level as it is written, with a `NOT` and a mark for lower-case sources.
    pub(super) strength: String,
    /// The other columns of the row: actor, revisions, requirement.
    pub(super) who: String,
    pub(super) revisions: String,
    pub(super) text: String,
    /// The file, without its folder and ending.
    pub(super) area: &'static str,
    /// The heading above the table.
    pub(super) section: String,
}

/// How strong a requirement is; `NOT` makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Must,
    Should,
    May,
}

/// Reads every area; a malformed row or a repeated id is a finding.
pub(super) fn read(tree: &Tree, findings: &mut Vec<Finding>) -> Vec<Requirement> {
    let mut requirements: Vec<Requirement> = Vec::new();
    for &area in AREAS {
        let path = format!("docs/spec/{area}.md");
        let Some(file) = tree.file(&path) else {
            continue;
        };
        let mut section = String::new();
        for (index, line) in file.text.lines().enumerate() {
            if let Some(heading) = line.strip_prefix("## ") {
                heading.clone_into(&mut section);
            }
            let Some(cells) = cells(line).filter(|cells| is_id(cells[0])) else {
                continue;
            };
            let Some(requirement) = requirement(&cells, area, &section) else {
                let text = "a row is `| ID | MUST or SHOULD or MAY | Who | Rev | Requirement |`";
                findings.push(file.finding(index + 1, text));
                continue;
            };
            if requirements.iter().any(|earlier| earlier.id == requirement.id) {
                let text = format!("`{}` is taken; ids are unique", requirement.id);
                findings.push(file.finding(index + 1, text));
            }
            requirements.push(requirement);
        }
    }
    requirements
}

/// Whether this is `AREA-7`: capitals and digits, a dash, a number.
pub(super) fn is_id(word: &str) -> bool {
    let Some((area, number)) = word.split_once('-') else {
        return false;
    };
    let is_area = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    area.starts_with(|c: char| c.is_ascii_uppercase())
        && area.chars().all(is_area)
        && number.parse::<u16>().is_ok()
}

fn requirement(cells: &[&str], area: &'static str, section: &str) -> Option<Requirement> {
    let [id, strength, who, revisions, text] = cells else {
        return None;
    };
    let level = match strength.trim_end_matches('†') {
        "MUST" | "MUST NOT" => Level::Must,
        "SHOULD" | "SHOULD NOT" => Level::Should,
        "MAY" => Level::May,
        _ => return None,
    };
    let [id, strength, who, revisions, text] =
        [id, strength, who, revisions, text].map(|cell| (*cell).to_owned());
    Some(Requirement {
        id,
        level,
        strength,
        who,
        revisions,
        text,
        area,
        section: section.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    fn read_base(text: &str) -> (Vec<Requirement>, Vec<Finding>) {
        let mut findings = Vec::new();
        let requirements = read(&Tree::of(&[("docs/spec/base.md", text)]), &mut findings);
        (requirements, findings)
    }

    #[test]
    fn rows_know_their_section_and_level() {
        let text = "## 2. Messages\n\n| ID | Level | Who | Rev | Requirement |\n|---|---|---|---|---|\n\
                    | RPC-1 | MUST NOT† | both | 24 03 | Say `null`. |\n| H26-2 | MAY | server | 26 | Go. |\n";
        let (rows, findings) = read_base(text);
        assert_eq!(findings, []);
        let [first, second] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((first.id.as_str(), first.level), ("RPC-1", Level::Must));
        assert_eq!((first.area, first.section.as_str()), ("base", "2. Messages"));
        assert_eq!((first.revisions.as_str(), first.text.as_str()), ("24 03", "Say `null`."));
        assert_eq!(first.strength, "MUST NOT†");
        assert_eq!((second.id.as_str(), second.level), ("H26-2", Level::May));
    }

    #[test]
    fn other_tables_are_not_requirements() {
        let (rows, findings) = read_base("| Status | Situation |\n|---|---|\n| 200 | fine |\n");
        assert!(rows.is_empty() && findings.is_empty());
    }

    #[test]
    fn an_id_that_comes_twice_is_found() {
        let row = "| RPC-1 | MUST | both | 24 | Do. |\n";
        assert_eq!(places(&read_base(&row.repeat(2)).1), [(2, "docs/spec/base.md")]);
    }

    #[test]
    fn an_unknown_level_is_found() {
        let (_, findings) = read_base("| RPC-1 | OUGHT | both | 24 | Do. |\n");
        assert_eq!(places(&findings), [(1, "docs/spec/base.md")]);
    }
}
