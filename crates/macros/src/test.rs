//! `#[bowline::test]`: one test for each era and transport.
//!
//! The function stays where it is. Beside it stands a module of the same name with a `#[test]` per
//! case, so that a report reads `asks_before_it_deploys::modern_stdio`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, FnArg};

use crate::attr::{Syntax, Words};
use crate::check::{self, Problems};
use crate::function::Function;

const TEST: Syntax = Syntax { attribute: "`#[bowline::test]`", words: &[] };

/// The cases: the name of the test and the variant of `bowline_testing::Case`.
const CASES: &[(&str, &str)] = &[
    ("legacy_stdio", "LegacyStdio"),
    ("modern_stdio", "ModernStdio"),
    ("legacy_duplex", "LegacyDuplex"),
    ("modern_duplex", "ModernDuplex"),
    ("legacy_socket", "LegacySocket"),
    ("modern_socket", "ModernSocket"),
];

/// Attributes that belong to a test and not to the function that it calls.
const ABOUT_TESTS: &[&str] = &["ignore", "should_panic"];

/// Expands `#[bowline::test] function`.
pub(crate) fn expand(words: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match Function::read(function) {
        Ok(function) => function,
        Err(rejected) => return rejected,
    };
    let mut problems = Problems::default();
    Words::parse(&TEST, words, &mut problems);
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
    let name = &function.signature.ident;
    let output = &function.signature.output;
    let conditions = function.conditions();
    let tests = CASES.iter().map(|(test, case)| {
        let (test, case) = (format_ident!("{test}"), format_ident!("{case}"));
        quote! {
            #[::core::prelude::v1::test]
            #(#about_tests)*
            fn #test() #output {
                ::bowline_testing::run(::bowline_testing::Case::#case, super::#name)
            }
        }
    });
    quote! {
        #[cfg(test)]
        #function

        #(#conditions)*
        #[cfg(test)]
        mod #name {
            #[allow(unused_imports)]
            use super::*;

            #(#tests)*
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
    use syn::{File, Item, ItemFn};

    use super::*;

    #[test]
    fn attributes_go_where_they_belong() {
        let function = quote! {
            #[cfg(unix)]
            #[should_panic]
            #[allow(unused)]
            async fn works(t: Harness) {}
        };
        let file: File = syn::parse2(expand(TokenStream::new(), function)).unwrap();
        let [Item::Fn(function), Item::Mod(module)] = &file.items[..] else {
            panic!("a function and a module");
        };
        assert_eq!(names(&function.attrs), ["cfg", "cfg", "allow"]);
        assert_eq!(names(&module.attrs), ["cfg", "cfg"]);
        let items = &module.content.as_ref().unwrap().1;
        let tests: Vec<&ItemFn> = items
            .iter()
            .filter_map(|item| match item {
                Item::Fn(test) => Some(test),
                _ => None,
            })
            .collect();
        assert_eq!(tests.len(), CASES.len());
        for test in tests {
            assert_eq!(names(&test.attrs), ["test", "should_panic"]);
        }
    }

    fn names(attributes: &[Attribute]) -> Vec<String> {
        let paths = attributes.iter().map(Attribute::path);
        paths.map(|path| path.segments.last().unwrap().ident.to_string()).collect()
    }
}
