//! URIs of resources without what could be secret in them.

use bowline_types::text::bare_url;

/// The most characters that are recorded of a URI.
const LONGEST: usize = 256;

/// The URI of a resource as spans hold it: without user, password, query and fragment, without control
/// characters, and cut if it is long. For logs that keep the same rule.
///
/// ```
/// let shown = bowline_otel::shown_uri("https://ann:pass@files.example/a.txt?token=1");
/// assert_eq!(shown, "https://files.example/a.txt");
/// ```
pub fn shown(uri: &str) -> String {
    bare_url(uri).chars().filter(|character| !character.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_loses_what_could_be_secret() {
        let cases = [
            ("file:///docs/a.txt", "file:///docs/a.txt"),
            ("https://a.example/b?token=1#c", "https://a.example/b"),
            ("postgres://ann:secret@db/customers", "postgres://db/customers"),
            ("https://ann@a.example?x", "https://a.example"),
            ("memo:today#x", "memo:today"),
            ("a@b/c@d", "a@b/c@d"),
            ("https://a.example/@b", "https://a.example/@b"),
            ("file:///\u{1b}[2Ja\n", "file:///[2Ja"),
        ];
        for (uri, expected) in cases {
            assert_eq!(shown(uri), expected);
        }
        assert_eq!(shown(&format!("file:///{}", "ä".repeat(500))).chars().count(), LONGEST);
    }
}
