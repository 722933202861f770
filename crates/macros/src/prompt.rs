//! `#[prompt]`: a function and, beside it, the prompt that it prepares.

use proc_macro2::TokenStream;
use quote::quote;

use crate::attr::{Syntax, Words};
use crate::check::Problems;
use crate::feature::{self, About, Plan};
use crate::function::Function;
use crate::kind::Kind;

const PROMPT: Syntax = Syntax::of_feature("`#[prompt(..)]`", &[]);

/// Expands `#[prompt(words)] function`.
pub(crate) fn expand(words: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match Function::read(function) {
        Ok(function) => function,
        Err(rejected) => return rejected,
    };
    let mut problems = Problems::default();
    let words = Words::parse(&PROMPT, words, &mut problems);
    let params = feature::read(&Kind::PROMPT, &mut function, &mut problems);
    let about = About::read(&words, &function, &mut problems);
    let completions = feature::completions(&params);
    let plan = Plan {
        kind: &Kind::PROMPT,
        constructor: "new",
        key: about.name.clone(),
        more: quote!(#about #completions),
        name: about.name,
    };
    feature::write(&function, &params, &plan, problems)
}
