//! The names that parameters have in the generated code.
//!
//! The generated code calls one generic function whose type parameters stand for the types of the
//! signature. Its body compiles by its bounds alone. A wrong type fails only at the call, where each
//! type has the span that it has in the signature. So one mistake causes one error, which points at
//! the wrong type.
//!
//! Arguments with a default are an exception: the default has a type of its own, and it is shown
//! in the schema only if that type is known.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote};

use crate::param::Param;

/// A parameter and its names.
pub(crate) struct ParamNames<'a> {
    pub(crate) param: &'a Param,
    /// The variable that holds its value.
    pub(crate) local: Ident,
    /// The type parameter that stands for its type.
    pub(crate) generic: Ident,
    /// The function that makes its default.
    pub(crate) default: Ident,
    /// The constants of its range.
    pub(crate) least: Ident,
    pub(crate) most: Ident,
    /// A second type parameter, which the bound needs.
    kind: Ident,
}

impl<'a> ParamNames<'a> {
    /// Names the parameters, in the order of the signature.
    pub(crate) fn of(params: &'a [Param]) -> Vec<Self> {
        let slots = params.iter().enumerate().map(|(index, param)| Self {
            param,
            local: format_ident!("__{index}", span = Span::mixed_site()),
            generic: format_ident!("__T{index}"),
            default: format_ident!("__default_{index}"),
            least: format_ident!("__LEAST_{index}"),
            most: format_ident!("__MOST_{index}"),
            kind: format_ident!("__K{index}"),
        });
        slots.collect()
    }

    /// Whether a type parameter stands for the type.
    pub(crate) fn is_generic(&self) -> bool {
        !matches!(self.param, Param::Argument(argument) if argument.default.is_some())
    }

    /// The type that the function takes, in the words of the generated code.
    pub(crate) fn ty(&self) -> TokenStream {
        let generic = &self.generic;
        match self.param {
            Param::Args(_) => quote!(::bowline::Args<#generic>),
            Param::Argument(argument) if !self.is_generic() => argument.ty.to_token_stream(),
            Param::Argument(_) | Param::Extractor(_) => quote!(#generic),
        }
    }

    /// The type parameters of this one, each with a comma.
    pub(crate) fn generics(&self) -> Option<TokenStream> {
        let Self { generic, kind, .. } = self;
        self.is_generic().then(|| quote!(#generic, #kind,))
    }

    /// What the type parameters have to fulfil.
    pub(crate) fn bounds(&self) -> Option<TokenStream> {
        let Self { generic, kind, .. } = self;
        let bound = match self.param {
            Param::Extractor(_) => quote!(Extractor),
            Param::Args(_) | Param::Argument(_) => quote!(Argument),
        };
        self.is_generic().then(|| quote!(#generic: ::bowline::__private::#bound<#kind>,))
    }

    /// What the type parameters are in truth.
    pub(crate) fn given(&self) -> Option<TokenStream> {
        let ty = match self.param {
            Param::Extractor(ty) | Param::Args(ty) => ty,
            Param::Argument(argument) => &argument.ty,
        };
        self.is_generic().then(|| quote!(#ty, _,))
    }
}
