//! The skills that a server has: their entries, files and directories.

use std::collections::BTreeMap;

use bowline_types::resource::{ResourceContents, ResourceDefinition};
use bytes::Bytes;

use crate::entry::{DIRECTORY, Skill, SkillFile};
use crate::error::SkillError;
use crate::folder::Files;
use crate::frontmatter::Frontmatter;
use crate::limits::SkillLimits;
use crate::media_type::media_type;
use crate::uri::{self, SKILL_MD};

/// The longest description of a skill, in characters.
const MOST_IN_DESCRIPTION: usize = 1024;

/// Skills that were read and checked. It never changes: after a reload, [`Skills`](crate::Skills) has a
/// new one.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// By URI.
    skills: Vec<Skill>,
    /// By URI.
    files: BTreeMap<String, CatalogueFile>,
    /// The children of each directory, by its URI.
    directories: BTreeMap<String, Vec<ResourceDefinition>>,
}

/// A file of a skill.
#[derive(Clone, Debug)]
pub struct CatalogueFile {
    definition: ResourceDefinition,
    bytes: Bytes,
}

impl Catalogue {
    /// Checks files, given by their paths below the folder of all skills, and finds the skills
    /// among them.
    ///
    /// # Errors
    ///
    /// Names the file that cannot be served, and why.
    pub(crate) fn new(files: Files, limits: &SkillLimits) -> Result<Self, SkillError> {
        let mut by_path = BTreeMap::new();
        for (path, bytes) in files {
            check_path(&path)?;
            if by_path.insert(path.clone(), bytes).is_some() {
                return Err(SkillError::new(path, "there are two files with this path"));
            }
        }
        let mut catalogue = Self::default();
        for (path, bytes) in &by_path {
            if let Some(root) = path.strip_suffix(SKILL_MD).and_then(|it| it.strip_suffix('/')) {
                let own = files_below(&by_path, root);
                catalogue.skills.push(skill(path, root, bytes, &own, limits)?);
            }
        }
        let (count, most) = (catalogue.skills.len(), limits.skills);
        if count > most {
            return Err(SkillError::new("", format!("{count} skills; {most} are allowed")));
        }
        for (path, bytes) in by_path {
            catalogue.add(&path, bytes)?;
        }
        catalogue.skills.sort_by(|one, other| one.uri.cmp(&other.uri));
        Ok(catalogue)
    }

    /// All skills, by URI.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The skill whose `SKILL.md` has this URI.
    pub fn skill(&self, uri: &str) -> Option<&Skill> {
        let index = self.skills.binary_search_by(|skill| skill.uri.as_str().cmp(uri)).ok()?;
        self.skills.get(index)
    }

    /// All files, by URI.
    pub fn files(&self) -> impl Iterator<Item = &CatalogueFile> {
        self.files.values()
    }

    /// The file with this URI.
    pub fn file(&self, uri: &str) -> Option<&CatalogueFile> {
        self.files.get(uri)
    }

    /// The children of the directory with this URI, which has no slash at its end.
    pub fn directory(&self, uri: &str) -> Option<&[ResourceDefinition]> {
        self.directories.get(uri).map(Vec::as_slice)
    }

    /// Adds a file, and the directories above it.
    fn add(&mut self, path: &str, bytes: Bytes) -> Result<(), SkillError> {
        let uri = uri::of_path(path);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut definition = ResourceDefinition::new(&uri, name);
        definition.mime_type = Some(media_type(name, &bytes).to_owned());
        definition.size = Some(bytes.len() as u64);
        if let Some(skill) = self.skills.iter().find(|skill| skill.uri == uri) {
            skill.name().clone_into(&mut definition.name);
            definition.description = Some(skill.description().to_owned());
        } else if !self.skills.iter().any(|skill| is_below(&uri, skill)) {
            let problem = format!("belongs to no skill: no folder above it has a `{SKILL_MD}`");
            return Err(SkillError::new(path, problem));
        }
        self.add_child(folder, definition.clone());
        self.files.insert(uri, CatalogueFile { definition, bytes });
        Ok(())
    }

    /// Adds a child to a folder, and the folder to the one above it.
    fn add_child(&mut self, folder: &str, child: ResourceDefinition) {
        let children = self.directories.entry(uri::of_path(folder)).or_default();
        let is_new = children.is_empty();
        children.push(child);
        if let Some((above, name)) = folder.rsplit_once('/').filter(|_| is_new) {
            let definition =
                ResourceDefinition::new(uri::of_path(folder), name).with_mime_type(DIRECTORY);
            self.add_child(above, definition);
        }
    }
}

impl CatalogueFile {
    /// The file as a list of resources shows it.
    pub fn definition(&self) -> &ResourceDefinition {
        &self.definition
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The file as a client reads it: text if it is UTF-8, or else bytes.
    pub fn contents(&self) -> ResourceContents {
        let uri = self.definition.uri.as_str();
        let contents = match std::str::from_utf8(&self.bytes) {
            Ok(text) => ResourceContents::text(uri, text),
            Err(_) => ResourceContents::blob(uri, &self.bytes),
        };
        match &self.definition.mime_type {
            Some(media_type) => contents.with_mime_type(media_type),
            None => contents,
        }
    }
}

/// Refuses paths that are no plain paths below a folder.
fn check_path(path: &str) -> Result<(), SkillError> {
    let fail = |problem: &str| Err(SkillError::new(path, problem));
    if path == SKILL_MD {
        return fail("a skill stands in a folder with its name; name the folder above that");
    }
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.');
    if !path.split('/').all(is_plain) || path.contains(['\\', '\0']) {
        return fail("not a plain path: parts must not be empty or begin with a dot");
    }
    Ok(())
}

/// The files of the folder of a skill, and of the folders in it.
fn files_below<'a>(files: &'a BTreeMap<String, Bytes>, root: &str) -> Vec<(&'a str, &'a Bytes)> {
    let start = format!("{root}/");
    let below = files.range(start.clone()..).take_while(|(path, _)| path.starts_with(&start));
    below.map(|(path, bytes)| (path.as_str(), bytes)).collect()
}

/// The entry of the skill with this `SKILL.md`, once it has been checked.
fn skill(
    path: &str,
    root: &str,
    manifest: &[u8],
    files: &[(&str, &Bytes)],
    limits: &SkillLimits,
) -> Result<Skill, SkillError> {
    let fail = |problem: String| Err(SkillError::new(path, problem));
    let Ok(text) = std::str::from_utf8(manifest) else {
        return fail("the file is not UTF-8".to_owned());
    };
    let frontmatter = Frontmatter::of_skill(text).map_err(|error| {
        let line = error.line();
        SkillError::new(path, error.problem).at(line)
    })?;
    let (name, folder) = (frontmatter.name(), root.rsplit('/').next().unwrap_or(root));
    if !uri::is_skill_name(name) {
        return fail(format!(
            "`{name}` cannot be the name of a skill: use up to 64 lower-case letters, digits and \
             single hyphens between them"
        ));
    }
    if name != folder {
        return fail(format!("the skill is named `{name}`, but its folder `{folder}`"));
    }
    let length = frontmatter.description().chars().count();
    if length > MOST_IN_DESCRIPTION {
        return fail(format!(
            "`description` has {length} characters; {MOST_IN_DESCRIPTION} are allowed"
        ));
    }
    let (count, most) = (files.len(), limits.files);
    if count > most {
        return fail(format!("the skill has {count} files; {most} are allowed"));
    }
    let (size, most) =
        (files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>(), limits.bytes);
    if size > most {
        return fail(format!("the files of the skill have {size} bytes; {most} are allowed"));
    }
    let entries = files.iter().map(|(path, bytes)| SkillFile::of(uri::of_path(path), bytes));
    let entries = entries.collect();
    Ok(Skill::new(uri::of_path(path), frontmatter, entries))
}

/// Whether a URI is in the directory of a skill.
fn is_below(uri: &str, skill: &Skill) -> bool {
    let rest = uri::root(&skill.uri).and_then(|root| uri.strip_prefix(root));
    rest.is_some_and(|rest| rest.starts_with('/'))
}
