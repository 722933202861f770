//! The variables of a URI template.
//!
//! The library checks the whole template when the resource is registered. Here it is read only as far
//! as is needed to compare its variables with the parameters of a function.

use syn::{Error, LitStr, Result};

/// The variables of a URI template.
pub(crate) struct Template {
    /// Their names, in their order; empty for a plain URI.
    pub(crate) variables: Vec<String>,
}

impl Template {
    /// Reads a template or a plain URI.
    ///
    /// # Errors
    ///
    /// If it has no scheme, or braces that do not match.
    pub(crate) fn read(uri: &LitStr) -> Result<Self> {
        let text = uri.value();
        let variables = variables(&text).map_err(|reason| Error::new_spanned(uri, reason))?;
        if !begins_with_scheme(&text) {
            let text = "a URI begins with a scheme, as in `notes://today`; make up one of your own";
            return Err(Error::new_spanned(uri, text));
        }
        Ok(Self { variables })
    }

    /// The variables, as a list to read; `None` if there are none.
    pub(crate) fn choices(&self) -> Option<String> {
        let names: Vec<String> =
            self.variables.iter().map(|name| format!("`{{{name}}}`")).collect();
        let (last, others) = names.split_last()?;
        Some(if others.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", others.join(", "))
        })
    }
}

fn variables(text: &str) -> std::result::Result<Vec<String>, String> {
    let mut variables = Vec::new();
    let mut pieces = text.split('{');
    let head = pieces.next().unwrap_or_default();
    if head.contains('}') {
        return Err("`}` closes nothing in this URI".to_owned());
    }
    for piece in pieces {
        let Some((inside, after)) = piece.split_once('}') else {
            return Err("`{` is never closed in this URI".to_owned());
        };
        if after.contains('}') {
            return Err("`}` closes nothing in this URI".to_owned());
        }
        let list = inside.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        for variable in list.split(',') {
            let name = variable.split(['*', ':']).next().unwrap_or(variable);
            if name.is_empty() {
                return Err(format!("`{{{inside}}}` lacks the name of a variable"));
            }
            variables.push(name.to_owned());
        }
    }
    Ok(variables)
}

/// Whether there is a scheme, or a variable where it would be.
fn begins_with_scheme(text: &str) -> bool {
    let before = text.split([':', '/']).next().unwrap_or(text);
    before.contains('{') || (!before.is_empty() && text[before.len()..].starts_with(':'))
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<String>, String> {
        let template = Template::read(&LitStr::new(text, Span::call_site()));
        template.map(|template| template.variables).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_are_found_whatever_stands_around_them() {
        assert_eq!(read("config://app").unwrap(), [] as [&str; 0]);
        let all = read("a://{b}/{+c}{/d*}/{e:3}{?f,g.h}{#i}").unwrap();
        assert_eq!(all, ["b", "c", "d", "e", "f", "g.h", "i"]);
        assert_eq!(read("{scheme}://a").unwrap(), ["scheme"]);
    }

    #[test]
    fn the_error_says_why_a_text_is_no_template() {
        for (bad, reason) in [
            ("users/{id}", "scheme"),
            ("users", "scheme"),
            ("://users", "scheme"),
            ("a://{b", "never closed"),
            ("a://b}", "closes nothing"),
            ("a://{b}}", "closes nothing"),
            ("a://{}", "lacks the name"),
            ("a://{?b,}", "lacks the name"),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.contains(reason), "{bad}: {error}");
        }
    }
}
