//! Doc comments as descriptions.
//!
//! The compiler passes one attribute per line. A description keeps the paragraphs and joins the lines
//! of each, because those line breaks only fit the width of the source. Lists, tables, headings and
//! code stay as they are written.

use syn::{Attribute, Error, Expr, ExprLit, Lit, Meta, Result};

/// The text of the doc comments among the attributes, `None` if there is none.
pub(crate) fn description(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut text = String::new();
    for attribute in attributes {
        let Meta::NameValue(doc) = &attribute.meta else {
            continue;
        };
        if !doc.path.is_ident("doc") {
            continue;
        }
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &doc.value else {
            let hint = "a description is read from literal doc comments; give this one as \
                        `describe = ..`";
            return Err(Error::new_spanned(&doc.value, hint));
        };
        text.push_str(&line.value());
        text.push('\n');
    }
    let folded = fold(&text);
    Ok((!folded.is_empty()).then_some(folded))
}

/// Removes the indentation that all lines share and joins the lines of each paragraph.
fn fold(text: &str) -> String {
    let indentation = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or_default();
    let mut folded = String::new();
    let mut in_code = false;
    let mut joins = false;
    for line in text.lines() {
        let line = line.get(indentation..).unwrap_or_default().trim_end();
        let is_fence = line.trim_start().starts_with("```");
        let stands_alone = in_code || is_fence || begins_block(line);
        if joins && !stands_alone && !line.is_empty() {
            folded.push(' ');
        } else {
            folded.push('\n');
        }
        folded.push_str(line);
        in_code ^= is_fence;
        joins = !line.is_empty() && !in_code && !is_fence && !line.starts_with(['#', '|']);
    }
    folded.trim().to_owned()
}

/// Whether Markdown gives the line a meaning of its own, so that it must not be joined.
fn begins_block(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with(". ");
    let is_bullet = ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    is_numbered || is_bullet || line.starts_with([' ', '\t', '#', '|', '>'])
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse::Parser as _;

    use super::*;

    fn of(source: proc_macro2::TokenStream) -> Option<String> {
        description(&Attribute::parse_outer.parse2(source).unwrap()).unwrap()
    }

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        let text = of(quote! {
            /// Searches the archive,
            /// newest first.
            ///
            /// Slow.
        });
        assert_eq!(text.unwrap(), "Searches the archive, newest first.\n\nSlow.");
    }

    #[test]
    fn lists_headings_and_tables_keep_their_lines() {
        let text = "# Units\nmetric or\nimperial\n- m\n- ft\n  (feet)\n1. one\n\n| a |\n| b |";
        assert_eq!(
            fold(text),
            "# Units\nmetric or imperial\n- m\n- ft\n  (feet)\n1. one\n\n| a |\n| b |"
        );
    }

    #[test]
    fn code_keeps_its_lines_and_its_indentation() {
        let text = " Like this:\n ```\n a {\n   b\n\n }\n ```\n Done\n so.";
        assert_eq!(fold(text), "Like this:\n```\na {\n  b\n\n}\n```\nDone so.");
    }

    #[test]
    fn no_doc_comment_is_no_description() {
        assert_eq!(of(quote!(#[doc(hidden)] #[cfg(unix)])), None);
        assert_eq!(of(quote!(#[doc = "  "])), None);
    }

    #[test]
    fn text_that_only_the_compiler_knows_is_refused() {
        let attributes =
            Attribute::parse_outer.parse2(quote!(#[doc = include_str!("a.md")])).unwrap();
        let error = description(&attributes).unwrap_err().to_string();
        assert!(error.contains("`describe = ..`"), "{error}");
    }
}
