//! Guesses the media type of a file from its name.

/// Media types by the ends of names.
const KNOWN: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
];

/// The media type of a file with this name and these bytes.
pub(crate) fn media_type(name: &str, bytes: &[u8]) -> &'static str {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let known = KNOWN.iter().find(|(it, _)| it.eq_ignore_ascii_case(end));
    match known {
        Some((_, media_type)) => media_type,
        None if std::str::from_utf8(bytes).is_ok() => "text/plain",
        None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_else_the_bytes_tell_the_media_type() {
        assert_eq!(media_type("SKILL.md", b""), "text/markdown");
        assert_eq!(media_type("a.PNG", b""), "image/png");
        assert_eq!(media_type("LICENSE", b"text"), "text/plain");
        assert_eq!(media_type("data.bin", b"\xff\0"), "application/octet-stream");
    }
}
