//! The struct that the arguments of a call are read into, and the handler's parameters.
//!
//! The fields are generic, for the reason that [`crate::param_names`] gives.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, RangeLimits, Type};

use crate::attr::as_text;
use crate::param::{Argument, Fallback, Param, last_segment};
use crate::param_names::ParamNames;

/// The definition of the struct, `tool` being the name that messages have for it.
pub(crate) fn define(slots: &[ParamNames<'_>], tool: &str) -> Option<TokenStream> {
    let fields: Vec<TokenStream> = arguments(slots).map(field).collect();
    if fields.is_empty() {
        return None;
    }
    let generics = generics(slots);
    let defaults = arguments(slots).filter_map(default_function);
    let bounds = arguments(slots).filter_map(bound_constants);
    Some(quote! {
        #(#defaults)*
        #(#bounds)*

        #[derive(
            ::bowline::__private::serde::Deserialize,
            ::bowline::__private::schemars::JsonSchema,
        )]
        #[serde(crate = "::bowline::__private::serde", rename = #tool)]
        #[schemars(crate = "::bowline::__private::schemars")]
        struct __Arguments<#(#generics),*> {
            #(#fields,)*
        }
    })
}

/// The parameters of a handler: extractors in their order, then all arguments in one.
pub(crate) fn handler_parameters(slots: &[ParamNames<'_>]) -> TokenStream {
    let of = |wanted: fn(&Param) -> bool| {
        slots.iter().filter(move |slot| wanted(slot.param)).map(|slot| {
            let (local, ty) = (&slot.local, slot.ty());
            quote!(#local: #ty,)
        })
    };
    let extractors = of(|param| matches!(param, Param::Extractor(_)));
    let args = of(|param| matches!(param, Param::Args(_)));
    let arguments = parameter(slots);
    quote!(#(#extractors)* #(#args)* #arguments)
}

/// The parameter of a handler that takes the struct apart into the variables of its fields.
fn parameter(slots: &[ParamNames<'_>]) -> Option<TokenStream> {
    arguments(slots).next()?;
    let generics = generics(slots);
    let fields = arguments(slots)
        .map(|(ParamNames { local, .. }, Argument { name, .. })| quote!(#name: #local));
    Some(quote! {
        ::bowline::Args(__Arguments { #(#fields),* }): ::bowline::Args<__Arguments<#(#generics),*>>
    })
}

fn arguments<'a>(
    slots: &'a [ParamNames<'a>],
) -> impl Iterator<Item = (&'a ParamNames<'a>, &'a Argument)> {
    slots.iter().filter_map(|slot| match slot.param {
        Param::Argument(argument) => Some((slot, &**argument)),
        _ => None,
    })
}

/// The type parameters of the struct.
fn generics<'a>(slots: &'a [ParamNames<'a>]) -> impl Iterator<Item = &'a Ident> {
    arguments(slots).filter(|(slot, _)| slot.is_generic()).map(|(slot, _)| &slot.generic)
}

fn field((slot, argument): (&ParamNames<'_>, &Argument)) -> TokenStream {
    let name = &argument.name;
    let ty = slot.ty();
    let rename = argument.rename.iter();
    let description = argument.description.iter();
    let default = argument.default.as_ref().map(|default| match default {
        Fallback::OfType => quote!(#[serde(default)]),
        Fallback::Expression(_) => {
            let function = slot.default.to_string();
            quote!(#[serde(default = #function)])
        }
    });
    let range = limits((slot, argument));
    quote! {
        #(#[serde(rename = #rename)])*
        #(#[schemars(description = #description)])*
        #default
        #range
        #name: #ty
    }
}

/// The function that serde calls for an argument that was left out.
fn default_function((slot, argument): (&ParamNames<'_>, &Argument)) -> Option<TokenStream> {
    let Some(Fallback::Expression(value)) = &argument.default else {
        return None;
    };
    let function = &slot.default;
    let ty = &argument.ty;
    // So that a `String` has a default without `.into()`.
    let value = match as_text(value) {
        Some(text) => quote!(::core::convert::Into::into(#text)),
        None => quote!(#value),
    };
    Some(quote!(fn #function() -> #ty { #value }))
}

/// The keywords of the schema that a range stands for.
fn limits((slot, argument): (&ParamNames<'_>, &Argument)) -> Option<TokenStream> {
    let range = argument.range.as_ref()?;
    let least = range.start.iter().map(|least| {
        let least = bound(argument, least, &slot.least);
        quote!("minimum" = #least)
    });
    let most = range.end.iter().map(|most| {
        let keyword = match range.limits {
            RangeLimits::HalfOpen(_) => "exclusiveMaximum",
            RangeLimits::Closed(_) => "maximum",
        };
        let most = bound(argument, most, &slot.most);
        quote!(#keyword = #most)
    });
    let keywords = least.chain(most);
    Some(quote!(#[schemars(extend(#(#keywords),*))]))
}

/// The bounds of a plain number as constants of its own type: `1..=300` cannot bound a `u8`.
fn bound_constants((slot, argument): (&ParamNames<'_>, &Argument)) -> Option<TokenStream> {
    let range = argument.range.as_ref()?;
    let ty = number(argument)?;
    let constant = |(name, bound): (&Ident, &Expr)| quote!(const #name: #ty = #bound;);
    let least = range.start.as_deref().map(|least| (&slot.least, least));
    let most = range.end.as_deref().map(|most| (&slot.most, most));
    Some(least.into_iter().chain(most).map(constant).collect())
}

fn bound(argument: &Argument, value: &Expr, constant: &Ident) -> TokenStream {
    match number(argument) {
        Some(_) => quote!(#constant),
        None => quote!(#value),
    }
}

/// The type of the argument if it is one of the language's numbers.
fn number(argument: &Argument) -> Option<&Type> {
    const NUMBERS: &[&str] =
        &["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64"];
    let ty = argument.inner_type();
    let segment = last_segment(ty)?;
    let is_number = NUMBERS.iter().any(|name| segment.ident == name);
    is_number.then_some(ty)
}
