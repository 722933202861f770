//! `#[resource("..")]`: a function and, beside it, the resource or the family that it reads.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, LitStr, Token, Type};

use crate::attr::{Syntax, Word, Words};
use crate::check::Problems;
use crate::feature::{self, About, Plan};
use crate::function::Function;
use crate::kind::Kind;
use crate::param::{Argument, Param, if_any, last_segment};
use crate::template::Template;

const RESOURCE: Syntax = Syntax::of_feature(
    "`#[resource(..)]`",
    &[Word::text("mime"), Word::expression("size"), Word::expression("ttl"), Word::flag("private")],
);

/// Expands `#[resource("uri", words)] function`.
pub(crate) fn expand(words: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match Function::read(function) {
        Ok(function) => function,
        Err(rejected) => return rejected,
    };
    let mut problems = Problems::default();
    let (uri, words) = take_uri(words, &mut problems);
    let words = Words::parse(&RESOURCE, words, &mut problems);
    let params = feature::read(&Kind::RESOURCE, &mut function, &mut problems);
    let template = uri.as_ref().and_then(|uri| problems.check(Template::read(uri)));
    if let (Some(uri), Some(template)) = (&uri, &template) {
        check_variables(uri, template, &params, &mut problems);
    }
    if let (Some(Template { variables }), Some(size)) = (&template, words.find("size"))
        && !variables.is_empty()
    {
        problems.point_at(size, "the resources of a template differ in size");
    }
    let about = About::read(&words, &function, &mut problems);
    let has_variables = template.is_some_and(|template| !template.variables.is_empty());
    let plan = Plan {
        kind: &Kind::RESOURCE,
        constructor: if has_variables { "template" } else { "new" },
        key: uri.map(|uri| uri.value()).unwrap_or_default(),
        more: more(&about, &words, &params),
        name: about.name,
    };
    feature::write(&function, &params, &plan, problems)
}

/// The calls that say more about a resource than its URI.
fn more(about: &About, words: &Words, params: &[Param]) -> TokenStream {
    let name = &about.name;
    let mime = words.text("mime").into_iter();
    let size = words.value("size").into_iter();
    let ttl = words.value("ttl").into_iter();
    let private = words.find("private").into_iter();
    let completions = feature::completions(params);
    quote! {
        .name(#name) #about #(.mime(#mime))* #(.size(#size))* #(.ttl(#ttl))* #(.#private())*
        #completions
    }
}

/// Takes the URI from before the words.
fn take_uri(words: TokenStream, problems: &mut Problems) -> (Option<LitStr>, TokenStream) {
    let read = |input: ParseStream<'_>| {
        let uri: Option<LitStr> = input.parse()?;
        if uri.is_some() && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        if uri.is_none() {
            let text = "expected the URI of the resource first, as in `#[resource(\"notes://today\")]` \
                        or `#[resource(\"notes://{day}\")]`";
            problems.add(Error::new(input.span(), text));
        }
        Ok((uri, input.parse()?))
    };
    match read.parse2(words) {
        Ok(taken) => taken,
        Err(problem) => {
            problems.add(problem);
            (None, TokenStream::new())
        }
    }
}

/// Checks that what the template names and what the function takes are the same.
fn check_variables(uri: &LitStr, template: &Template, params: &[Param], problems: &mut Problems) {
    let Template { variables } = template;
    let arguments: Vec<&Argument> = params
        .iter()
        .filter_map(|param| match param {
            Param::Argument(argument) => Some(&**argument),
            Param::Extractor(_) | Param::Args(_) => None,
        })
        .collect();
    let names: Vec<String> = arguments.iter().map(|argument| argument.wire_name()).collect();
    let mut are_known = true;
    for (argument, name) in arguments.iter().zip(&names) {
        if variables.contains(name) {
            continue;
        }
        are_known = false;
        let text = match template.choices() {
            Some(choices) => format!("`{{{name}}}` is not in the URI, which has {choices}"),
            None => format!("`{{{name}}}` is not in the URI"),
        };
        match &argument.rename {
            Some(rename) => problems.point_at(rename, text),
            None => problems.point_at(&argument.name, text),
        }
    }
    // A name that is not known may be that of a variable, misspelt.
    if !are_known || params.iter().any(may_tell_uris_apart) {
        return;
    }
    for variable in variables.iter().filter(|variable| !names.contains(variable)) {
        let text = format!(
            "nothing takes `{{{variable}}}`: add a parameter of that name, or one of type `Uri`"
        );
        problems.point_at(uri, text);
    }
}

/// Whether a parameter may say which of the resources of a template is read, without being one of
/// its variables.
fn may_tell_uris_apart(param: &Param) -> bool {
    const UNAWARE: &[&str] = &["Ask", "Cancel", "Claims", "Elicited", "Log", "Progress", "State"];
    let is_unaware = |ty: &Type| {
        let last = last_segment(if_any(ty));
        last.is_some_and(|last| UNAWARE.iter().any(|name| last.ident == name))
    };
    match param {
        Param::Extractor(ty) => !is_unaware(ty),
        Param::Args(_) => true,
        Param::Argument(_) => false,
    }
}
