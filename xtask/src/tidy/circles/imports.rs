//! The paths that a file imports or names, read from its tokens.

use crate::tokens::{Bracket, Kind, Token};
use crate::tree::File;

/// The words that a path of the own crate may begin with.
const ANCHORS: &[&str] = &["crate", "super", "self"];

/// A path in a file, such as `crate::frame::Frame`.
pub(super) struct Import {
    /// The inline modules around it, the outermost first.
    pub(super) within: Vec<String>,
    pub(super) path: Vec<String>,
    pub(super) form: Form,
}

/// How a path is written.
pub(super) enum Form {
    /// `use path` or `use path as name`: the name that it gets here.
    Use { name: String },
    /// The same with `pub`, whatever the `pub` is restricted to.
    Reexport { name: String },
    /// A path in the code that begins with one of [`ANCHORS`].
    Inline,
}

/// The paths of a file, those in tests left out. A `*` stands as the last part of its path.
pub(super) fn read(file: &File) -> Vec<Import> {
    let mut reader = Reader { file, within: Vec::new(), imports: Vec::new() };
    reader.level(&file.tokens);
    reader.imports
}

struct Reader<'a> {
    file: &'a File,
    within: Vec<String>,
    imports: Vec<Import>,
}

impl Reader<'_> {
    fn level(&mut self, level: &[Token]) {
        let mut position = 0;
        while let Some(token) = level.get(position) {
            if self.file.is_test_line(token.line) {
                position += 1;
            } else if token.is_word("use") {
                let rest = level.get(position + 1..).unwrap_or_default();
                let length = rest.iter().position(|token| token.is_mark(";"));
                let length = length.unwrap_or(rest.len());
                let is_public = is_public(level, position);
                self.declaration(rest.get(..length).unwrap_or_default(), &[], is_public);
                position += 1 + length;
            } else if is_anchored(level, position) {
                self.push(inline(level, position), Form::Inline);
                position += 1;
            } else {
                self.inner(level, position);
                position += 1;
            }
        }
    }

    /// Reads what stands between brackets; `mod name { … }` is a module of its own.
    fn inner(&mut self, level: &[Token], position: usize) {
        let Some(Kind::Group { inner, .. }) = level.get(position).map(|token| &token.kind) else {
            return;
        };
        let before = |steps: usize| position.checked_sub(steps).and_then(|at| level.get(at));
        let module = before(1).and_then(Token::word);
        match module.filter(|_| before(2).is_some_and(|token| token.is_word("mod"))) {
            Some(name) => {
                self.within.push(name.to_owned());
                self.level(inner);
                self.within.pop();
            }
            None => self.level(inner),
        }
    }

    /// Reads the tree of a `use` declaration: `a::{b, c as d, e::*}`.
    fn declaration(&mut self, tokens: &[Token], prefix: &[String], is_public: bool) {
        for branch in tokens.split(|token| token.is_mark(",")) {
            let mut path = prefix.to_vec();
            let mut name = None;
            for (position, token) in branch.iter().enumerate() {
                if let Some(inner) = token.group(Bracket::Curly) {
                    self.declaration(inner, &path, is_public);
                    path.clear();
                } else if token.is_word("as") {
                    name = branch.get(position + 1).and_then(Token::word).map(str::to_owned);
                    break;
                } else if token.is_mark("*") {
                    path.push("*".to_owned());
                } else if let Some(word) = token.word() {
                    path.push(word.to_owned());
                }
            }
            // `a::{self}` is `a`; `self::a` keeps its first word.
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            if let Some(last) = path.last() {
                let name = name.unwrap_or_else(|| last.clone());
                let form = if is_public { Form::Reexport { name } } else { Form::Use { name } };
                self.push(path, form);
            }
        }
    }

    fn push(&mut self, path: Vec<String>, form: Form) {
        self.imports.push(Import { within: self.within.clone(), path, form });
    }
}

/// Whether the `use` at this position has a `pub` or `pub(…)` before it.
fn is_public(level: &[Token], position: usize) -> bool {
    let before = |steps: usize| position.checked_sub(steps).and_then(|at| level.get(at));
    let is_pub = |token: Option<&Token>| token.is_some_and(|token| token.is_word("pub"));
    let is_restriction = before(1).is_some_and(|token| token.group(Bracket::Round).is_some());
    is_pub(before(1)) || (is_restriction && is_pub(before(2)))
}

/// Whether a path that begins with one of [`ANCHORS`] starts here; `pub(in crate::a)` is none.
fn is_anchored(level: &[Token], position: usize) -> bool {
    let is_anchor = level[position].word().is_some_and(|word| ANCHORS.contains(&word));
    let goes_on = level.get(position + 1).is_some_and(|token| token.is_mark("::"));
    let is_other = position
        .checked_sub(1)
        .and_then(|at| level.get(at))
        .is_some_and(|before| before.is_mark("::") || before.is_mark("$") || before.is_word("in"));
    is_anchor && goes_on && !is_other
}

/// The path that starts here.
fn inline(level: &[Token], position: usize) -> Vec<String> {
    let mut path = Vec::new();
    for pair in level.get(position..).unwrap_or_default().chunks(2) {
        path.extend(pair.first().and_then(Token::word).map(str::to_owned));
        if !pair.get(1).is_some_and(|token| token.is_mark("::")) {
            break;
        }
    }
    path
}
