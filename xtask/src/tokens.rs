//! Rust source as a tree of tokens with line numbers.
//!
//! Checks look at tokens, so that comments and string literals never trip them and the inside of
//! a macro call counts like any other code. There is no grammar here: a check recognises the few
//! sequences it cares about.

use std::ops::RangeInclusive;
use std::str::FromStr;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A token, and the line it begins on.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) line: usize,
}

/// What a token is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Word(String),
    /// An operator or other punctuation, as one token where the language has one (`=>`, not `=`
    /// `>`).
    Mark(String),
    /// A literal as it is written, with its quotes.
    Literal(String),
    /// The tokens between two brackets.
    Group { bracket: Bracket, inner: Vec<Token>, last_line: usize },
}

/// The kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    Round,
    Square,
    Curly,
    /// Invisible brackets; only macros make them.
    None,
}

/// Operators of more than one character, the longest first.
const MARKS: &[&str] = &[
    "..=", "...", "<<=", ">>=", "::", "=>", "->", "<=", ">=", "==", "!=", "..", "&&", "||", "<<",
    ">>", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=",
];

impl Token {
    /// Whether it is this identifier or keyword.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(text) if text == word)
    }

    /// Whether it is this punctuation.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        matches!(&self.kind, Kind::Mark(text) if text == mark)
    }

    /// The identifier or keyword it is.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(text) => Some(text),
            _ => None,
        }
    }

    /// The punctuation it is.
    pub(crate) fn mark(&self) -> Option<&str> {
        match &self.kind {
            Kind::Mark(text) => Some(text),
            _ => None,
        }
    }

    /// The tokens between these brackets.
    pub(crate) fn group(&self, wanted: Bracket) -> Option<&[Token]> {
        match &self.kind {
            Kind::Group { bracket, inner, .. } if *bracket == wanted => Some(inner),
            _ => None,
        }
    }

    /// The line on which it ends.
    pub(crate) fn last_line(&self) -> usize {
        match &self.kind {
            Kind::Group { last_line, .. } => *last_line,
            _ => self.line,
        }
    }
}

/// Reads source text. Text that is not Rust gives the error of the tokenizer.
pub(crate) fn read(source: &str) -> Result<Vec<Token>, String> {
    TokenStream::from_str(source).map(convert).map_err(|error| error.to_string())
}

/// Whether a path such as `TcpListener::bind` begins at this position.
pub(crate) fn is_path(tokens: &[Token], position: usize, path: &[&str]) -> bool {
    path.iter().enumerate().all(|(index, word)| {
        let at = position + index * 2;
        let joined = index == 0 || tokens.get(at - 1).is_some_and(|token| token.is_mark("::"));
        joined && tokens.get(at).is_some_and(|token| token.is_word(word))
    })
}

/// Calls `visit` with every list of sibling tokens, outermost first.
pub(crate) fn each_level<'a>(tokens: &'a [Token], visit: &mut impl FnMut(&'a [Token])) {
    visit(tokens);
    for token in tokens {
        if let Kind::Group { inner, .. } = &token.kind {
            each_level(inner, visit);
        }
    }
}

/// Whether a word occurs anywhere in these tokens.
pub(crate) fn mentions(tokens: &[Token], wanted: &str) -> bool {
    tokens.iter().any(|token| match &token.kind {
        Kind::Word(word) => word == wanted,
        Kind::Group { inner, .. } => mentions(inner, wanted),
        Kind::Mark(_) | Kind::Literal(_) => false,
    })
}

/// The lines of items that are compiled for tests only.
pub(crate) fn test_lines(tokens: &[Token]) -> Vec<RangeInclusive<usize>> {
    let mut lines = Vec::new();
    each_level(tokens, &mut |level| {
        for (position, token) in level.iter().enumerate() {
            let Some(next) = level.get(position + 1) else {
                continue;
            };
            if !token.is_mark("#") {
                continue;
            }
            if next.is_mark("!") && level.get(position + 2).is_some_and(is_test_attribute) {
                lines.push(0..=usize::MAX);
            }
            if is_test_attribute(next) {
                lines.push(token.line..=item_end(&level[position + 1..]));
            }
        }
    });
    lines
}

fn is_test_attribute(token: &Token) -> bool {
    let Some(inner) = token.group(Bracket::Square) else {
        return false;
    };
    match inner {
        [cfg, condition] if cfg.is_word("cfg") => {
            let condition = condition.group(Bracket::Round).unwrap_or_default();
            mentions(condition, "test") && !mentions(condition, "not")
        }
        [only] => only.is_word("test"),
        _ => false,
    }
}

/// The line on which the item after an attribute ends.
fn item_end(tokens: &[Token]) -> usize {
    tokens
        .iter()
        .find(|token| token.is_mark(";") || token.group(Bracket::Curly).is_some())
        .or(tokens.last())
        .map_or(0, Token::last_line)
}

fn convert(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut punctuation = String::new();
    let mut punctuation_line = 0;
    for tree in stream {
        let line = tree.span().start().line;
        let kind = match tree {
            TokenTree::Punct(punct) => {
                if punctuation.is_empty() {
                    punctuation_line = line;
                }
                punctuation.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    split_marks(&mut punctuation, punctuation_line, &mut tokens);
                }
                continue;
            }
            TokenTree::Ident(ident) => Kind::Word(ident.to_string()),
            TokenTree::Literal(literal) => Kind::Literal(literal.to_string()),
            TokenTree::Group(group) => Kind::Group {
                bracket: bracket(group.delimiter()),
                last_line: group.span_close().end().line,
                inner: convert(group.stream()),
            },
        };
        split_marks(&mut punctuation, punctuation_line, &mut tokens);
        tokens.push(Token { kind, line });
    }
    split_marks(&mut punctuation, punctuation_line, &mut tokens);
    tokens
}

fn bracket(delimiter: Delimiter) -> Bracket {
    match delimiter {
        Delimiter::Parenthesis => Bracket::Round,
        Delimiter::Bracket => Bracket::Square,
        Delimiter::Brace => Bracket::Curly,
        Delimiter::None => Bracket::None,
    }
}

/// Cuts a run of punctuation into the operators it is made of.
fn split_marks(run: &mut String, line: usize, tokens: &mut Vec<Token>) {
    let mut rest = run.as_str();
    while let Some(first) = rest.chars().next() {
        let known = MARKS.iter().find(|mark| rest.starts_with(**mark));
        let length = known.map_or(first.len_utf8(), |mark| mark.len());
        let (mark, after) = rest.split_at(length);
        tokens.push(Token { kind: Kind::Mark(mark.to_owned()), line });
        rest = after;
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(source: &str) -> Vec<String> {
        let tokens = read(source).unwrap();
        tokens.iter().filter_map(Token::mark).map(str::to_owned).collect()
    }

    #[test]
    fn operators_are_read_whole() {
        assert_eq!(marks("a <= b => c::d -> e ..= f"), ["<=", "=>", "::", "->", "..="]);
        assert_eq!(marks("Vec<Option<u8>>"), ["<", "<", ">>"]);
        assert_eq!(marks("!matches!(a)"), ["!", "!"]);
    }

    #[test]
    fn comments_and_text_are_not_code() {
        let tokens = read("// TcpListener::bind\nlet a = \"TcpListener::bind\";").unwrap();
        assert!(!mentions(&tokens, "TcpListener"));
    }

    #[test]
    fn a_path_is_found_by_its_words() {
        let tokens = read("tokio::net::TcpListener::bind(a)").unwrap();
        assert!(is_path(&tokens, 4, &["TcpListener", "bind"]));
        assert!(!is_path(&tokens, 2, &["TcpListener", "bind"]));
        assert!(!is_path(&tokens, 6, &["bind", "more"]));
    }

    #[test]
    fn test_modules_are_known_by_their_lines() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n";
        assert_eq!(test_lines(&read(source).unwrap()), [2..=5]);
    }

    #[test]
    fn a_file_may_be_for_tests_as_a_whole() {
        assert_eq!(test_lines(&read("#![cfg(test)]\nfn a() {}").unwrap()), [0..=usize::MAX]);
    }

    #[test]
    fn code_for_everything_but_tests_is_no_test() {
        assert_eq!(test_lines(&read("#[cfg(not(test))]\nfn a() {}").unwrap()), []);
    }
}
