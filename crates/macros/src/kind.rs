//! The kinds of features that functions become.

use proc_macro2::{Ident, Span};

use crate::attr::{Syntax, Word};

/// A kind of feature, in the words of attributes, of messages and of the library.
pub(crate) struct Kind {
    /// The attribute, and the method of the trait that gives the feature.
    pub(crate) attribute: &'static str,
    /// How messages call one of them.
    pub(crate) what: &'static str,
    /// What to do about a `self`.
    pub(crate) shared: &'static str,
    /// The macro that lists them, with an example.
    pub(crate) list: &'static str,
    /// The type that is built.
    feature: &'static str,
    /// The trait of the struct that stands beside a function.
    function: &'static str,
    /// What the result has to fulfil.
    output: &'static str,
    /// What `#[arg(..)]` understands.
    pub(crate) arg: Syntax,
    /// Types that are extractors here and nowhere else.
    pub(crate) extractors: &'static [&'static str],
}

/// How messages call the attribute of a parameter.
const ARG: &str = "`#[arg(..)]`";

/// What to do about a `self` where methods cannot be used.
const STATE: &str = "what calls share is a parameter of type `State<T>`";

const COMPLETE: Word = Word::expression("complete");
const DEFAULT: Word = Word::optional("default");
const RANGE: Word = Word::expression("range");
const RENAME: Word = Word::text("rename");

impl Kind {
    pub(crate) const TOOL: Self = Self {
        attribute: "tool",
        what: "a tool",
        shared: "mark the `impl` around it with `#[tool]` as well, or take what calls share as a \
                 parameter of type `State<T>`",
        list: "tools![add, weather::forecast]",
        feature: "Tool",
        function: "ToolFn",
        output: "ToolOutput",
        arg: Syntax::new(ARG, &[DEFAULT, Word::DESCRIBE, RANGE, RENAME]),
        extractors: &[],
    };

    pub(crate) const PROMPT: Self = Self {
        attribute: "prompt",
        what: "a prompt",
        shared: STATE,
        list: "prompts![review, git::summary]",
        feature: "Prompt",
        function: "PromptFn",
        output: "PromptOutput",
        arg: Syntax::new(ARG, &[COMPLETE, DEFAULT, Word::DESCRIBE, RANGE, RENAME]),
        extractors: &[],
    };

    pub(crate) const RESOURCE: Self = Self {
        attribute: "resource",
        what: "a resource",
        shared: STATE,
        list: "resources![config, users::profile]",
        feature: "Resource",
        function: "ResourceFn",
        output: "ResourceOutput",
        // A template has only the names of its variables, and no descriptions.
        arg: Syntax::new(ARG, &[COMPLETE, DEFAULT, RANGE, RENAME]),
        extractors: &["Uri"],
    };

    pub(crate) fn method(&self) -> Ident {
        ident(self.attribute)
    }

    pub(crate) fn feature(&self) -> Ident {
        ident(self.feature)
    }

    pub(crate) fn function(&self) -> Ident {
        ident(self.function)
    }

    pub(crate) fn output(&self) -> Ident {
        ident(self.output)
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
