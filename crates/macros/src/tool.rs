//! `#[tool]`: a function and, beside it, the tool that calls it.
//!
//! The tool lives in a braced struct of the function's name. Functions are values and braced
//! structs are only types, so both can have it, and `tools![add]` finds the one while `add(1, 2)`
//! calls the other.
//!
//! The generated code goes through one generic function whose type parameters are the types of the
//! signature. Inside of it everything holds by its bounds; the only place where a type can turn out
//! wrong is the call, where each type is written with the place it has in the signature. So one
//! mistake is one error, and it points at the type in the signature.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{ExprRange, RangeLimits, Type, Visibility};

use crate::attr::{Syntax, Value, Word, Words, as_text};
use crate::check::{self, Problems};
use crate::docs;
use crate::function::Function;
use crate::param::{self, Argument, Default, Description, Param};

const TOOL: Syntax = Syntax {
    attribute: "`#[tool(..)]`",
    words: &[
        Word {
            name: "name",
            value: Value::Text,
        },
        Word {
            name: "title",
            value: Value::Text,
        },
        Word {
            name: "describe",
            value: Value::Expression,
        },
        Word {
            name: "read_only",
            value: Value::None,
        },
        Word {
            name: "destructive",
            value: Value::None,
        },
        Word {
            name: "idempotent",
            value: Value::None,
        },
        Word {
            name: "closed_world",
            value: Value::None,
        },
    ],
};

/// Words that are methods of the builder without arguments.
const HINTS: &[&str] = &["read_only", "destructive", "idempotent", "closed_world"];

/// Extractors that a handler can take beside its `Args`.
const MOST_EXTRACTORS: usize = 11;

/// Expands `#[tool(words)] function`.
pub(crate) fn expand(words: TokenStream, function: TokenStream) -> TokenStream {
    let mut function: Function = match syn::parse2(function.clone()) {
        Ok(parsed) => parsed,
        Err(problem) => {
            let problem = problem.into_compile_error();
            return quote!(#problem #function);
        }
    };
    let mut problems = Problems::default();
    let words = Words::parse(&TOOL, words, &mut problems);
    check::callable(&function, "a tool", &mut problems);
    check::stands_once(&function, "tool", &mut problems);
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
    quote!(#function #beside #problems)
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
    if let (true, Some(destructive)) = (words.has("read_only"), words.find("destructive")) {
        let text = "a tool that is `read_only` destroys nothing; leave one of the two out";
        problems.point_at(destructive, text);
    }
    let description = match words.value("describe") {
        Some(description) => Some(Description::Expression(description.clone())),
        None => problems
            .check(docs::description(&function.attributes))
            .flatten()
            .map(Description::Text),
    };
    let hints = HINTS.iter().filter_map(|hint| words.find(hint).cloned());
    Settings {
        name,
        title: words.text("title").cloned(),
        description,
        hints: hints.collect(),
    }
}

fn check_count(params: &[Param], function: &Function, problems: &mut Problems) {
    let is_extractor = |param: &&Param| matches!(param, Param::Extractor(_));
    let count = params.iter().filter(is_extractor).count();
    if count > MOST_EXTRACTORS {
        let text = format!("a tool has at most {MOST_EXTRACTORS} extractors, this one {count}");
        problems.point_at(&function.signature.ident, text);
    }
}

/// The struct of the function's name.
fn beside(function: &Function, body: &TokenStream) -> TokenStream {
    let name = &function.signature.ident;
    let visibility: &Visibility = &function.visibility;
    let conditions: Vec<_> = function.conditions().collect();
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
    let plan = Plan::new(params);
    let input = input(&plan, &settings.name);
    let build = build(&plan, &settings.name);
    let call = call(&plan, function);
    let Settings {
        title,
        description,
        hints,
        ..
    } = settings;
    let title = title.iter();
    let description = description.iter();
    quote! {
        #input
        #build
        #call #(.title(#title))* #(.describe(#description))* #(.#hints())*
    }
}

/// The parameters with the names that they have in the generated code.
struct Plan<'a> {
    /// Each in the order of the signature: its local variable and its type parameter.
    params: Vec<Slot<'a>>,
}

struct Slot<'a> {
    param: &'a Param,
    local: Ident,
    generic: Ident,
}

impl<'a> Plan<'a> {
    fn new(params: &'a [Param]) -> Self {
        let slots = params.iter().enumerate().map(|(index, param)| Slot {
            param,
            local: format_ident!("__{index}", span = Span::mixed_site()),
            generic: format_ident!("__T{index}"),
        });
        Self {
            params: slots.collect(),
        }
    }

    fn arguments(&self) -> impl Iterator<Item = (&Slot<'a>, &'a Argument)> {
        self.params.iter().filter_map(|slot| match slot.param {
            Param::Argument(argument) => Some((slot, argument)),
            _ => None,
        })
    }
}
