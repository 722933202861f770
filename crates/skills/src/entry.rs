//! The entry of a skill in a list, and the messages of the extension.
//!
//! Reading is lenient, so that one invalid entry does not make the whole list fail. Call
//! [`Skill::check`](crate::Skill::check) before you use a skill.

use bowline_types::cache::CacheHint;
use bowline_types::id::Cursor;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::page::{LEFT_OUT, LeftOutServer, PagedResult};
use bowline_types::resource::ResourceDefinition;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::frontmatter::Frontmatter;

/// The identifier of the extension in capabilities.
pub const IDENTIFIER: &str = "io.modelcontextprotocol/skills";

/// The method that lists skills.
pub const LIST: &str = "skills/list";

/// The method that gets the entry of one skill.
pub const GET: &str = "skills/get";

/// The method that lists the children of a directory.
pub const READ_DIRECTORY: &str = "resources/directory/read";

/// The media type of a directory.
pub const DIRECTORY: &str = "inode/directory";

/// The settings of the extension that a server declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SkillsSettings {
    /// Whether the server has the method `resources/directory/read`.
    pub directory_read: bool,
}

impl SkillsSettings {
    /// The settings of a server that lists directories.
    pub fn with_directories() -> Self {
        Self { directory_read: true }
    }
}

/// The entry of a skill: the frontmatter of its `SKILL.md`, and the size and digest of all its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// The URI of its `SKILL.md`. It names the skill at its server.
    pub uri: String,
    /// The frontmatter of its `SKILL.md`, with name and description. The name is a label for people and
    /// models: another skill may have the same.
    pub frontmatter: Frontmatter,
    /// Its files, `SKILL.md` included.
    #[serde(rename = "resources", default)]
    pub files: SkillFiles,
}

impl Skill {
    /// A skill with these files.
    pub fn new(uri: impl Into<String>, frontmatter: Frontmatter, files: Vec<SkillFile>) -> Self {
        Self { uri: uri.into(), frontmatter, files: SkillFiles::Listed(files) }
    }

    /// The name of the skill.
    pub fn name(&self) -> &str {
        self.frontmatter.name()
    }

    /// What the skill is for, and when to use it.
    pub fn description(&self) -> &str {
        self.frontmatter.description()
    }

    /// The entry of a file.
    pub fn file(&self, uri: &str) -> Option<&SkillFile> {
        self.files.listed().iter().find(|file| file.uri == uri)
    }
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// The URI of the file.
    pub uri: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The number of its bytes.
    pub size: u64,
}

impl SkillFile {
    /// The entry of a file with these bytes.
    pub fn of(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self { uri: uri.into(), digest: Digest::of(bytes), size: bytes.len() as u64 }
    }
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillFiles {
    /// All of them, each once.
    Listed(Vec<SkillFile>),
    /// The server makes the content when it is read, so there are no digests.
    Dynamic,
    /// The server sent something that cannot be read, for this reason. Such a skill must not be loaded.
    Unreadable(String),
}

impl SkillFiles {
    /// The files; none if they are not listed.
    pub fn listed(&self) -> &[SkillFile] {
        match self {
            Self::Listed(files) => files,
            Self::Dynamic | Self::Unreadable(_) => &[],
        }
    }
}

impl Default for SkillFiles {
    /// What an entry without the member has.
    fn default() -> Self {
        Self::Unreadable("`resources`: missing".to_owned())
    }
}

impl Serialize for SkillFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(files) => files.serialize(serializer),
            Self::Dynamic => serializer.serialize_str("dynamic"),
            Self::Unreadable(_) => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for SkillFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Ok(match json.as_str() {
            r#""dynamic""# => Self::Dynamic,
            text if text.starts_with('[') => match json.parse() {
                Ok(files) => Self::Listed(files),
                Err(error) => Self::Unreadable(format!("`resources`: {error}")),
            },
            _ => Self::Unreadable("`resources`: expected an array or \"dynamic\"".to_owned()),
        })
    }
}

/// One page of `skills/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListSkillsResult {
    /// The skills of this page, each with all of its files. An entry that cannot be read has the
    /// reason in the place of its [files](SkillFiles::Unreadable), and its URI if it has one.
    #[serde(deserialize_with = "one_by_one")]
    pub skills: Vec<Skill>,
    /// The cursor of the next page. `None` on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How long the page is fresh, in milliseconds (since 2026-07-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Which callers may get the stored page, `public` or `private` (since 2026-07-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<String>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListSkillsResult {
    /// A page, and the cursor of the next one if there is one.
    pub fn new(skills: Vec<Skill>, next_cursor: Option<Cursor>) -> Self {
        Self { skills, next_cursor, ttl_ms: None, cache_scope: None, meta: Meta::new() }
    }

    /// Sets how long, and for which callers, the page may be stored.
    #[must_use]
    pub fn with_cache(mut self, hint: CacheHint) -> Self {
        self.ttl_ms = Some(hint.ttl_ms());
        self.cache_scope = Some(hint.scope.as_str().to_owned());
        self
    }
}

/// Reads the entries of a list one by one: one that cannot be read does not cost the others.
fn one_by_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Skill>, D::Error> {
    #[derive(Deserialize)]
    struct Named {
        uri: String,
    }
    let unreadable = |entry: &RawJson, reason: String| {
        let uri = entry.parse().map_or_else(|_| String::new(), |Named { uri }| uri);
        let files = SkillFiles::Unreadable(reason);
        Skill { uri, frontmatter: Frontmatter::default(), files }
    };
    let entries = Vec::<RawJson>::deserialize(deserializer)?;
    let read = |entry: RawJson| {
        entry.parse().unwrap_or_else(|error| unreadable(&entry, error.to_string()))
    };
    Ok(entries.into_iter().map(read).collect())
}

impl PagedResult for ListSkillsResult {
    type Item = Skill;

    fn left_out(&self) -> Vec<LeftOutServer> {
        self.meta.parse(LEFT_OUT).unwrap_or_default()
    }

    fn into_parts(self) -> (Vec<Skill>, Option<Cursor>) {
        (self.skills, self.next_cursor)
    }
}

/// Which skill a client wants the entry of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetSkillParams {
    /// The URI of its `SKILL.md`.
    pub uri: String,
}

impl GetSkillParams {
    /// The skill with this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The result of `skills/get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetSkillResult {
    /// The entry of the skill.
    pub skill: Skill,
    /// How long the entry is fresh, in milliseconds (since 2026-07-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Which callers may get the stored entry, `public` or `private` (since 2026-07-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<String>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl GetSkillResult {
    /// The entry of a skill.
    pub fn new(skill: Skill) -> Self {
        Self { skill, ttl_ms: None, cache_scope: None, meta: Meta::new() }
    }

    /// Sets how long, and for which callers, the entry may be stored.
    #[must_use]
    pub fn with_cache(mut self, hint: CacheHint) -> Self {
        self.ttl_ms = Some(hint.ttl_ms());
        self.cache_scope = Some(hint.scope.as_str().to_owned());
        self
    }
}

/// Which directory a client wants to list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadDirectoryParams {
    /// The URI of the directory, without a slash at its end.
    pub uri: String,
    /// The `nextCursor` of the page before. `None` requests the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

impl ReadDirectoryParams {
    /// A page of the directory with this URI.
    pub fn new(uri: impl Into<String>, cursor: Option<Cursor>) -> Self {
        Self { uri: uri.into(), cursor }
    }
}

/// One page of `resources/directory/read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadDirectoryResult {
    /// The children of the directory. Directories have the media type `inode/directory`.
    pub resources: Vec<ResourceDefinition>,
    /// The cursor of the next page. `None` on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ReadDirectoryResult {
    /// A page, and the cursor of the next one if there is one.
    pub fn new(resources: Vec<ResourceDefinition>, next_cursor: Option<Cursor>) -> Self {
        Self { resources, next_cursor, meta: Meta::new() }
    }
}

impl PagedResult for ReadDirectoryResult {
    type Item = ResourceDefinition;

    fn into_parts(self) -> (Vec<ResourceDefinition>, Option<Cursor>) {
        (self.resources, self.next_cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(resources: &str) -> Skill {
        let text = format!(
            r#"{{"uri":"skill://a/SKILL.md","frontmatter":{{"name":"a","description":"b"}}{resources}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn an_entry_is_read_and_written_as_on_the_wire() {
        let digest = Digest::of(b"");
        let file = format!(r#"{{"uri":"skill://a/SKILL.md","digest":"{digest}","size":0}}"#);
        let listed = skill(&format!(r#","resources":[{file}]"#));
        assert_eq!(listed.files.listed(), [SkillFile::of("skill://a/SKILL.md", b"")]);
        let text = serde_json::to_string(&listed).unwrap();
        assert!(text.ends_with(&format!(r#""resources":[{file}]}}"#)), "{text}");
        let dynamic = skill(r#","resources":"dynamic""#);
        assert_eq!(dynamic.files, SkillFiles::Dynamic);
        assert!(serde_json::to_string(&dynamic).unwrap().ends_with(r#""resources":"dynamic"}"#));
    }

    #[test]
    fn a_wrong_entry_does_not_cost_the_list() {
        let good = r#"{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"b"}}"#;
        for (entry, uri, reason) in [
            (r#"{"frontmatter":{}}"#, "", "uri"),
            (r#"{"uri":"skill://b/SKILL.md"}"#, "skill://b/SKILL.md", "frontmatter"),
            (
                r#"{"uri":"skill://b/SKILL.md","frontmatter":{"a":1,"a":2}}"#,
                "skill://b/SKILL.md",
                "duplicate",
            ),
            (r#"{"uri":1,"frontmatter":{}}"#, "", "uri"),
            ("7", "", "object"),
        ] {
            let page = format!(r#"{{"skills":[{entry},{good}]}}"#);
            let page: ListSkillsResult = serde_json::from_str(&page).unwrap();
            let [bad, good] = page.skills.as_slice() else { panic!("{page:?}") };
            assert_eq!((bad.uri.as_str(), good.name()), (uri, "a"), "{entry}");
            let problem = bad.check(&crate::SkillLimits::default()).unwrap_err().to_string();
            assert!(problem.contains("cannot be read: ") && problem.contains(reason), "{problem}");
        }
    }

    #[test]
    fn a_wrong_list_of_files_does_not_cost_the_list_of_skills() {
        for (resources, reason) in [
            ("", "missing"),
            (r#","resources":null"#, "expected an array or \"dynamic\""),
            (r#","resources":"none""#, "expected an array or \"dynamic\""),
            (r#","resources":{}"#, "expected an array or \"dynamic\""),
            (r#","resources":[{"uri":"a","digest":"sha256:","size":1}]"#, "64 hex digits"),
            (r#","resources":[{"uri":"a","size":1}]"#, "digest`: missing"),
        ] {
            let SkillFiles::Unreadable(found) = skill(resources).files else { panic!() };
            assert!(found.contains(reason), "{resources}: {found}");
        }
    }
}
