//! The words inside of attributes: `#[tool(read_only, title = "Search")]`.
//!
//! All our attributes share one syntax: words with commas between them, some with a value. Each
//! attribute has a table of its words, so that the error for a wrong word can list the right ones.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, Token};

use crate::check::Problems;

/// An attribute that takes words.
pub(crate) struct Syntax {
    /// How people write it, for messages.
    attribute: &'static str,
    /// Words that other attributes have too.
    shared: &'static [Word],
    words: &'static [Word],
}

/// A word that an attribute understands.
pub(crate) struct Word {
    name: &'static str,
    value: Value,
}

impl Word {
    /// A description, instead of the doc comment.
    pub(crate) const DESCRIBE: Self = Self::expression("describe");

    pub(crate) const fn flag(name: &'static str) -> Self {
        Self { name, value: Value::None }
    }

    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, value: Value::Text }
    }

    pub(crate) const fn expression(name: &'static str) -> Self {
        Self { name, value: Value::Expression }
    }

    pub(crate) const fn optional(name: &'static str) -> Self {
        Self { name, value: Value::Optional }
    }
}

/// The value after a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Nothing: `read_only`.
    None,
    /// A string literal: `title = "Search"`.
    Text,
    /// Any expression: `default = Unit::Metric`.
    Expression,
    /// An expression or nothing: `default`.
    Optional,
}

/// The words of an attribute, each of them known and at most once.
#[derive(Default)]
pub(crate) struct Words(Vec<(Ident, Option<Expr>)>);

impl Words {
    /// Reads the words between the parentheses of an attribute.
    pub(crate) fn parse(syntax: &Syntax, tokens: TokenStream, problems: &mut Problems) -> Self {
        let mut words = Self::default();
        words.read(syntax, tokens, problems);
        words
    }

    /// Reads all attributes of that name, `#[arg]` or `#[arg(..)]`, and takes them away.
    pub(crate) fn take(
        syntax: &Syntax,
        name: &str,
        attributes: &mut Vec<Attribute>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut words = None;
        attributes.retain(|attribute| {
            if !attribute.path().is_ident(name) {
                return true;
            }
            let words = words.get_or_insert_with(Self::default);
            words.read_attribute(syntax, attribute, problems);
            false
        });
        words
    }

    /// Adds the words of an attribute.
    pub(crate) fn read_attribute(
        &mut self,
        syntax: &Syntax,
        attribute: &Attribute,
        problems: &mut Problems,
    ) {
        match &attribute.meta {
            Meta::Path(_) => {}
            Meta::List(list) => self.read(syntax, list.tokens.clone(), problems),
            Meta::NameValue(meta) => {
                let text = format!("words stand in parentheses: {}", syntax.attribute);
                problems.add(Error::new_spanned(meta, text));
            }
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The word as it was written, to point at.
    pub(crate) fn find(&self, name: &str) -> Option<&Ident> {
        self.0.iter().map(|(word, _)| word).find(|word| *word == name)
    }

    /// The value behind a word.
    pub(crate) fn value(&self, name: &str) -> Option<&Expr> {
        let (_, value) = self.0.iter().find(|(word, _)| word == name)?;
        value.as_ref()
    }

    /// The value behind a word that takes text.
    pub(crate) fn text(&self, name: &str) -> Option<&LitStr> {
        self.value(name).and_then(as_text)
    }

    fn read(&mut self, syntax: &Syntax, tokens: TokenStream, problems: &mut Problems) {
        let read = |input: ParseStream<'_>| {
            while !input.is_empty() {
                self.read_word(syntax, input, problems)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        let outcome = read.parse2(tokens);
        problems.check(outcome);
    }

    fn read_word(
        &mut self,
        syntax: &Syntax,
        input: ParseStream<'_>,
        problems: &mut Problems,
    ) -> Result<()> {
        let Ok(name) = input.call(Ident::parse_any) else {
            return Err(input.error(format!("expected {}", syntax.choices())));
        };
        let Some(word) = syntax.words().find(|word| name == word.name) else {
            let text = format!("unknown word `{name}`; expected {}", syntax.choices());
            return Err(Error::new_spanned(name, text));
        };
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse::<Expr>()?),
            None => None,
        };
        if let Err(problem) = word.value.accepts(&name, value.as_ref()) {
            problems.add(problem);
        } else if self.has(word.name) {
            problems.add(Error::new_spanned(&name, format!("`{name}` is given twice")));
        } else {
            self.0.push((name, value));
        }
        Ok(())
    }
}

impl Syntax {
    pub(crate) const fn new(attribute: &'static str, words: &'static [Word]) -> Self {
        Self { attribute, shared: &[], words }
    }

    /// The attribute of a tool, resource or prompt, with the words that all of them have.
    pub(crate) const fn of_feature(attribute: &'static str, words: &'static [Word]) -> Self {
        const SHARED: &[Word] = &[
            Word::text("name"),
            Word::text("title"),
            Word::DESCRIBE,
            Word::text("require_scope"),
            Word::text("step_up_scope"),
        ];
        Self { attribute, shared: SHARED, words }
    }

    /// Every word, the shared ones first.
    fn words(&self) -> impl Iterator<Item = &'static Word> {
        self.shared.iter().chain(self.words)
    }

    /// The words that may stand in this attribute, as a list to read.
    fn choices(&self) -> String {
        let show = |word: &Word| format!("`{}{}`", word.name, word.value.example());
        let words: Vec<String> = self.words().map(show).collect();
        match words.split_last() {
            None => format!("nothing in {}", self.attribute),
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
        }
    }
}

impl Value {
    fn example(self) -> &'static str {
        match self {
            Self::None | Self::Optional => "",
            Self::Text => " = \"..\"",
            Self::Expression => " = ..",
        }
    }

    fn accepts(self, name: &Ident, value: Option<&Expr>) -> Result<()> {
        match (self, value) {
            (Self::None, Some(value)) => {
                let text = format!("`{name}` takes no value; leave it out to say no");
                Err(Error::new_spanned(value, text))
            }
            (Self::Text | Self::Expression, None) => {
                let text = format!("`{name}` needs a value: `{name}{}`", self.example());
                Err(Error::new_spanned(name, text))
            }
            (Self::Text, Some(value)) if as_text(value).is_none() => {
                let text = format!("`{name}` needs text between quotes");
                Err(Error::new_spanned(value, text))
            }
            _ => Ok(()),
        }
    }
}

/// The string literal that the expression is, if it is one.
pub(crate) fn as_text(expression: &Expr) -> Option<&LitStr> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}
