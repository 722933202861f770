//! URIs of resources without what could be secret in them.

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
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let bare = &uri[..end];
    let Some((scheme, rest)) = bare.split_once("://") else { return cut([bare]) };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    cut([scheme, "://", host, path])
}

/// The first characters of a text, without control characters.
fn cut<const N: usize>(parts: [&str; N]) -> String {
    let characters = parts.into_iter().flat_map(str::chars);
    characters.filter(|character| !character.is_control()).take(LONGEST).collect()
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
