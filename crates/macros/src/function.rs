//! The function that an attribute stands on.
//!
//! Its signature is parsed, its body is not: what is being typed there is the compiler's business,
//! and an unfinished line in it must not make the tool disappear from an editor.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, ReturnType, Signature, Token, Type, Visibility, parse_quote};

/// A function with its attributes, ready to be written out again.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    body: TokenStream,
}

impl Function {
    /// Reads the function, or gives back the code together with what is wrong with it.
    pub(crate) fn read(code: TokenStream) -> Result<Self, TokenStream> {
        syn::parse2(code.clone()).map_err(|problem| {
            let mut rejected = problem.into_compile_error();
            rejected.extend(code);
            rejected
        })
    }

    /// The attributes that decide whether the function exists; what is generated beside it needs
    /// them too.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
    }

    /// The type that the function returns, `()` if it names none.
    pub(crate) fn result(&self) -> Type {
        match &self.signature.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, result) => (**result).clone(),
        }
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !begins_signature(input) {
            return Err(input.error("this attribute belongs on a function"));
        }
        let signature = input.parse()?;
        if !input.peek(syn::token::Brace) {
            return Err(input.error("this function needs a body"));
        }
        let body: TokenTree = input.parse()?;
        Ok(Self { attributes, visibility, signature, body: body.into() })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attributes, visibility, signature, body } = self;
        tokens.extend(quote!(#(#attributes)* #visibility #signature #body));
    }
}

/// Whether a function follows, after its attributes and visibility.
pub(crate) fn begins_signature(input: ParseStream<'_>) -> bool {
    input.peek(Token![fn])
        || input.peek(Token![async])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
        || (input.peek(Token![const]) && !input.peek2(syn::Ident))
}
