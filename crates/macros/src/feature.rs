//! The code that is written for a function: the feature that calls it.
//!
//! The feature of a free function belongs to a braced struct of the same name. A function is a value
//! and a braced struct is only a type, so both can have the name: `tools![add]` finds the struct, and
//! `add(1, 2)` calls the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprClosure, FnArg, LitStr, Pat, Signature, Type, parse_quote};

use crate::attr::Words;
use crate::check::{self, Problems};
use crate::docs;
use crate::function::Function;
use crate::input;
use crate::kind::Kind;
use crate::param::{self, Description, Param};
use crate::param_names::ParamNames;

/// Parameters that a handler can have; all arguments together are one.
const MOST_PARAMETERS: usize = 12;

/// What is built out of a function.
pub(crate) struct Plan {
    pub(crate) kind: &'static Kind,
    /// What schemas call the arguments.
    pub(crate) name: String,
    /// The function that builds the feature, and what it gets before the handler.
    pub(crate) constructor: &'static str,
    pub(crate) key: String,
    /// What is called on the feature to say more about it: `.title("Search")`.
    pub(crate) more: TokenStream,
}

/// Where a function is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// By itself.
    Free,
    /// In an `impl`, whose value the calls share as `__shared`.
    Impl,
}

/// The name, title, description and scopes of a feature.
pub(crate) struct About {
    pub(crate) name: String,
    /// Where the name stands.
    pub(crate) place: Span,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<Description>,
    /// Methods of the builder, with the scopes that they set.
    scopes: Vec<(Ident, LitStr)>,
}

/// Checks a free function and sorts its parameters.
pub(crate) fn read(kind: &Kind, function: &mut Function, problems: &mut Problems) -> Vec<Param> {
    check::free(function, kind.what, kind.shared, problems);
    check::stands_once(function, kind.attribute, problems);
    sort(kind, function, problems)
}

/// Checks a function or method, and sorts its parameters.
pub(crate) fn sort(kind: &Kind, function: &mut Function, problems: &mut Problems) -> Vec<Param> {
    check::callable(function, kind.what, problems);
    let params = param::sort(kind, function, problems);
    let is_extractor = |param: &&Param| matches!(param, Param::Extractor(_));
    let extractors = params.iter().filter(is_extractor).count();
    let most = MOST_PARAMETERS - usize::from(extractors < params.len());
    if extractors > most {
        let what = kind.attribute;
        let text = format!("this {what} has {extractors} extractors and could have {most} at most");
        problems.point_at(&function.signature.ident, text);
    }
    params
}

/// Writes a free function and the struct beside it.
pub(crate) fn write(
    function: &Function,
    params: &[Param],
    plan: &Plan,
    problems: Problems,
) -> TokenStream {
    if function.signature.receiver().is_some() {
        // It is a method, and an `impl` cannot hold a struct.
        let problems = problems.into_compile_errors();
        return quote!(#function #problems);
    }
    let (body, problems) = if problems.is_empty() {
        (build(function, params, plan, Place::Free), None)
    } else {
        // The struct is written all the same, so that `tools![..]` causes no second error.
        let body = quote!(::core::unreachable!());
        (body, Some(problems.into_compile_errors()))
    };
    let beside = beside(function, plan.kind, &body);
    let lints = lints();
    quote! {
        #lints
        #function
        #beside
        #problems
    }
}

/// Allows what lints would refuse: arguments have to be owned, and there may be many.
pub(crate) fn lints() -> Attribute {
    parse_quote!(#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)])
}

/// The statements and the expression that build the feature.
pub(crate) fn build(
    function: &Function,
    params: &[Param],
    plan: &Plan,
    place: Place,
) -> TokenStream {
    let slots = ParamNames::of(params);
    let input = input::define(&slots, &plan.name);
    let generic = generic(&slots, plan);
    let call = call(&slots, function, place);
    let more = &plan.more;
    quote!(#input #generic #call #more)
}

impl About {
    /// Reads them from the words of the attribute and the doc comment of the function.
    pub(crate) fn read(words: &Words, function: &Function, problems: &mut Problems) -> Self {
        let ident = &function.signature.ident;
        let (name, place) = match words.text("name") {
            Some(name) => (name.value(), name.span()),
            None => (ident.unraw().to_string(), ident.span()),
        };
        let comment = |problems: &mut Problems| {
            problems.check(docs::description(&function.attributes)).flatten().map(Description::Text)
        };
        let description = match words.value("describe") {
            Some(description) => Some(Description::Expression(description.clone())),
            None => comment(problems),
        };
        let scopes = ["require_scope", "step_up_scope"].iter().filter_map(|word| {
            let scope = words.text(word)?;
            Some((Ident::new(word, scope.span()), scope.clone()))
        });
        let title = words.text("title").cloned();
        Self { name, place, title, description, scopes: scopes.collect() }
    }
}

impl ToTokens for About {
    /// The calls that tell it to a builder, but for the name.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let title = self.title.iter();
        let description = self.description.iter();
        let (methods, scopes): (Vec<_>, Vec<_>) =
            self.scopes.iter().map(|(method, scope)| (method, scope)).unzip();
        tokens.extend(quote! {
            #(.title(#title))* #(.describe(#description))* #(.#methods(#scopes))*
        });
    }
}

/// The calls that tell a builder how arguments are completed.
pub(crate) fn completions(params: &[Param]) -> TokenStream {
    let arguments = params.iter().filter_map(|param| match param {
        Param::Argument(argument) => Some((argument.wire_name(), argument.complete.as_ref()?)),
        Param::Extractor(_) | Param::Args(_) => None,
    });
    let calls = arguments.map(|(name, function)| match function {
        // The type of a closure's parameter is known if it can only be one.
        Expr::Closure(closure) if is_plain(closure) => {
            quote_spanned!(function.span()=> .complete(#name, #function))
        }
        _ => quote_spanned!(function.span()=> .complete_with(#name, #function)),
    });
    calls.collect()
}

/// Whether a closure has one parameter and does not say its type.
fn is_plain(closure: &ExprClosure) -> bool {
    let mut inputs = closure.inputs.iter();
    let plain = |input: Option<&Pat>| input.is_some_and(|input| !matches!(input, Pat::Type(_)));
    plain(inputs.next()) && inputs.next().is_none()
}

/// The struct of the function's name.
fn beside(function: &Function, kind: &Kind, body: &TokenStream) -> TokenStream {
    let name = &function.signature.ident;
    let visibility = &function.visibility;
    let conditions: Vec<&Attribute> = function.conditions().collect();
    let (function, method, feature) = (kind.function(), kind.method(), kind.feature());
    // Lints report the function already.
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, unreachable_pub, missing_debug_implementations)]
        #visibility struct #name {}

        #(#conditions)*
        #[automatically_derived]
        #[allow(deprecated, non_snake_case)]
        impl ::bowline::#function for #name {
            fn #method() -> ::bowline::#feature {
                #body
            }
        }
    }
}

/// The generic function that everything goes through, see [`crate::param_names`].
fn generic(slots: &[ParamNames<'_>], plan: &Plan) -> TokenStream {
    let generics = slots.iter().map(ParamNames::generics);
    let bounds = slots.iter().map(ParamNames::bounds);
    let types = slots.iter().map(ParamNames::ty);
    let locals = slots.iter().map(|slot| &slot.local);
    let parameters = input::handler_parameters(slots);
    let (feature, output) = (plan.kind.feature(), plan.kind.output());
    let (constructor, key) = (format_ident!("{}", plan.constructor), &plan.key);
    quote! {
        fn __build<#(#generics)* __Result, __Kind, __Call, __Future>(
            __call: __Call,
        ) -> ::bowline::#feature
        where
            #(#bounds)*
            __Result: ::bowline::__private::#output<__Kind>,
            __Call: ::core::ops::Fn(#(#types),*) -> __Future
                + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
            __Future: ::core::future::Future<Output = __Result> + ::core::marker::Send + 'static,
        {
            ::bowline::#feature::#constructor(#key, move |#parameters| __call(#(#locals),*))
        }
    }
}

/// The call of that function: here the types of the signature meet the bounds.
fn call(slots: &[ParamNames<'_>], function: &Function, place: Place) -> TokenStream {
    let types = slots.iter().map(ParamNames::given);
    let is_hidden = |ty: &Type| matches!(ty, Type::ImplTrait(_));
    let result = match function.result() {
        hidden if check::find_type(&hidden, is_hidden).is_some() => quote!(_),
        named => quote!(#named),
    };
    let Signature { ident: name, asyncness, .. } = &function.signature;
    let (later, handler) = match (place, asyncness) {
        (Place::Impl, _) => (None, method(slots, function)),
        (Place::Free, Some(_)) => (None, quote!(#name)),
        (Place::Free, None) => (Some(later(slots, function)), quote!(__later)),
    };
    // With the span of the function's name, because the future has no span: there the compiler
    // reports that the future cannot be sent to another thread.
    let build = quote_spanned! {name.span()=>
        __build::<#(#types)* #result, _, _, _>(#handler)
    };
    quote!(#later #build)
}

/// The function made async. Its body runs when it is polled, not when it is called, so a panic is
/// caught as if it had been async from the start.
fn later(slots: &[ParamNames<'_>], function: &Function) -> TokenStream {
    let Signature { ident, inputs, output, .. } = &function.signature;
    let locals: Vec<&Ident> = slots.iter().map(|slot| &slot.local).collect();
    let types = inputs.iter().filter_map(|input| match input {
        FnArg::Typed(param) => Some(&param.ty),
        FnArg::Receiver(_) => None,
    });
    quote!(async fn __later(#(#locals: #types),*) #output { #ident(#(#locals),*) })
}

/// The method as a function of its arguments alone. An item could not name the type parameters of
/// the `impl`, so this is a closure.
fn method(slots: &[ParamNames<'_>], function: &Function) -> TokenStream {
    let signature = &function.signature;
    let name = &signature.ident;
    let locals: Vec<&Ident> = slots.iter().map(|slot| &slot.local).collect();
    let receiver = signature.receiver().map(|_| quote!(&__shared,));
    let shared =
        signature.receiver().map(|_| quote!(let __shared = ::std::sync::Arc::clone(&__shared);));
    let wait = signature.asyncness.map(|_| quote!(.await));
    quote! {{
        #shared
        move |#(#locals),*| {
            #shared
            async move { Self::#name(#receiver #(#locals),*) #wait }
        }
    }}
}
