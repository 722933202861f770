//! Checks URIs of resources: those that a server offers, and those that a client sends.

use bowline_types::template::{TemplateValue, UriTemplate, Variables};

/// Checks the URI of a resource of the server, by all of RFC 3986.
///
/// # Errors
///
/// Says what is wrong with it.
pub(crate) fn check_offered(uri: &str) -> Result<(), String> {
    check_asked(uri)?;
    let stray = uri.chars().find(|&c| !may_stand_in_uri(c));
    match stray {
        Some(c) => Err(format!("{c:?} cannot stand in a URI; percent-encode it")),
        None => Ok(()),
    }
}

/// Checks a URI that a client sends. Characters that should be percent-encoded are allowed: such a
/// URI matches no resource, or a template that accepts them.
///
/// # Errors
///
/// Says what is wrong with it.
pub(crate) fn check_asked(uri: &str) -> Result<(), String> {
    if uri.len() > UriTemplate::MAX_URI {
        return Err(format!("it is longer than {} bytes", UriTemplate::MAX_URI));
    }
    if !begins_with_scheme(uri) {
        return Err("it does not begin with a scheme such as `file:`".to_owned());
    }
    if uri.contains(char::is_control) {
        return Err("it holds a control character".to_owned());
    }
    if has_broken_octet(uri) {
        return Err("`%` is not followed by two hex digits".to_owned());
    }
    Ok(())
}

/// Checks the text of a template that resources are to have.
///
/// # Errors
///
/// Says what is wrong with it.
pub(crate) fn check_template(template: &UriTemplate) -> Result<(), String> {
    let text = template.as_str();
    // A scheme may itself be a variable, or hold one.
    let head = text.split('{').next().unwrap_or(text);
    let is_open = head.len() < text.len() && !head.contains([':', '/']);
    if !is_open && !begins_with_scheme(head) {
        return Err("it does not begin with a scheme such as `file:`".to_owned());
    }
    Ok(())
}

/// Whether a value would lead out of its directory (`..`), or cut a path short.
pub(crate) fn is_unsafe(values: &Variables) -> bool {
    values.iter().any(|(_, value)| match value {
        TemplateValue::Text(text) => leads_astray(text),
        TemplateValue::List(items) => items.iter().any(|item| leads_astray(item)),
        TemplateValue::Pairs(pairs) => {
            pairs.iter().any(|(name, value)| leads_astray(name) || leads_astray(value))
        }
    })
}

fn leads_astray(text: &str) -> bool {
    // What a reserved expression matched may still be encoded.
    let decoded =
        text.replace("%2F", "/").replace("%2f", "/").replace("%5C", "\\").replace("%5c", "\\");
    decoded.contains('\0') || decoded.split(['/', '\\']).any(|part| part == "..")
}

fn begins_with_scheme(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let may_follow = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(may_follow)
        && !rest.is_empty()
}

fn may_stand_in_uri(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c)
}

fn has_broken_octet(uri: &str) -> bool {
    let is_octet = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    uri.split('%').skip(1).any(|rest| !is_octet(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RSRC-17
    #[test]
    fn a_uri_that_is_offered_follows_the_grammar() {
        for good in ["config://app", "file:///a%20b", "urn:isbn:1", "x-1+a.b:c", "a://b?c=[d]#e"] {
            assert_eq!(check_offered(good), Ok(()), "{good}");
        }
        for (bad, reason) in [
            ("config", "scheme"),
            ("://app", "scheme"),
            ("1a://b", "scheme"),
            ("a b://c", "scheme"),
            ("config:", "scheme"),
            ("a://b c", "' ' cannot stand"),
            ("a://é", "'é' cannot stand"),
            ("a://%zz", "two hex digits"),
            ("a://b%4", "two hex digits"),
            ("a://b\n", "control character"),
        ] {
            let error = check_offered(bad).unwrap_err();
            assert!(error.contains(reason), "{bad}: {error}");
        }
    }

    // spec: RSRC-23
    #[test]
    fn a_uri_that_is_asked_for_is_checked() {
        assert_eq!(check_asked("a://b c/é"), Ok(()));
        for bad in ["", "b", "a://\0", "a://%", &format!("a://{}", "b".repeat(10_000))] {
            assert!(check_asked(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_template_has_a_scheme_or_leaves_it_open() {
        let check = |text: &str| check_template(&UriTemplate::parse(text).unwrap());
        for good in ["users://{id}", "{+uri}", "git+{kind}://{host}", "fixed://"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["users/{id}", "users", "1://{id}"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    // spec: RSRC-27
    #[test]
    fn values_that_climb_out_of_a_directory_are_found() {
        let is_unsafe = |text: &str| is_unsafe(&Variables::new().with("path", text));
        for bad in ["..", "../a", "a/../b", "a/..", "a\\..\\b", "a%2F..%2fb", "a\0b"] {
            assert!(is_unsafe(bad), "{bad}");
        }
        for good in ["a", "a/b", "a..b", "...", ".git", "1.2..3"] {
            assert!(!is_unsafe(good), "{good}");
        }
        let list = TemplateValue::List(vec!["a".to_owned(), "..".to_owned()]);
        assert!(super::is_unsafe(&Variables::new().with("path", list)));
    }
}
