//! `tools![add, weather::forecast]` and its siblings: the features of functions, by their names.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Path, Result, Token};

use crate::kind::Kind;

/// Expands `tools![..]`, or what the kind's list is called.
pub(crate) fn expand(kind: &Kind, names: TokenStream) -> TokenStream {
    let read = |input: ParseStream<'_>| {
        let mut names = Vec::new();
        while !input.is_empty() {
            names.push(Name::read(kind, input)?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(names)
    };
    let names = match read.parse2(names) {
        Ok(names) => names,
        Err(problem) => return problem.into_compile_error(),
    };
    let (feature, function, method) = (kind.feature(), kind.function(), kind.method());
    if names.is_empty() {
        return quote!([] as [::bowline::#feature; 0]);
    }
    let features = names.iter().map(|Name { conditions, path }| {
        quote_spanned! {path.span()=>
            #(#conditions)* <#path as ::bowline::#function>::#method()
        }
    });
    quote!([#(#features),*])
}

/// A function, perhaps one that only exists under a `#[cfg(..)]`.
struct Name {
    conditions: Vec<Attribute>,
    path: Path,
}

impl Name {
    fn read(kind: &Kind, input: ParseStream<'_>) -> Result<Self> {
        let conditions = input.call(Attribute::parse_outer)?;
        let path = input.call(Path::parse_mod_style).map_err(|problem| {
            let (attribute, list) = (kind.attribute, kind.list);
            let text =
                format!("expected the name of a function with `#[{attribute}]`, as in `{list}`");
            syn::Error::new(problem.span(), text)
        })?;
        if !input.is_empty() && !input.peek(Token![,]) {
            let (attribute, list, feature) = (kind.attribute, kind.list, kind.feature());
            let text = format!(
                "only names stand here, as in `{list}`; pass a `{feature}` that you build yourself \
                 to `.{attribute}(..)`"
            );
            return Err(input.error(text));
        }
        Ok(Self { conditions, path })
    }
}
