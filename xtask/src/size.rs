//! `cargo xtask size`: how large the house is, as one table.
//!
//! A line of code is a line that is neither blank nor a comment. Code that is compiled for tests only
//! is counted by itself.

use std::fmt::{self, Write as _};

use anyhow::Result;

use crate::tidy::circles::{self, knots};
use crate::tidy::sizes::functions;
use crate::tree::{File, Tree};

/// The crates that a server or a client is made of.
const CORE: &[&str] = &[
    "bowline",
    "client",
    "http",
    "http-front",
    "json-schema",
    "macros",
    "proto",
    "server",
    "store",
    "store-redis",
    "store-sqlite",
    "transport",
    "types",
];

/// More lines than this are hard to hold.
const LARGE_FILE: usize = 500;

/// Runs `cargo xtask size`.
pub(crate) fn run() -> Result<()> {
    print!("{}", table(&Tree::load()?));
    Ok(())
}

fn table(tree: &Tree) -> String {
    let all: Vec<&File> = tree.sources().collect();
    let core = all.iter().copied().filter(|file| CORE.contains(&package(file)));
    let columns = [Figures::of(&core.collect::<Vec<_>>()), Figures::of(&all)];
    let mut text = "| crates, without tests | core | all |\n|---|---:|---:|\n".to_owned();
    let rows: [Row; 7] = [
        ("code lines", |it| it.lines.code.to_string()),
        ("functions: p95, p99, longest", |it| it.functions.to_string()),
        ("functions with > 4, > 6 parameters", |it| {
            format!("{}, {}", it.parameters(4), it.parameters(6))
        }),
        ("files of > 500 lines, largest", |it| format!("{}, {}", it.large_files(), it.files)),
        ("lines of documentation", Figures::documentation),
        ("`Arc<` per 1,000 lines", Figures::arcs_per_thousand),
        ("files", |it| it.files.sorted.len().to_string()),
    ];
    for (name, figure) in rows {
        let [core, all] = columns.each_ref().map(figure);
        let _ = writeln!(text, "| {name} | {core} | {all} |");
    }
    let (knot, folder) = knots::largest(tree);
    let _ = writeln!(text, "| largest circle of files | | {} |", circles::largest(tree));
    let _ = writeln!(text, "| largest knot of modules | | {knot} ({folder}) |");
    text.push_str(&by_folder(tree));
    text
}

/// The code lines of each crate and folder.
fn by_folder(tree: &Tree) -> String {
    let mut text = "\n| code lines | shipped | tests |\n|---|---:|---:|\n".to_owned();
    let mut folders: Vec<&str> = tree.rust().map(folder).collect();
    folders.dedup();
    for group in ["crates/", "xtask", "tests", ""] {
        let (mut shipped, mut tests) = (0, 0);
        for name in folders.iter().filter(|name| is_in(name, group)) {
            let own = tree.rust().filter(|file| folder(file) == *name);
            let (mut code, mut test) = (0, 0);
            own.map(Lines::of).for_each(|it| (code, test) = (code + it.code, test + it.tests));
            let _ = writeln!(text, "| {name} | {code} | {test} |");
            (shipped, tests) = (shipped + code, tests + test);
        }
        if group == "crates/" {
            let _ = writeln!(text, "| **all of crates** | **{shipped}** | **{tests}** |");
        }
    }
    text
}

/// Whether a folder belongs to a group; the empty group has what no other has.
fn is_in(folder: &str, group: &str) -> bool {
    match group {
        "" => !folder.starts_with("crates/") && !matches!(folder, "xtask" | "tests"),
        "crates/" => folder.starts_with(group),
        _ => folder == group,
    }
}

/// `crates/NAME`, or the first folder of the path.
fn folder(file: &File) -> &str {
    let depth = if file.path.starts_with("crates/") { 1 } else { 0 };
    let end = file.path.match_indices('/').nth(depth).map_or(0, |(at, _)| at);
    file.path.get(..end).unwrap_or_default()
}

fn package(file: &File) -> &str {
    file.path.split('/').nth(1).unwrap_or_default()
}

/// A figure and its name.
type Row = (&'static str, fn(&Figures) -> String);

/// What is counted in a set of files.
struct Figures {
    lines: Lines,
    files: Spread,
    functions: Spread,
    parameters: Vec<usize>,
}

impl Figures {
    fn of(files: &[&File]) -> Self {
        let mut lines = Lines::default();
        for file in files {
            lines.add(&Lines::of(file));
        }
        let shipped = files.iter().flat_map(|file| {
            functions(file).into_iter().filter(|function| !file.is_test_line(function.line))
        });
        let (lengths, parameters): (Vec<_>, Vec<_>) =
            shipped.map(|function| (function.lines, function.parameters)).unzip();
        let files = files.iter().map(|file| file.text.lines().count());
        Self { lines, files: Spread::of(files), functions: Spread::of(lengths), parameters }
    }

    fn parameters(&self, more_than: usize) -> usize {
        self.parameters.iter().filter(|count| **count > more_than).count()
    }

    fn large_files(&self) -> usize {
        self.files.sorted.iter().filter(|lines| **lines > LARGE_FILE).count()
    }

    fn documentation(&self) -> String {
        let lines = self.lines.docs + self.lines.comments + self.lines.code;
        format!("{} %", (self.lines.docs * 100).checked_div(lines).unwrap_or_default())
    }

    fn arcs_per_thousand(&self) -> String {
        let tenths = (self.lines.arcs * 10_000).checked_div(self.lines.code).unwrap_or_default();
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}

/// The lines of a file by what they are for; blank ones are not counted.
#[derive(Default)]
struct Lines {
    code: usize,
    tests: usize,
    docs: usize,
    comments: usize,
    /// How often `Arc<` stands in the code.
    arcs: usize,
}

impl Lines {
    fn of(file: &File) -> Self {
        let mut lines = Self::default();
        let is_test = !file.path.starts_with("crates/") && file.is_test();
        for (index, text) in file.text.lines().map(str::trim).enumerate() {
            let is_doc = text.starts_with("///") || text.starts_with("//!");
            if text.is_empty() {
            } else if is_test || file.is_test_line(index + 1) {
                lines.tests += usize::from(!text.starts_with("//"));
            } else if is_doc {
                lines.docs += 1;
            } else if text.starts_with("//") {
                lines.comments += 1;
            } else {
                lines.code += 1;
                lines.arcs += text.matches("Arc<").count();
            }
        }
        lines
    }

    fn add(&mut self, other: &Self) {
        self.code += other.code;
        self.tests += other.tests;
        self.docs += other.docs;
        self.comments += other.comments;
        self.arcs += other.arcs;
    }
}

/// How a set of lengths is spread.
struct Spread {
    sorted: Vec<usize>,
}

impl Spread {
    fn of(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut sorted: Vec<usize> = lengths.into_iter().collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    /// The smallest length that this share of all does not exceed, in hundredths.
    fn percentile(&self, percent: usize) -> usize {
        let rank = (self.sorted.len() * percent).div_ceil(100).max(1);
        self.sorted.get(rank - 1).copied().unwrap_or_default()
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p95, p99, longest] = [95, 99, 100].map(|percent| self.percentile(percent));
        write!(f, "{p95}, {p99}, {longest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_they_are_for() {
        let text = "//! A.\n\nuse a::B;\n// Why.\n/// C.\nfn c(a: Arc<B>) {}\n\
                    #[cfg(test)]\nmod tests {\n    // Why.\n    fn d() {}\n}\n";
        let tree = Tree::of(&[("crates/a/src/lib.rs", text), ("crates/a/tests/b.rs", "fn e() {}")]);
        let lines = Lines::of(&tree.files[0]);
        assert_eq!((lines.code, lines.docs, lines.comments, lines.tests), (2, 2, 1, 4));
        assert_eq!(lines.arcs, 1);
        assert_eq!(Lines::of(&tree.files[1]).tests, 1);
    }

    #[test]
    fn the_table_has_the_figures_of_crates_and_the_lines_of_folders() {
        let tree = Tree::of(&[
            ("crates/cli/src/lib.rs", "//! A.\nfn f(a: u8) {\n    f();\n}\n"),
            ("xtask/src/main.rs", "fn f() {}\n"),
        ]);
        let text = table(&tree);
        for row in [
            "| code lines | 0 | 3 |",
            "| functions: p95, p99, longest | 0, 0, 0 | 3, 3, 3 |",
            "| lines of documentation | 0 % | 25 % |",
            "| crates/cli | 3 | 0 |",
            "| xtask | 1 | 0 |",
        ] {
            assert!(text.contains(row), "{row}: {text}");
        }
    }
}
