//! `#[tool] impl`: the methods of a type as tools that share one value of it.
//!
//! The macro adds a second `impl` with the method `tools`, which takes the value and returns the
//! tools.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Generics, ImplItem, Result, Token, Type, Visibility};

use crate::attr::{Syntax, Words};
use crate::check::{self, Problems};
use crate::feature::{self, Place};
use crate::function::{Function, begins_signature};
use crate::kind::Kind;
use crate::tool;

/// The attribute of the `impl` itself, which takes no words.
const BLOCK: Syntax = Syntax::new("`#[tool] impl`", &[]);

/// Expands `#[tool] impl`.
pub(crate) fn expand(words: TokenStream, code: TokenStream) -> TokenStream {
    let mut block: ImplBlock = match syn::parse2(code.clone()) {
        Ok(block) => block,
        Err(problem) => {
            let mut rejected = problem.into_compile_error();
            rejected.extend(code);
            return rejected;
        }
    };
    let mut problems = Problems::default();
    Words::parse(&BLOCK, words, &mut problems);
    let tools = block.take_tools(&mut problems);
    if let Some((name, _)) = &block.of_trait {
        let text = "tools are methods of a type's own; move them out of the trait";
        problems.point_at(name, text);
        let problems = problems.into_compile_errors();
        return quote!(#block #problems);
    }
    let body =
        if problems.is_empty() { body(&block.ty, &tools) } else { quote!(::core::unreachable!()) };
    let beside = block.beside(&body);
    let problems = problems.into_compile_errors();
    quote!(#block #beside #problems)
}

/// Whether an `impl` follows after the attributes.
pub(crate) fn is_block(code: &TokenStream) -> bool {
    let peek = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        let is_block = input.peek(Token![impl]);
        input.parse::<TokenStream>().map(|_| is_block)
    };
    peek.parse2(code.clone()).unwrap_or_default()
}

/// An `impl` of a type's own methods.
struct ImplBlock {
    attributes: Vec<Attribute>,
    impl_token: Token![impl],
    generics: Generics,
    /// There should be none.
    of_trait: Option<(Type, Token![for])>,
    ty: Type,
    items: Vec<Item>,
}

enum Item {
    Function(Box<Function>),
    Other(Box<ImplItem>),
}

/// A method that is a tool.
struct ToolMethod {
    conditions: Vec<Attribute>,
    /// What builds it.
    build: TokenStream,
}

impl ImplBlock {
    /// Takes the attributes off the methods that are tools.
    fn take_tools(&mut self, problems: &mut Problems) -> Vec<ToolMethod> {
        let mut names: Vec<String> = Vec::new();
        let mut tools = Vec::new();
        for item in &mut self.items {
            let Item::Function(function) = item else { continue };
            let Some(words) = take_words(function, problems) else { continue };
            check::shares(function, Kind::TOOL.what, problems);
            let params = feature::sort(&Kind::TOOL, function, problems);
            let plan = tool::plan(&words, function, problems);
            if names.contains(&plan.name) {
                let text = format!("two tools are called `{}`", plan.name);
                problems.point_at(&function.signature.ident, text);
            }
            let conditions = function.conditions().cloned().collect();
            let build = feature::build(function, &params, &plan, Place::Impl);
            tools.push(ToolMethod { conditions, build });
            names.push(plan.name);
        }
        if tools.is_empty() {
            let text = "no method in here is a tool; mark those that are with `#[tool]`";
            problems.point_at(self.impl_token, text);
        }
        tools
    }

    /// The second `impl`.
    fn beside(&self, body: &TokenStream) -> TokenStream {
        let Self { generics, ty, .. } = self;
        let clause = &generics.where_clause;
        let conditions = self.attributes.iter().filter(|other| other.path().is_ident("cfg"));
        quote! {
            #(#conditions)*
            #[automatically_derived]
            #[allow(deprecated, non_snake_case, unreachable_pub)]
            impl #generics #ty #clause {
                /// The tools that methods of this type are; their calls share this value.
                #[must_use]
                pub fn tools(self) -> ::std::vec::Vec<::bowline::Tool> {
                    #body
                }
            }
        }
    }
}

fn body(ty: &Type, tools: &[ToolMethod]) -> TokenStream {
    let tools =
        tools.iter().map(|ToolMethod { conditions, build }| quote!(#(#conditions)* { #build }));
    // All of it stands at the type, which the compiler then blames once.
    let share = quote_spanned!(ty.span()=> ::bowline::__private::share::<#ty, _>(self));
    quote! {
        let __shared = #share;
        ::std::vec::Vec::from([#(#tools),*])
    }
}

/// Takes `#[tool(..)]` off a method; `None` if it has none.
fn take_words(function: &mut Function, problems: &mut Problems) -> Option<Words> {
    let is_tool = |attribute: &Attribute| check::is_called(attribute, "tool");
    let place = function.attributes.iter().position(is_tool)?;
    let attribute = function.attributes.remove(place);
    let mut words = Words::default();
    words.read_attribute(&tool::TOOL, &attribute, problems);
    check::stands_once(function, "tool", problems);
    function.attributes.push(feature::lints());
    Some(words)
}

impl Parse for ImplBlock {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let impl_token = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut ty: Type = input.parse()?;
        let mut of_trait = None;
        if let Some(token) = input.parse()? {
            let implemented = std::mem::replace(&mut ty, input.parse()?);
            of_trait = Some((implemented, token));
        }
        generics.where_clause = input.parse()?;
        let content;
        syn::braced!(content in input);
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(content.parse()?);
        }
        Ok(Self { attributes, impl_token, generics, of_trait, ty, items })
    }
}

impl Parse for Item {
    /// The bodies of functions are not parsed here either.
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if begins_signature(&ahead) {
            return Ok(Self::Function(input.parse()?));
        }
        Ok(Self::Other(input.parse()?))
    }
}

impl ToTokens for ImplBlock {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attributes, impl_token, generics, ty, items, .. } = self;
        let of_trait = self.of_trait.as_ref().map(|(name, token)| quote!(#name #token));
        let clause = &generics.where_clause;
        tokens.extend(quote! {
            #(#attributes)* #impl_token #generics #of_trait #ty #clause { #(#items)* }
        });
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Function(function) => function.to_tokens(tokens),
            Self::Other(item) => item.to_tokens(tokens),
        }
    }
}
