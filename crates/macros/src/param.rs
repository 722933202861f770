//! Parameters, sorted into arguments, which the client sends, and extractors, which the server
//! provides.
//!
//! A parameter is an extractor if its type has the name of one or if it is marked `#[ctx]`. All
//! others are arguments, and so is one marked `#[arg]`, whatever its type is called.

use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, FnArg, Ident, LitStr, Pat, PatType, PathSegment, Type, TypeReference};

use crate::attr::Words;
use crate::check::{self, Problems};
use crate::docs;
use crate::function::Function;
use crate::kind::Kind;

/// Types that are extractors by their name alone, for every kind of feature.
const EXTRACTORS: &[&str] =
    &["Ask", "Cancel", "Claims", "Context", "Log", "Notify", "Progress", "Registry"];

/// Types that are extractors by their name if they have a type argument. `state: State` without one
/// is an argument like any other.
const GENERIC_EXTRACTORS: &[&str] = &["Elicited", "State"];

/// Where the value of a parameter comes from.
pub(crate) enum Param {
    /// Comes from the server: state, progress, the user's answers.
    Extractor(Type),
    /// All arguments in one value of this type, `T` of `Args<T>`.
    Args(Type),
    /// One argument, by its name.
    Argument(Box<Argument>),
}

/// An argument that the client sends.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) rename: Option<LitStr>,
    pub(crate) description: Option<Description>,
    pub(crate) default: Option<Fallback>,
    pub(crate) range: Option<syn::ExprRange>,
    /// What suggests values for it.
    pub(crate) complete: Option<Expr>,
}

/// A description that was written as a comment, or one that the compiler puts together.
pub(crate) enum Description {
    Text(String),
    Expression(Expr),
}

/// The value of an argument that the client left out.
pub(crate) enum Fallback {
    /// `Default::default()`.
    OfType,
    Expression(Expr),
}

/// Sorts the parameters and takes our attributes and the doc comments off them, which the compiler
/// would not accept there.
pub(crate) fn sort(kind: &Kind, function: &mut Function, problems: &mut Problems) -> Vec<Param> {
    let inputs = function.signature.inputs.iter_mut();
    let params: Vec<Param> = inputs
        .filter_map(|input| match input {
            FnArg::Typed(param) => sort_one(kind, param, problems),
            FnArg::Receiver(_) => None,
        })
        .collect();
    check_together(&params, problems);
    params
}

/// The last segment of a type's path: `State<Db>` of `bowline::State<Db>`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// `T` of `Option<T>`, or else the type itself.
pub(crate) fn if_any(ty: &Type) -> &Type {
    let option = last_segment(ty).filter(|segment| segment.ident == "Option");
    option.and_then(|segment| check::type_arguments(segment).next()).unwrap_or(ty)
}

impl Argument {
    /// What clients call it.
    pub(crate) fn wire_name(&self) -> String {
        let rename = self.rename.as_ref().map(LitStr::value);
        rename.unwrap_or_else(|| self.name.unraw().to_string())
    }

    /// The type, or what stands in it if it is an `Option`.
    pub(crate) fn inner_type(&self) -> &Type {
        if_any(&self.ty)
    }
}

impl ToTokens for Description {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        match self {
            Self::Text(text) => text.to_tokens(tokens),
            Self::Expression(expression) => expression.to_tokens(tokens),
        }
    }
}

fn sort_one(kind: &Kind, param: &mut PatType, problems: &mut Problems) -> Option<Param> {
    let words = Words::take(&kind.arg, "arg", &mut param.attrs, problems);
    let context = take_context(&mut param.attrs, problems);
    let description = problems.check(docs::description(&param.attrs)).flatten();
    param.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    for attribute in &param.attrs {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            let text = "a parameter cannot depend on `cfg`: its schema is the same everywhere; \
                        write the function twice, each under its own `cfg`";
            problems.point_at(attribute, text);
        }
    }
    if let (Some(context), Some(_)) = (&context, &words) {
        problems.point_at(context, "`#[ctx]` and `#[arg]` exclude each other");
        return None;
    }
    if let Some(found) = check::find_type(&param.ty, |ty| matches!(ty, Type::ImplTrait(_))) {
        let text = "an `impl Trait` parameter makes the function generic; write out the type";
        problems.point_at(found, text);
        return None;
    }
    match (context, words) {
        (Some(_), _) => Some(Param::Extractor((*param.ty).clone())),
        (None, None) => known_extractor(kind, &param.ty)
            .or_else(|| argument(param, &Words::default(), description, problems)),
        (None, Some(words)) => argument(param, &words, description, problems),
    }
}

fn take_context(attributes: &mut Vec<Attribute>, problems: &mut Problems) -> Option<Attribute> {
    let marks = attributes.extract_if(.., |attribute| attribute.path().is_ident("ctx"));
    let mark = marks.last()?;
    problems.check(mark.meta.require_path_only());
    Some(mark)
}

/// The extractor that the type is, going by its name.
fn known_extractor(kind: &Kind, ty: &Type) -> Option<Param> {
    let segment = last_segment(ty)?;
    let inner = check::type_arguments(segment).next();
    let is_one_of = |names: &[&str]| names.iter().any(|name| segment.ident == name);
    match inner {
        Some(inner) if segment.ident == "Args" => Some(Param::Args(inner.clone())),
        Some(inner) if segment.ident == "Option" && is_claims(inner) => {
            Some(Param::Extractor(ty.clone()))
        }
        Some(_) if is_one_of(GENERIC_EXTRACTORS) => Some(Param::Extractor(ty.clone())),
        None if is_one_of(EXTRACTORS) || is_one_of(kind.extractors) => {
            Some(Param::Extractor(ty.clone()))
        }
        _ => None,
    }
}

/// Whether the type is that of the caller's claims, the one extractor that may be an `Option`.
fn is_claims(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Claims")
}

fn argument(
    param: &PatType,
    words: &Words,
    comment: Option<String>,
    problems: &mut Problems,
) -> Option<Param> {
    let Some(name) = plain_name(&param.pat) else {
        let text = "an argument needs a plain name: clients send it by that name; take it apart \
                    in the body, or mark an extractor of your own with `#[ctx]`";
        problems.point_at(&param.pat, text);
        return None;
    };
    let is_reference = |ty: &Type| matches!(ty, Type::Reference(_));
    if let Some(Type::Reference(borrowed)) = check::find_type(&param.ty, is_reference) {
        problems.point_at(borrowed, owned_instead(borrowed));
        return None;
    }
    let described = words.value("describe").cloned();
    let argument = Argument {
        name: name.clone(),
        ty: (*param.ty).clone(),
        rename: words.text("rename").cloned(),
        description: described.map(Description::Expression).or(comment.map(Description::Text)),
        default: words.has("default").then(|| match words.value("default") {
            Some(value) => Fallback::Expression(value.clone()),
            None => Fallback::OfType,
        }),
        range: words.value("range").and_then(|range| bounds(range, problems)),
        complete: words.value("complete").cloned(),
    };
    if argument.range.is_some() {
        check_is_number(&argument, words, problems);
    }
    Some(Param::Argument(Box::new(argument)))
}

/// The name that the pattern binds, if it does nothing else.
fn plain_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
        _ => None,
    }
}

fn owned_instead(borrowed: &TypeReference) -> String {
    let name = last_segment(&borrowed.elem).map(|segment| segment.ident.to_string());
    let advice = match (&*borrowed.elem, name.as_deref()) {
        (Type::Slice(_), _) => "use `Vec<T>`",
        (_, Some("str")) => "use `String`",
        (_, Some("Path")) => "use `PathBuf`",
        _ => "take it by value",
    };
    format!("an argument belongs to its call and cannot be borrowed: {advice}")
}

fn bounds(value: &Expr, problems: &mut Problems) -> Option<syn::ExprRange> {
    match value {
        Expr::Range(range) if range.start.is_some() || range.end.is_some() => Some(range.clone()),
        _ => {
            problems.point_at(value, "`range` needs bounds: `range = 1..=100`");
            None
        }
    }
}

fn check_is_number(argument: &Argument, words: &Words, problems: &mut Problems) {
    const OTHERS: &[&str] = &["String", "Vec", "bool", "char"];
    let segment = last_segment(argument.inner_type());
    let other = segment.filter(|segment| OTHERS.iter().any(|name| segment.ident == name));
    if let (Some(other), Some(word)) = (other, words.find("range")) {
        let text = format!("`range` bounds a number, and `{}` is none", other.ident);
        problems.point_at(word, text);
    }
}

/// Checks the parameters against each other.
fn check_together(params: &[Param], problems: &mut Problems) {
    let mut args = params.iter().filter_map(|param| match param {
        Param::Args(ty) => Some(ty),
        _ => None,
    });
    let all = args.next();
    for second in args {
        problems.point_at(second, "`Args` is given twice; put all arguments into one type");
    }
    let mut names: Vec<String> = Vec::new();
    for param in params {
        let Param::Argument(argument) = param else {
            continue;
        };
        if all.is_some() {
            let text = format!(
                "`Args` takes all arguments already; make `{}` a field of its type, or mark an \
                 extractor of your own with `#[ctx]`",
                argument.name
            );
            problems.point_at(&argument.name, text);
        }
        let name = argument.wire_name();
        if names.contains(&name) {
            let text = format!("two arguments are called `{name}`");
            match &argument.rename {
                Some(rename) => problems.point_at(rename, text),
                None => problems.point_at(&argument.name, text),
            }
        }
        names.push(name);
    }
}
