//! Names and URIs of skills: `skill://acme/refunds/SKILL.md` is the skill `refunds`.
//!
//! ```
//! use bowline_skills::uri;
//!
//! let skill = uri::of_path("acme/refunds/SKILL.md");
//! assert_eq!(uri::name(&skill), Some("refunds"));
//! assert_eq!(uri::root(&skill), Some("skill://acme/refunds"));
//! ```

use std::fmt::Write as _;

/// The scheme of the URIs that our servers give to skills. Clients accept any.
pub const SCHEME: &str = "skill://";

/// The file that makes a folder a skill.
pub const SKILL_MD: &str = "SKILL.md";

/// The longest name of a skill.
const MOST_IN_NAME: usize = 64;

/// Whether a name follows the rules: up to 64 lower-case letters, digits and hyphens, with no hyphen at
/// its begin, at its end, or after another one.
pub fn is_skill_name(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    name.len() <= MOST_IN_NAME && name.split('-').all(is_word)
}

/// The URI of a file or directory, from its path below the folder of all skills.
pub fn of_path(path: &str) -> String {
    let mut uri = SCHEME.to_owned();
    encode(path, &mut uri);
    uri
}

/// The directory of the skill whose `SKILL.md` has this URI.
pub fn root(uri: &str) -> Option<&str> {
    uri.strip_suffix(SKILL_MD)?.strip_suffix('/')
}

/// The name of the skill whose `SKILL.md` has this URI.
pub fn name(uri: &str) -> Option<&str> {
    let (_, path) = root(uri)?.split_once("://")?;
    path.rsplit('/').next()
}

/// The URIs that a reference in a skill may mean: unchanged, and percent-encoded. `None` if it leads out
/// of the skill. `root` is the directory of the skill.
pub fn resolve(root: &str, reference: &str) -> Option<[String; 2]> {
    let path = match reference.strip_prefix(root) {
        Some(rest) => rest.strip_prefix('/')?,
        None => reference,
    };
    if path.starts_with('/') || path.contains("://") || path.contains('\\') {
        return None;
    }
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            other => segments.push(other),
        }
    }
    let path = segments.join("/");
    let mut encoded = format!("{root}/");
    encode(&path, &mut encoded);
    (!path.is_empty()).then(|| [format!("{root}/{path}"), encoded])
}

/// Appends a path, with everything percent-encoded that need not stand in every URI as it is.
fn encode(path: &str, uri: &mut String) {
    for octet in path.bytes() {
        match octet {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(octet.into()),
            _ if octet.is_ascii_alphanumeric() => uri.push(octet.into()),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{octet:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_agent_skills() {
        let longest = "a".repeat(MOST_IN_NAME);
        for good in ["a", "pdf-processing", "7-zip", "a-b-c", &longest] {
            assert!(is_skill_name(good), "{good}");
        }
        let too_long = "a".repeat(MOST_IN_NAME + 1);
        for bad in ["", "-a", "a-", "a--b", "A", "a_b", "a b", "é", "a/b", &too_long] {
            assert!(!is_skill_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_uri_has_the_path_of_its_file() {
        assert_eq!(of_path("acme/refunds/SKILL.md"), "skill://acme/refunds/SKILL.md");
        assert_eq!(of_path("a/my file#1.md"), "skill://a/my%20file%231.md");
        assert_eq!(of_path("ä/b"), "skill://%C3%A4/b");
    }

    #[test]
    fn the_name_is_the_last_segment_before_the_file() {
        assert_eq!(name("skill://acme/refunds/SKILL.md"), Some("refunds"));
        assert_eq!(name("github://o/r/skills/x/SKILL.md"), Some("x"));
        assert_eq!(root("skill://a/SKILL.md"), Some("skill://a"));
        for other in ["skill://a/skill.md", "skill://a", "SKILL.md", "a/SKILL.md"] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn references_stay_inside_the_skill() {
        let resolved = |reference: &str| resolve("skill://a", reference).map(|[_, uri]| uri);
        for good in ["b/c.md", "./b/c.md", "b/../b/c.md", "b//c.md", "skill://a/b/c.md"] {
            assert_eq!(resolved(good).as_deref(), Some("skill://a/b/c.md"), "{good}");
        }
        let [plain, encoded] = resolve("skill://a", "b c.md").unwrap();
        assert_eq!([plain.as_str(), encoded.as_str()], ["skill://a/b c.md", "skill://a/b%20c.md"]);
        for bad in
            ["../b", "b/../../c", "/etc/passwd", "skill://b/c.md", "skill://ab", "", ".", "b\\c"]
        {
            assert_eq!(resolved(bad), None, "{bad}");
        }
    }
}
