//! Which changes of the code no test notices.
//!
//! `cargo xtask mutants AREA` finds small changes of the source files of an area ([`find`]), writes
//! all of them into a copy of the repository ([`embed`], [`working_copy`]), compiles that once, and
//! runs the tests for each mutant, chosen by an environment variable ([`judge`]). A mutant that no
//! test notices is printed, unless `docs/testing/mutants.md` gives the reason why no test can
//! ([`excuse`]).

mod area;
mod embed;
mod excuse;
mod find;
mod judge;
mod mutant;
mod options;
mod sample;
mod summary;
mod working_copy;

use std::fs;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::tree::Tree;
use area::Area;
use excuse::Excuses;
use judge::{Suite, Verdict};
use mutant::Mutant;
use options::Options;
use summary::{End, Summary};
use working_copy::{Viable, WorkingCopy};

/// Runs `cargo xtask mutants`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let options = Options::read(arguments)?;
    let tree = Tree::load()?;
    let area = Area::find(&tree, &options.areas)?;
    let mut mutants = Vec::new();
    for path in &area.files {
        let text = &tree.file(path).context("the file is in the tree")?.text;
        mutants.extend(find::mutants(path, text)?);
    }
    if options.list {
        mutants.iter().for_each(|mutant| println!("{mutant}"));
        return Ok(());
    }
    println!("{} mutants in {} files", mutants.len(), area.files.len());
    let working_copy = WorkingCopy::open(&tree, &area)?;
    let viable = working_copy.embed(&tree, &area, &mutants)?;
    println!("{} of them compile", viable.len());
    let suites = Suite::all(&working_copy, &area.judges())?;

    let noted = working_copy.folder.join(format!("{}.missed", area.name));
    let last = fs::read_to_string(&noted).unwrap_or_default();
    let chosen = choose(&options, &mutants, &viable, &last);
    let missed = report(&options, &tree, &mutants, |summary, excuses| {
        for number in (0..mutants.len()).filter(|number| !viable.contains(number)) {
            summary.count(&mutants[number], End::Unviable);
        }
        try_all(&suites, &mutants, &chosen, |mutant, verdict| {
            let end = end(mutant, verdict, excuses);
            summary.count(mutant, end);
            end
        })
    })?;
    fs::write(&noted, missed.join("\n")).context("cannot note what was missed")?;
    match missed.len() {
        0 => Ok(()),
        1 => bail!("1 mutant is missed"),
        many => bail!("{many} mutants are missed"),
    }
}

/// Tries mutants, with the excuses that there are, and prints how they ended.
fn report(
    options: &Options<'_>,
    tree: &Tree,
    mutants: &[Mutant],
    try_all: impl FnOnce(&mut Summary<'_>, &Excuses) -> Result<Vec<String>>,
) -> Result<Vec<String>> {
    let excuses = Excuses::read(tree.file(excuse::PATH).map_or("", |file| &file.text))?;
    let stale = excuses.stale(mutants);
    let mut summary = Summary::new(&options.areas);
    let missed = try_all(&mut summary, &excuses)?;
    stale.iter().for_each(|line| println!("{line}"));
    print!("\n{summary}");
    Ok(missed)
}

/// The numbers of the mutants to try.
fn choose(options: &Options<'_>, mutants: &[Mutant], viable: &Viable, missed: &str) -> Vec<usize> {
    let missed: Vec<&str> = missed.lines().collect();
    let is_wanted = |number: &usize| {
        let mutant = &mutants[*number];
        !options.missed || missed.contains(&identity(mutant).as_str())
    };
    let wanted: Vec<usize> = viable.iter().copied().filter(is_wanted).collect();
    match options.sample {
        Some(size) => sample::sample(&wanted, size, options.seed),
        None => wanted,
    }
}

/// The name of a mutant with its file: what stays the same when lines move.
fn identity(mutant: &Mutant) -> String {
    format!("{}: {}", mutant.file, mutant.name())
}

/// Tries the chosen mutants and gives the identities of those that are missed.
fn try_all(
    suites: &[Suite],
    mutants: &[Mutant],
    chosen: &[usize],
    mut end: impl FnMut(&Mutant, Verdict) -> End,
) -> Result<Vec<String>> {
    let mut missed = Vec::new();
    let begin = Instant::now();
    for (position, number) in chosen.iter().enumerate() {
        let mutant = &mutants[*number];
        let verdict = judge::judge(suites, *number)?;
        if end(mutant, verdict) == End::Missed {
            let why = if verdict == Verdict::Unreached { " (no test runs it)" } else { "" };
            println!("missed: {mutant}{why}");
            missed.push(identity(mutant));
        }
        if (position + 1) % 50 == 0 {
            let seconds = begin.elapsed().as_secs();
            println!("… {} of {} after {seconds} s", position + 1, chosen.len());
        }
    }
    Ok(missed)
}

fn end(mutant: &Mutant, verdict: Verdict, excuses: &Excuses) -> End {
    let is_excused = excuses.covers(mutant);
    match verdict {
        Verdict::Missed | Verdict::Unreached if is_excused => End::Excused,
        Verdict::Missed | Verdict::Unreached => End::Missed,
        noticed => {
            if is_excused {
                println!("note: is excused, but tests notice it: {mutant}");
            }
            if noticed == Verdict::Timeout { End::Timeout } else { End::Caught }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_compiles_and_is_asked_for_is_tried() {
        let mutants = find::mutants("a.rs", "fn f() { a(); b(); c(); }").unwrap();
        let viable = Viable::from([0, 2]);
        let chosen = |arguments: &[&str], missed: &str| {
            choose(&Options::read(arguments).unwrap(), &mutants, &viable, missed)
        };
        assert_eq!(chosen(&["a"], ""), [0, 2]);
        assert_eq!(chosen(&["a", "--missed"], "a.rs: `f`: remove `c();`\n"), [2]);
        assert_eq!(chosen(&["a", "--sample", "1"], "").len(), 1);
    }

    /// An excuse would outlive its mutant when the line changes.
    #[test]
    fn every_excuse_is_for_a_mutant_that_exists() {
        let tree = Tree::load().unwrap();
        let page = tree.file(excuse::PATH).map_or("", |file| &file.text);
        let excuses = Excuses::read(page).unwrap();
        let found = tree.sources().flat_map(|file| find::mutants(&file.path, &file.text).unwrap());
        let stale = excuses.stale(&found.collect::<Vec<_>>());
        assert!(stale.is_empty(), "{}", stale.join("\n"));
    }
}
