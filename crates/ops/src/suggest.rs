//! Names that a user could have meant.

/// The names that a hint shows if none is near; the rest is counted.
const SHOWN: usize = 20;

/// The hint for a name that does not exist: the nearest ones, or else all of them. `None` if there
/// are no names at all.
pub fn hint(wrong: &str, names: &[&str]) -> Option<String> {
    match nearest(wrong, names)[..] {
        [] if names.is_empty() => None,
        [] => Some(format!("it has {}", listed(names))),
        [one] => Some(format!("did you mean `{one}`?")),
        [one, other, ..] => Some(format!("did you mean `{one}` or `{other}`?")),
    }
}

/// The first names, up to what a hint can hold.
pub fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The names that differ in a few letters, the nearest first.
pub fn nearest<'n>(wrong: &str, names: &[&'n str]) -> Vec<&'n str> {
    let wrong = comparable(wrong);
    let far = (wrong.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|name| (distance(&wrong, &comparable(name)), *name))
        .filter(|(distance, _)| *distance <= far)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, name)| name).collect()
}

/// A name without what users mix up: capital letters, and signs between words.
fn comparable(name: &str) -> String {
    name.to_lowercase().replace(['-', '.', ' '], "_")
}

/// How many letters differ. A name that contains the other is near, however long it is.
fn distance(wrong: &str, name: &str) -> usize {
    let is_part = wrong.len() >= 3 && name.contains(wrong);
    match strsim::damerau_levenshtein(wrong, name) {
        distance if is_part => distance.min(1),
        distance => distance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["git_status", "git_log", "echo", "add"];

    #[test]
    fn a_misspelled_name_is_near() {
        assert_eq!(nearest("git-stats", NAMES), ["git_status"]);
        assert_eq!(nearest("Ehco", NAMES), ["echo"]);
        assert_eq!(nearest("status", NAMES), ["git_status"]);
        assert_eq!(nearest("git", NAMES), ["git_status", "git_log"]);
        assert_eq!(nearest("subtract", NAMES), [""; 0]);
        assert_eq!(nearest("a", NAMES), [""; 0]);
    }

    #[test]
    fn the_hint_names_the_nearest_or_all() {
        assert_eq!(hint("ech", NAMES).unwrap(), "did you mean `echo`?");
        assert_eq!(hint("git", NAMES).unwrap(), "did you mean `git_status` or `git_log`?");
        assert_eq!(hint("draw", NAMES).unwrap(), "it has git_status, git_log, echo, add");
        assert_eq!(hint("draw", &[]), None);
        let many = vec!["name"; 25];
        assert!(hint("draw", &many).unwrap().ends_with("name and 5 more"));
    }
}
