//! Rules that name tools which the server does not list: mistyped ones would hide nothing.

use bowline_types::text::excerpt;

use super::entry::ToolRules;

/// A rule for a tool that the server does not list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnlistedTool {
    /// The rule: `show`, `hide` or `rename`.
    pub rule: &'static str,
    /// The name that stands there.
    pub name: String,
    /// The listed tool with the most similar name.
    pub near: Option<String>,
}

impl ToolRules {
    /// The rules for tools that are not in the list of the server.
    pub fn unlisted<'n>(
        &self,
        listed: &(impl Iterator<Item = &'n str> + Clone),
    ) -> Vec<UnlistedTool> {
        let show = self.show.iter().flatten().map(|name| ("show", name));
        let hide = self.hide.iter().map(|name| ("hide", name));
        let rename = self.rename.keys().map(|name| ("rename", name));
        let named = show.chain(hide).chain(rename);
        let unlisted = named.filter(|(_, name)| !listed.clone().any(|tool| tool == name.as_str()));
        let near = |name: &str| nearest(name, listed.clone()).map(str::to_owned);
        unlisted
            .map(|(rule, name)| UnlistedTool { rule, name: name.clone(), near: near(name) })
            .collect()
    }
}

impl UnlistedTool {
    /// What is wrong.
    pub fn problem(&self) -> String {
        let Self { rule, name, .. } = self;
        let effect = match *rule {
            "hide" => "so it hides nothing",
            "rename" => "so it renames nothing",
            _ => "so it shows nothing",
        };
        let name = excerpt(name);
        format!("`tools.{rule}` names `{name}`, which the server does not list, {effect}")
    }

    /// What the user can do.
    pub fn advice(&self) -> String {
        match &self.near {
            Some(near) => format!("did you mean `{}`?", excerpt(near)),
            None => "correct the name, or remove it".to_owned(),
        }
    }
}

/// The name that differs in the fewest letters, if these are few. Capital letters and the signs
/// between words do not count.
fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let comparable = |name: &str| name.trim().to_lowercase().replace(['-', '.', ' '], "_");
    let wrong = comparable(wrong);
    let most = (wrong.chars().count() / 3).max(1);
    let distance = |name: &str| strsim::damerau_levenshtein(&wrong, &comparable(name));
    let near = names.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_rule_is_found_with_the_name_that_was_meant() {
        let rules = ToolRules {
            show: Some(vec!["git_log".to_owned()]),
            hide: vec!["git_rest".to_owned(), "Git-Reset".to_owned(), "draw".to_owned()],
            ..ToolRules::default()
        };
        let found = rules.unlisted(&["git_log", "git_reset", "git_status"].into_iter());
        let found: Vec<_> = found.iter().map(|it| (it.problem(), it.advice())).collect();
        let problem = |name| {
            format!(
                "`tools.hide` names `{name}`, which the server does not list, so it hides nothing"
            )
        };
        let meant = "did you mean `git_reset`?".to_owned();
        let remove = "correct the name, or remove it".to_owned();
        let expected = [
            (problem("git_rest"), meant.clone()),
            (problem("Git-Reset"), meant),
            (problem("draw"), remove),
        ];
        assert_eq!(found, expected);
    }
}
