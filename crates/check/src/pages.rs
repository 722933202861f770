//! Where the specification states a rule.
//!
//! `pages.txt` has a line for each rule: its id, and the page of each revision. The test `ledger` makes
//! it from the `Pages:` lines of `docs/spec`.

use bowline_types::revision::Revision;

use crate::rule::Rule;

const PAGES: &str = include_str!("pages.txt");
const SITE: &str = "https://modelcontextprotocol.io";

impl Rule {
    /// The section of the specification that states the rule in a revision.
    pub fn page(&self, revision: Revision) -> String {
        match page(self.id, revision) {
            Some(page) if page.starts_with('/') => format!("{SITE}{page}"),
            Some(page) => format!("{SITE}/specification/{revision}/{page}"),
            None => format!("{SITE}/specification/{revision}"),
        }
    }

    /// The section in the latest revision that has the rule.
    pub fn latest_page(&self) -> String {
        let latest = self.revisions.iter().max().copied();
        self.page(latest.unwrap_or(Revision::LATEST))
    }
}

fn page(id: &str, revision: Revision) -> Option<&'static str> {
    let line = PAGES.lines().find_map(|line| line.strip_prefix(id)?.strip_prefix(' '))?;
    let mut pages = line.split(' ').filter_map(|part| part.split_once('='));
    let (_, page) =
        pages.find(|(revisions, _)| revisions.split(',').any(|it| it == revision.as_str()))?;
    Some(page)
}
