//! `tools![add, weather::forecast]`: the tools of functions, by their names.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Path, Result, Token};

/// Expands `tools![..]`.
pub(crate) fn expand_tools(names: TokenStream) -> TokenStream {
    let names = match syn::parse::Parser::parse2(Names::parse_terminated, names) {
        Ok(names) => names,
        Err(problem) => return problem.into_compile_error(),
    };
    if names.is_empty() {
        return quote!([] as [::bowline::Tool; 0]);
    }
    let tools = names.iter().map(|Name { conditions, path }| {
        quote_spanned!(path.span()=> #(#conditions)* <#path as ::bowline::ToolFn>::tool())
    });
    quote!([#(#tools),*])
}

type Names = Punctuated<Name, Token![,]>;

/// A function, perhaps one that only exists under a `#[cfg(..)]`.
struct Name {
    conditions: Vec<Attribute>,
    path: Path,
}

impl Parse for Name {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let conditions = input.call(Attribute::parse_outer)?;
        let path = input.call(Path::parse_mod_style).map_err(|problem| {
            let text = "expected the name of a function with `#[tool]`, as in `tools![add]`";
            syn::Error::new(problem.span(), text)
        })?;
        if !input.is_empty() && !input.peek(Token![,]) {
            let text = "only names stand here, as in `tools![add, weather::forecast]`; pass a \
                        `Tool` that you build yourself to `.tool(..)`";
            return Err(input.error(text));
        }
        Ok(Self { conditions, path })
    }
}
