//! The rules against the ledger: strengths, revisions, pages, and that none is forgotten.

use std::collections::BTreeMap;
use std::path::Path;

use bowline_check::rule::Strength;
use bowline_check::rules;
use bowline_check::unseen::UNSEEN;
use bowline_types::revision::Revision;

/// A row of the ledger.
struct Row {
    level: String,
    side: String,
    revisions: Vec<Revision>,
    /// What stands in the line `Pages:` of its section.
    pages: String,
}

fn ledger() -> BTreeMap<String, Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec");
    let mut rows = BTreeMap::new();
    for file in folder.read_dir().unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut pages = String::new();
        for line in text.lines() {
            match line.strip_prefix("Pages: ") {
                Some(named) => named.trim_end_matches('.').clone_into(&mut pages),
                None if line.starts_with("## ") => pages.clear(),
                None => {}
            }
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [id, level, side, revisions, ..] = cells[..] else { continue };
            let is_id =
                id.contains('-') && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if is_id && (level.starts_with("MUST") || level.starts_with("SHOULD")) {
                let revisions = revisions.split(' ').map(revision).collect();
                let (level, side, pages) = (level.to_owned(), side.to_owned(), pages.clone());
                rows.insert(id.to_owned(), Row { level, side, revisions, pages });
            }
        }
    }
    rows
}

fn revision(code: &str) -> Revision {
    let position = ["24", "03", "06", "11", "26"].iter().position(|it| *it == code).expect(code);
    Revision::ALL[position]
}

#[test]
fn each_rule_is_as_strong_as_in_the_ledger_and_holds_in_the_same_revisions() {
    let ledger = ledger();
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let Some(row) = ledger.get(rule.id) else {
            wrong.push(format!("{} is not in the ledger", rule.id));
            continue;
        };
        let strength = match row.level.starts_with("MUST") {
            true => Strength::Must,
            false => Strength::Should,
        };
        if rule.strength != strength {
            wrong.push(format!("{} is {}", rule.id, row.level));
        }
        if rule.is_inferred != row.level.ends_with('†') {
            wrong.push(format!("{} is {} in the ledger: the mark differs", rule.id, row.level));
        }
        if rule.revisions != row.revisions {
            wrong.push(format!("{} holds in {:?}", rule.id, row.revisions));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The page of a rule in a revision: the one that names the id, else that of the revision.
fn page<'a>(row: &'a Row, id: &str, code: Revision) -> Option<&'a str> {
    let parts =
        row.pages.split("; ").filter_map(|part| part.trim_end_matches('`').split_once(" `"));
    let parts: Vec<(&str, &str)> = parts.collect();
    let of_id = parts.iter().find(|(names, _)| names.split(' ').any(|name| name == id));
    let is_code = |name: &str| name.len() == 2 && revision(name) == code;
    let found = of_id.or_else(|| parts.iter().find(|(names, _)| names.split(' ').any(is_code)));
    found.map(|(_, page)| *page)
}

#[test]
fn each_rule_links_to_the_page_that_the_ledger_names() {
    let ledger = ledger();
    let mut expected = String::new();
    for rule in rules::all() {
        let row = ledger.get(rule.id).expect(rule.id);
        let mut pages: Vec<(&str, Vec<&str>)> = Vec::new();
        for revision in rule.revisions {
            let page = page(row, rule.id, *revision)
                .unwrap_or_else(|| panic!("the ledger names no page of {} in {revision}", rule.id));
            match pages.iter_mut().find(|(known, _)| *known == page) {
                Some((_, revisions)) => revisions.push(revision.as_str()),
                None => pages.push((page, vec![revision.as_str()])),
            }
        }
        let pages =
            pages.iter().map(|(page, revisions)| format!(" {}={page}", revisions.join(",")));
        expected.push_str(&format!("{}{}\n", rule.id, pages.collect::<String>()));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pages.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == expected, "src/pages.txt differs from docs/spec; UPDATE=1 writes it");
    let batches = rules::named("RPC-19").unwrap();
    let page = "https://modelcontextprotocol.io/specification/2025-03-26/basic#batching";
    assert_eq!(batches.page(Revision::V2025_03_26), page);
    let of_extension = rules::named("APP-1").unwrap().latest_page();
    assert_eq!(of_extension, "https://modelcontextprotocol.io/extensions/apps/overview");
}

#[test]
fn each_must_of_servers_has_an_observer_or_a_reason() {
    let unseen: Vec<&str> = UNSEEN.iter().flat_map(|group| group.ids).copied().collect();
    let mut wrong = Vec::new();
    for (id, row) in ledger() {
        let binds = ["server", "both", "receiver", "requestor"].contains(&row.side.as_str());
        let is_must = binds && row.level.starts_with("MUST");
        match (rules::named(&id).is_some(), unseen.iter().filter(|it| **it == id).count()) {
            (false, 0) if is_must => wrong.push(format!("{id} has neither")),
            (true, 1..) => wrong.push(format!("{id} has both")),
            (_, 2..) => wrong.push(format!("{id} has two reasons")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_rule_has_two_observers() {
    let mut ids: Vec<&str> = rules::all().map(|rule| rule.id).collect();
    ids.sort_unstable();
    let repeated: Vec<&[&str]> = ids.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(repeated.is_empty(), "{repeated:?}");
}
