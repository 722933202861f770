//! Mistakes, each reported at the word that causes it.
//!
//! Nothing here stops at the first mistake: all are reported at once. What only the compiler can
//! know (is this type an argument?) is checked by the generated code, see
//! [`crate::feature`].

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{
    Attribute, Error, GenericArgument, PathArguments, ReceiverKind, Result, Safety, Signature, Type,
};

use crate::function::Function;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    pub(crate) fn add(&mut self, problem: Error) {
        match &mut self.0 {
            Some(first) => first.combine(problem),
            None => self.0 = Some(problem),
        }
    }

    /// Adds a mistake that points at the given code.
    pub(crate) fn point_at(&mut self, guilty: impl ToTokens, text: impl std::fmt::Display) {
        self.add(Error::new_spanned(guilty, text));
    }

    /// Keeps the value, or the reason why there is none.
    pub(crate) fn check<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The code that makes the compiler report them all.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.map(Error::into_compile_error).unwrap_or_default()
    }
}

/// Checks what every function must fulfil that is called from outside; `what` is "a tool".
pub(crate) fn callable(function: &Function, what: &str, problems: &mut Problems) {
    let signature = &function.signature;
    check_generics(signature, what, problems);
    if let Safety::Unsafe(token) = &signature.safety {
        let text = format!("{what} cannot be `unsafe`: clients call it with anything");
        problems.point_at(token, text);
    }
    if let Some(abi) = &signature.abi {
        problems.point_at(abi, format!("{what} cannot be `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        problems.point_at(variadic, format!("{what} cannot be variadic"));
    }
}

/// Checks that a function is no method; the advice is added if it has a `self`.
pub(crate) fn free(function: &Function, what: &str, advice: &str, problems: &mut Problems) {
    if let Some(receiver) = function.signature.receiver() {
        let text = format!("{what} is a free function and has no `self`; {advice}");
        problems.point_at(receiver.self_token, text);
    }
}

/// Checks that a method only borrows its value, so that other calls can use it, too.
pub(crate) fn shares(function: &Function, what: &str, problems: &mut Problems) {
    let receiver = function.signature.receiver();
    let is_shared = |kind: &ReceiverKind| matches!(kind, ReceiverKind::Reference(_, _, None));
    if let Some(receiver) = receiver.filter(|receiver| !is_shared(&receiver.kind)) {
        let text = format!(
            "calls share one value, so {what} takes `&self`; put what changes into a `Mutex`, or \
             something of that sort"
        );
        problems.point_at(receiver, text);
    }
}

/// Checks that the function does not have the expanded attribute a second time, and removes the
/// second one.
pub(crate) fn stands_once(function: &mut Function, attribute: &str, problems: &mut Problems) {
    function.attributes.retain(|other| {
        let is_second = is_called(other, attribute);
        if is_second {
            problems.point_at(other, format!("`#[{attribute}]` is given twice"));
        }
        !is_second
    });
}

/// Whether an attribute has the name, with or without a path before it.
pub(crate) fn is_called(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == name)
}

/// Checks a name that goes over the wire: 1 to 128 of `A–Z a–z 0–9 _ - .`.
pub(crate) fn name(name: &str, place: Span, problems: &mut Problems) {
    let wrong = name.chars().find(|c| !c.is_ascii_alphanumeric() && !"_-.".contains(*c));
    let reason = match wrong {
        Some(c) => format!("{c:?} is not allowed in it"),
        None if name.is_empty() => "it is empty".to_owned(),
        None if name.len() > 128 => format!("it has {} characters", name.len()),
        None => return,
    };
    let text = format!(
        "`{name}` cannot be a name: {reason}; use 1 to 128 letters, digits, `_`, `-` and `.`, \
         as in `name = \"..\"`"
    );
    problems.add(Error::new(place, text));
}

/// The part of a type, or the whole of it, that fulfils the condition.
pub(crate) fn find_type(ty: &Type, condition: fn(&Type) -> bool) -> Option<&Type> {
    if condition(ty) {
        return Some(ty);
    }
    let find = |inner| find_type(inner, condition);
    match ty {
        Type::Array(array) => find(&array.elem),
        Type::Group(group) => find(&group.elem),
        Type::Paren(paren) => find(&paren.elem),
        Type::Reference(reference) => find(&reference.elem),
        Type::Slice(slice) => find(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(find),
        Type::Path(path) => {
            let segments = path.path.segments.iter();
            segments.flat_map(type_arguments).find_map(find)
        }
        _ => None,
    }
}

/// The types between the angle brackets of a path's segment.
pub(crate) fn type_arguments(segment: &syn::PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn check_generics(signature: &Signature, what: &str, problems: &mut Problems) {
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        let text = format!("{what} cannot be generic: clients see one schema; write out the types");
        problems.point_at(&generics.params, text);
    } else if let Some(clause) = &generics.where_clause {
        problems.point_at(clause, format!("{what} cannot have a `where` clause"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(text: &str) -> bool {
        let mut problems = Problems::default();
        name(text, Span::call_site(), &mut problems);
        problems.is_empty()
    }

    // spec: TOOL-19, TOOL-21, TOOL-22
    #[test]
    fn a_name_is_short_and_has_no_special_characters() {
        for good in ["a", "get_Weather-2.0", &"x".repeat(128)] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "a b", "a,b", "größe", "a/b", &"x".repeat(129)] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }
}
