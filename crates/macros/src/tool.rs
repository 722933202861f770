//! `#[tool]`: a function and, beside it, the tool that calls it; or an `impl` and its tools.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::attr::{Syntax, Word, Words};
use crate::check::{self, Problems};
use crate::feature::{self, About, Plan};
use crate::function::Function;
use crate::impl_block;
use crate::kind::Kind;

pub(crate) const TOOL: Syntax = Syntax::of_feature(
    "`#[tool(..)]`",
    &[
        Word::flag("read_only"),
        Word::flag("destructive"),
        Word::flag("additive"),
        Word::flag("idempotent"),
        Word::flag("closed_world"),
        Word::optional("task"),
        Word::text("ui"),
        Word::flag("app_only"),
        Word::flag("model_only"),
    ],
);

/// Words that are methods of the builder without arguments.
const HINTS: &[&str] = &[
    "read_only",
    "destructive",
    "additive",
    "idempotent",
    "closed_world",
    "app_only",
    "model_only",
];

/// Words that say how much a tool changes; one of them is enough.
const EFFECTS: &[&str] = &["read_only", "destructive", "additive"];

/// Words that say who may call a tool.
const CALLERS: &[&str] = &["app_only", "model_only"];

/// Expands `#[tool(words)] item`.
pub(crate) fn expand(words: TokenStream, item: TokenStream) -> TokenStream {
    if impl_block::is_block(&item) {
        return impl_block::expand(words, item);
    }
    let mut function = match Function::read(item) {
        Ok(function) => function,
        Err(rejected) => return rejected,
    };
    let mut problems = Problems::default();
    let words = Words::parse(&TOOL, words, &mut problems);
    let params = feature::read(&Kind::TOOL, &mut function, &mut problems);
    let plan = plan(&words, &function, &mut problems);
    feature::write(&function, &params, &plan, problems)
}

/// What `task` or `task = "required"` adds to the builder.
fn task(words: &Words, problems: &mut Problems) -> Option<TokenStream> {
    let word = words.find("task")?;
    let support = match (words.value("task"), words.text("task")) {
        (None, _) => quote!(Optional),
        (Some(_), Some(text)) if text.value() == "required" => quote!(Required),
        (Some(value), _) => {
            problems.point_at(value, format!("write `{word}` or `{word} = \"required\"`"));
            return None;
        }
    };
    Some(quote!(.task(::bowline::TaskSupport::#support)))
}

/// What the words and the comment say about a tool.
pub(crate) fn plan(words: &Words, function: &Function, problems: &mut Problems) -> Plan {
    let about = About::read(words, function, problems);
    check::name(&about.name, about.place, problems);
    for alternatives in [EFFECTS, CALLERS] {
        let found: Vec<&Ident> = alternatives.iter().filter_map(|it| words.find(it)).collect();
        if let [first, second, ..] = found[..] {
            problems.point_at(second, format!("`{first}` and `{second}` exclude each other"));
        }
    }
    let hints = HINTS.iter().filter_map(|hint| words.find(hint));
    let task = task(words, problems);
    let ui = words.text("ui").map(|uri| quote!(.ui(#uri)));
    Plan {
        kind: &Kind::TOOL,
        constructor: "new",
        key: about.name.clone(),
        more: quote!(#about #(.#hints())* #task #ui),
        name: about.name,
    }
}
