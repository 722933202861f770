//! Writes all mutants of a file into it at once, each behind a switch.
//!
//! A test run chooses one by its number, so that the crate is compiled once and not once for each
//! mutant. If a mutant does not compile, the place of the error in the embedded text identifies it.

use std::ops::Range;

use super::mutant::{Form, Mutant};

/// The variables that a crate with embedded mutants reads.
pub(super) const CHOSEN: &str = "BOWLINE_MUTANT";
pub(super) const REACHED: &str = "BOWLINE_MUTANTS_REACHED";

/// A file with its mutants in it.
pub(super) struct Embedded {
    pub(super) text: String,
    places: Vec<Place>,
}

/// Where a mutant stands in the embedded text.
struct Place {
    number: usize,
    /// The inserted text.
    change: Range<usize>,
    /// The inserted text and the code that it replaces.
    whole: Range<usize>,
}

/// A piece of text to insert.
struct Insert {
    at: usize,
    rank: Rank,
    number: usize,
    text: String,
}

/// The order of insertions at the same byte: ends of ranges, inner ranges first; then insertions
/// without a range; then starts of ranges, outer ranges first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Close { start: std::cmp::Reverse<usize>, index: std::cmp::Reverse<usize> },
    Within { index: usize },
    Open { end: std::cmp::Reverse<usize>, index: usize },
}

impl Embedded {
    /// Embeds mutants, each with its number, into the text that they were found in.
    pub(super) fn new<'m>(
        text: &str,
        mutants: impl IntoIterator<Item = (usize, &'m Mutant)>,
    ) -> Self {
        let mut inserts: Vec<Insert> = mutants
            .into_iter()
            .enumerate()
            .flat_map(|(index, (number, mutant))| inserts(index, number, mutant))
            .collect();
        inserts.sort_by_key(|insert| (insert.at, insert.rank));

        let mut embedded = Self { text: String::new(), places: Vec::new() };
        let mut copied = 0;
        for insert in inserts {
            embedded.text.push_str(text.get(copied..insert.at).unwrap_or_default());
            copied = insert.at;
            embedded.put(&insert);
        }
        embedded.text.push_str(text.get(copied..).unwrap_or_default());
        embedded
    }

    fn put(&mut self, insert: &Insert) {
        let begin = self.text.len();
        self.text.push_str(&insert.text);
        let end = self.text.len();
        let number = insert.number;
        match insert.rank {
            Rank::Close { .. } => {
                if let Some(place) = self.places.iter_mut().find(|place| place.number == number) {
                    place.whole.end = end;
                }
            }
            _ => self.places.push(Place { number, change: begin..end, whole: begin..end }),
        }
    }

    /// The mutants that caused an error of the compiler with these places, the main one first.
    pub(super) fn blamed(&self, spans: &[Range<usize>]) -> Vec<usize> {
        let meets = |one: &Range<usize>, other: &Range<usize>| {
            one.start < other.end && other.start < one.end
        };
        let holds = |one: &Range<usize>, other: &Range<usize>| {
            one.start <= other.start && other.end <= one.end
        };
        // The changed text itself; else the innermost mutant around the place; else those inside.
        let changed = self.places.iter().filter(|place| {
            spans.iter().any(|span| holds(&place.change, span) && meets(&place.change, span))
        });
        let changed: Vec<usize> = changed.map(|place| place.number).collect();
        if !changed.is_empty() {
            return changed;
        }
        let Some(main) = spans.first() else { return Vec::new() };
        let around = self.places.iter().filter(|place| holds(&place.whole, main));
        if let Some(place) = around.min_by_key(|place| place.whole.len()) {
            return vec![place.number];
        }
        let inside = self.places.iter().filter(|place| meets(main, &place.whole));
        inside.map(|place| place.number).collect()
    }
}

fn inserts(index: usize, number: usize, mutant: &Mutant) -> Vec<Insert> {
    use std::cmp::Reverse;

    let is_on = format!("crate::mutation::is_on({number})");
    let Range { start, end } = mutant.range;
    let open = |text| {
        let rank = Rank::Open { end: Reverse(end), index };
        Insert { at: start, rank, number, text }
    };
    let close = |text: &str| {
        let rank = Rank::Close { start: Reverse(start), index: Reverse(index) };
        Insert { at: end, rank, number, text: text.to_owned() }
    };
    let within = |text| Insert { at: start, rank: Rank::Within { index }, number, text };
    match &mutant.form {
        Form::Replace(with) => {
            vec![open(format!("(if {is_on} {{ {with} }} else {{ ")), close(" })")]
        }
        Form::Remove => vec![open(format!("if !{is_on} {{ ")), close(" }")],
        Form::Return(value) => vec![within(format!(" if {is_on} {{ return {value}; }}"))],
        Form::SkipArm => vec![within(format!(" if !{is_on}"))],
    }
}

/// The module that tells a crate which of its mutants is chosen, for its `lib.rs`.
///
/// It also records which mutants are reached, in the file that an environment variable names.
pub(super) fn switch(mutants: usize) -> String {
    format!(
        r#"
#[allow(dead_code, missing_docs, clippy::all)]
mod mutation {{
    use std::fs::{{File, OpenOptions}};
    use std::io::Write as _;
    use std::sync::OnceLock;
    use std::sync::atomic::{{AtomicBool, Ordering}};

    struct Switch {{ chosen: Option<usize>, reached: Option<File> }}

    static SWITCH: OnceLock<Switch> = OnceLock::new();
    static SEEN: [AtomicBool; {mutants}] = [const {{ AtomicBool::new(false) }}; {mutants}];

    pub(crate) fn is_on(number: usize) -> bool {{
        let switch = SWITCH.get_or_init(|| Switch {{
            chosen: std::env::var("{CHOSEN}").ok().and_then(|number| number.parse().ok()),
            reached: std::env::var_os("{REACHED}")
                .and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok()),
        }});
        if let Some(mut file) = switch.reached.as_ref() {{
            if !SEEN[number].swap(true, Ordering::Relaxed) {{
                let _ = file.write_all(format!("{{number}}\n").as_bytes());
            }}
        }}
        switch.chosen == Some(number)
    }}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn embedded(text: &str) -> Embedded {
        let mutants = find::mutants("a.rs", text).unwrap();
        Embedded::new(text, mutants.iter().enumerate())
    }

    #[test]
    fn without_mutants_nothing_changes() {
        let text = "const A: usize = 1 + 1;\n";
        assert_eq!(embedded(text).text, text);
    }

    #[test]
    fn nested_mutants_each_have_their_switch_and_it_is_still_rust() {
        let text = "fn f(a: u8, b: bool) -> u8 { if a + 1 < 2 && b { g(); } match a { 0 => 1, _ => a - 1 } }";
        let mutants = find::mutants("a.rs", text).unwrap();
        let embedded = embedded(text);
        assert!(syn::parse_file(&embedded.text).is_ok(), "{}", embedded.text);
        for number in 0..mutants.len() {
            let call = format!("is_on({number})");
            assert_eq!(embedded.text.matches(&call).count(), 1, "{call} in {}", embedded.text);
        }
    }

    #[test]
    fn a_replacement_keeps_the_original_for_when_it_is_off() {
        let embedded = embedded("fn f() { let a = 1 - 2; }");
        let text = "let a = (if crate::mutation::is_on(1) { 1 + 2 } else { 1 - 2 });";
        assert!(embedded.text.contains(text), "{}", embedded.text);
    }

    #[test]
    fn a_complaint_is_laid_at_the_changed_text_first_then_at_the_innermost_mutant_around() {
        let embedded = embedded("fn f() { let a = 1 - 2 - 3; }");
        let find = |part: &str| {
            let start = embedded.text.find(part).unwrap();
            start..start + part.len()
        };
        let outer = embedded
            .places
            .iter()
            .find(|place| embedded.text[place.change.clone()].contains("1 - 2 + 3"));
        let outer = outer.unwrap().number;
        assert_eq!(embedded.blamed(&[find("1 - 2 + 3")]), [outer]);
        // The error is in the original text and names the changed text as its cause.
        assert_eq!(embedded.blamed(&[find("1 - 2 }"), find("1 - 2 + 3")]), [outer]);
        let inner = embedded.blamed(&[find("1 - 2 }")]);
        assert!(inner.len() == 1 && inner[0] != outer, "{inner:?}");
        assert_eq!(embedded.blamed(&[find("fn f()")]), [0; 0]);
    }
}
