//! `#[bowline::test]`: one test for each era or revision, and each transport.
//!
//! The function stays where it is. Beside it stands a module of the same name with a `#[test]` per
//! case, so that a report reads `asks_before_it_deploys::stdio::v2026_07_28`. Which cases there
//! are is for the test kit to say, so its macro `tests!` writes them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, FnArg};

use crate::attr::{Syntax, Word, Words};
use crate::check::{self, Problems};
use crate::function::Function;

const TEST: Syntax =
    Syntax::new("`#[bowline::test(..)]`", &[Word::flag(EVERY_REVISION), Word::flag(STATELESS)]);

const EVERY_REVISION: &str = "every_revision";
const STATELESS: &str = "stateless";

/// Attributes that belong to a test and not to the function that it calls.
const ABOUT_TESTS: &[&str] = &["ignore", "should_panic"];

/// Expands `#[bowline::test] function`.
pub(crate) fn expand(words: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match Function::read(function) {
        Ok(function) => function,
        Err(rejected) => return rejected,
    };
    let mut problems = Problems::default();
    let words = Words::parse(&TEST, words, &mut problems);
    check::stands_once(&mut function, "test", &mut problems);
    check(&function, &mut problems);
    if !problems.is_empty() {
        let problems = problems.into_compile_errors();
        return quote!(#[cfg(test)] #function #problems);
    }
    let about_tests: Vec<Attribute> = function
        .attributes
        .extract_if(.., |attribute| ABOUT_TESTS.iter().any(|name| attribute.path().is_ident(name)))
        .collect();
    let which = if words.has(EVERY_REVISION) { EVERY_REVISION } else { "every_era" };
    let which = format_ident!("{which}");
    let stateless = words.has(STATELESS).then(|| format_ident!("{STATELESS}"));
    let name = &function.signature.ident;
    let output = &function.signature.output;
    let conditions = function.conditions();
    quote! {
        #[cfg(test)]
        #function

        #(#conditions)*
        #[cfg(test)]
        mod #name {
            #[allow(unused_imports)]
            use super::*;

            ::bowline_testing::tests! { #stateless #which { #(#about_tests)* fn #name() #output } }
        }
    }
}

fn check(function: &Function, problems: &mut Problems) {
    let signature = &function.signature;
    check::free(function, "a test", "move it out of the `impl`", problems);
    check::callable(function, "a test", problems);
    if signature.asyncness.is_none() {
        problems.point_at(signature.fn_token, "this test is run as `async fn`");
    }
    let one = signature.inputs.len() == 1;
    if !one || !matches!(signature.inputs.first(), Some(FnArg::Typed(_))) {
        let text = "a test takes the harness and nothing else, as in `(t: Harness)`";
        problems.point_at(&signature.ident, text);
    }
}

#[cfg(test)]
mod tests {
    use syn::{File, Item};

    use super::*;

    #[test]
    fn attributes_go_where_they_belong() {
        let function = quote! {
            #[cfg(unix)]
            #[should_panic]
            #[allow(unused)]
            async fn works(t: Harness) {}
        };
        let file: File = syn::parse2(expand(quote!(every_revision), function)).unwrap();
        let [Item::Fn(function), Item::Mod(module)] = &file.items[..] else {
            panic!("a function and a module");
        };
        assert_eq!(names(&function.attrs), ["cfg", "cfg", "allow"]);
        assert_eq!(names(&module.attrs), ["cfg", "cfg"]);
        let [Item::Use(_), Item::Macro(tests)] = &module.content.as_ref().unwrap().1[..] else {
            panic!("what is beside the module, and the tests");
        };
        let given = tests.mac.tokens.to_string();
        assert_eq!(given, quote!(every_revision { #[should_panic] fn works() }).to_string());
    }

    fn names(attributes: &[Attribute]) -> Vec<String> {
        let paths = attributes.iter().map(Attribute::path);
        paths.map(|path| path.segments.last().unwrap().ident.to_string()).collect()
    }
}
