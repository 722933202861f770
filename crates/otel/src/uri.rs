//! URIs of resources without what could be secret in them.

/// The most characters that are recorded of a URI.
const LONGEST: usize = 256;

/// The URI of a resource as spans hold it: without user, password, query and fragment, and cut if it is
/// long. For logs that keep the same rule.
///
/// ```
/// let shown = bowline_otel::shown_uri("https://ann:pass@files.example/a.txt?token=1");
/// assert_eq!(shown, "https://files.example/a.txt");
/// ```
pub fn shown(uri: &str) -> String {
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let bare = &uri[..end];
    let Some((scheme, rest)) = bare.split_once("://") else {
        return bare.chars().take(LONGEST).collect();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    scheme
        .chars()
        .chain("://".chars())
        .chain(host.chars())
        .chain(path.chars())
        .take(LONGEST)
        .collect()
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
        ];
        for (uri, expected) in cases {
            assert_eq!(shown(uri), expected);
        }
        assert_eq!(shown(&format!("file:///{}", "ä".repeat(500))).chars().count(), LONGEST);
    }
}
