//! `#[tool]`: a function and, beside it, the tool that calls it.
//!
//! The tool lives in a braced struct of the function's name. Functions are values and braced
//! structs are only types, so both can have it, and `tools![add]` finds the one while `add(1, 2)`
//! calls the other.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Attribute, FnArg, Signature, Type};

use crate::attr::{Syntax, Value, Word, Words};
use crate::check::{self, Problems};
use crate::docs;
use crate::function::Function;
use crate::input;
use crate::param::{self, Description, Param};
use crate::slot::Slot;

const TOOL: Syntax = Syntax {
    attribute: "`#[tool(..)]`",
    words: &[
        Word { name: "name", value: Value::Text },
        Word { name: "title", value: Value::Text },
        Word { name: "describe", value: Value::Expression },
        Word { name: "read_only", value: Value::None },
        Word { name: "destructive", value: Value::None },
        Word { name: "additive", value: Value::None },
        Word { name: "idempotent", value: Value::None },
        Word { name: "closed_world", value: Value::None },
    ],
};

/// Words that are methods of the builder without arguments.
const HINTS: &[&str] = &["read_only", "destructive", "additive", "idempotent", "closed_world"];

/// Words that say how much a tool changes; one of them is enough.
const EFFECTS: &[&str] = &["read_only", "destructive", "additive"];

/// Parameters that a handler can have; all arguments together are one.
const MOST_PARAMETERS: usize = 12;

/// Expands `#[tool(words)] function`.
pub(crate) fn expand(words: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match Function::read(function) {
        Ok(function) => function,
        Err(rejected) => return rejected,
    };
    let mut problems = Problems::default();
    let words = Words::parse(&TOOL, words, &mut problems);
    check::callable(&function, "a tool", &mut problems);
    check::stands_once(&mut function, "tool", &mut problems);
    let params = param::sort(&mut function, &mut problems);
    let settings = settings(&words, &function, &mut problems);
    check_count(&params, &function, &mut problems);

    if function.signature.receiver().is_some() {
        // It is a method, and a struct cannot stand beside it.
        let problems = problems.into_compile_errors();
        return quote!(#function #problems);
    }
    let (body, problems) = if problems.is_empty() {
        (body(&function, &params, &settings), None)
    } else {
        // The struct is there all the same, so that `tools!` does not complain as well.
        let body = quote!(::core::unreachable!());
        (body, Some(problems.into_compile_errors()))
    };
    let beside = beside(&function, &body);
    // Arguments have to be owned, and how many there are is for the clients to judge.
    quote! {
        #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
        #function
        #beside
        #problems
    }
}

/// What the attribute and the comment say about the tool.
struct Settings {
    name: String,
    title: Option<syn::LitStr>,
    description: Option<Description>,
    hints: Vec<Ident>,
}

fn settings(words: &Words, function: &Function, problems: &mut Problems) -> Settings {
    let ident = &function.signature.ident;
    let (name, place) = match words.text("name") {
        Some(name) => (name.value(), name.span()),
        None => (ident.unraw().to_string(), ident.span()),
    };
    check::name(&name, place, problems);
    let effects: Vec<&Ident> = EFFECTS.iter().filter_map(|effect| words.find(effect)).collect();
    if let [first, second, ..] = effects[..] {
        problems.point_at(second, format!("`{first}` and `{second}` exclude each other"));
    }
    let description = match words.value("describe") {
        Some(description) => Some(Description::Expression(description.clone())),
        None => {
            problems.check(docs::description(&function.attributes)).flatten().map(Description::Text)
        }
    };
    let hints = HINTS.iter().filter_map(|hint| words.find(hint).cloned());
    Settings { name, title: words.text("title").cloned(), description, hints: hints.collect() }
}

fn check_count(params: &[Param], function: &Function, problems: &mut Problems) {
    let is_extractor = |param: &&Param| matches!(param, Param::Extractor(_));
    let extractors = params.iter().filter(is_extractor).count();
    let most = MOST_PARAMETERS - usize::from(extractors < params.len());
    if extractors > most {
        let text = format!("this tool has {extractors} extractors and could have {most} at most");
        problems.point_at(&function.signature.ident, text);
    }
}

/// The struct of the function's name.
fn beside(function: &Function, body: &TokenStream) -> TokenStream {
    let name = &function.signature.ident;
    let visibility = &function.visibility;
    let conditions: Vec<&Attribute> = function.conditions().collect();
    // The lints would say about the struct what they say about the function already.
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, unreachable_pub, missing_debug_implementations)]
        #visibility struct #name {}

        #(#conditions)*
        #[automatically_derived]
        #[allow(deprecated, non_snake_case)]
        impl ::bowline::ToolFn for #name {
            fn tool() -> ::bowline::Tool {
                #body
            }
        }
    }
}

/// The body of `ToolFn::tool`.
fn body(function: &Function, params: &[Param], settings: &Settings) -> TokenStream {
    let slots = Slot::of(params);
    let input = input::define(&slots, &settings.name);
    let build = build(&slots, &settings.name);
    let call = call(&slots, function);
    let title = settings.title.iter();
    let description = settings.description.iter();
    let hints = &settings.hints;
    quote! {
        #input
        #build
        #call #(.title(#title))* #(.describe(#description))* #(.#hints())*
    }
}

/// The generic function that everything goes through, see [`crate::slot`].
fn build(slots: &[Slot<'_>], name: &str) -> TokenStream {
    let generics = slots.iter().map(Slot::generics);
    let bounds = slots.iter().map(Slot::bounds);
    let types = slots.iter().map(Slot::ty);
    let locals = slots.iter().map(|slot| &slot.local);
    let parameters = input::handler_parameters(slots);
    quote! {
        fn __tool<#(#generics)* __Result, __Kind, __Call, __Future>(
            __call: __Call,
        ) -> ::bowline::Tool
        where
            #(#bounds)*
            __Result: ::bowline::__private::ToolOutput<__Kind>,
            __Call: ::core::ops::Fn(#(#types),*) -> __Future
                + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
            __Future: ::core::future::Future<Output = __Result> + ::core::marker::Send + 'static,
        {
            ::bowline::Tool::new(#name, move |#parameters| __call(#(#locals),*))
        }
    }
}

/// The call of that function: here the types of the signature meet the bounds.
fn call(slots: &[Slot<'_>], function: &Function) -> TokenStream {
    let types = slots.iter().map(Slot::given);
    let is_hidden = |ty: &Type| matches!(ty, Type::ImplTrait(_));
    let result = match function.result() {
        hidden if check::find_type(&hidden, is_hidden).is_some() => quote!(_),
        named => quote!(#named),
    };
    let name = &function.signature.ident;
    let (later, handler) = match function.signature.asyncness {
        Some(_) => (None, name.clone()),
        None => (Some(later(slots, function)), format_ident!("__later")),
    };
    // The future has no name. Its place in the list is that of the function's, because that is
    // where the compiler then says that it cannot be sent to another thread.
    let future = quote_spanned!(name.span()=> _);
    quote! {
        #later
        __tool::<#(#types)* #result, _, _, #future>(#handler)
    }
}

/// The function made async. Its body runs when it is polled, not when it is called, so a panic is
/// caught as if it had been async from the start.
fn later(slots: &[Slot<'_>], function: &Function) -> TokenStream {
    let Signature { ident, inputs, output, .. } = &function.signature;
    let locals: Vec<&Ident> = slots.iter().map(|slot| &slot.local).collect();
    let types = inputs.iter().filter_map(|input| match input {
        FnArg::Typed(param) => Some(&param.ty),
        FnArg::Receiver(_) => None,
    });
    quote!(async fn __later(#(#locals: #types),*) #output { #ident(#(#locals),*) })
}
