//! Skills: declares the extension, serves its methods, and serves the files as resources.
//!
//! The list of resources has the `SKILL.md` of each skill. All other files are read through one
//! template, so that a folder of many files does not make a list of many resources.

use std::sync::Arc;

use bowline_skills::catalogue::CatalogueFile;
use bowline_skills::entry::{GET, IDENTIFIER, LIST, READ_DIRECTORY, SkillsSettings};
use bowline_skills::{Catalogue, Skill, SkillError, Skills};
use bowline_types::cache::CacheHint;
use bowline_types::json::RawJson;

use crate::error::BuildError;
use crate::extension::Extension;
use crate::extract::Uri;
use crate::feature::Resource;
use crate::registry::{Registry, WeakRegistry};

mod serve;

use serve::SkillPages;

/// The template of all files of skills.
const FILES: &str = "skill://{+path}";

/// The resources of a server with these skills.
pub(crate) fn resources(skills: &Skills) -> Vec<Resource> {
    let current = skills.current();
    let manifests = current.skills().iter().map(|skill| manifest(skills, skill));
    [files(skills)].into_iter().chain(manifests).collect()
}

/// The extension of a server that is being built. From now on a reload changes its resources, and
/// fails with a file that is longer than `most` bytes.
pub(crate) fn extension(
    skills: &Skills,
    registry: &Registry,
    (page_size, most): (usize, usize),
    mut hint: CacheHint,
) -> Extension {
    let (weak, served) = (registry.downgrade(), skills.clone());
    let server = registry.downgrade();
    let check = move |new: &Catalogue| match first_too_long(new, most) {
        Some(uri) if server.upgrade().is_some() => Err(SkillError::new(uri, too_long(most))),
        _ => Ok(()),
    };
    skills.on_checked_reload(check, move |old, new| update(&weak, &served, old, new));
    hint.ttl = skills.fresh_for();
    let pages = Arc::new(SkillPages { skills: skills.clone(), page_size, hint });
    let (list, get, read_directory) = (pages.clone(), pages.clone(), pages);
    Extension::new(IDENTIFIER)
        .settings(&SkillsSettings::with_directories())
        .for_every_client()
        .method(LIST, move |context, params| {
            let pages = list.clone();
            async move { pages.list(&context, params) }
        })
        .method(GET, move |context, params| {
            let pages = get.clone();
            async move { pages.get(&context, params) }
        })
        .method(READ_DIRECTORY, move |params| {
            let pages = read_directory.clone();
            async move { pages.read_directory(params) }
        })
}

/// Refuses files that are too long to be sent.
///
/// # Errors
///
/// Names the first such file.
pub(crate) fn check_sizes(skills: &Skills, most: usize) -> Result<(), BuildError> {
    match first_too_long(&skills.current(), most) {
        None => Ok(()),
        Some(uri) => Err(BuildError::new(format!("{uri} {}", too_long(most)))),
    }
}

/// The URI of the first file that is too long to be sent.
fn first_too_long(skills: &Catalogue, most: usize) -> Option<String> {
    let is_long = |file: &&CatalogueFile| {
        // As JSON a file is at least this long.
        let bytes = file.bytes().len();
        bytes > most
            || RawJson::from_value(&file.contents()).is_ok_and(|it| it.as_str().len() > most)
    };
    skills.files().find(is_long).map(|file| file.definition().uri.clone())
}

fn too_long(most: usize) -> String {
    format!("is too long to be sent: a result may have {most} bytes (`Limits::result`)")
}

/// Serves every file of every skill.
fn files(skills: &Skills) -> Resource {
    let ttl = skills.fresh_for();
    let skills = skills.clone();
    let read = move |Uri(uri): Uri| {
        let skills = skills.clone();
        async move { skills.current().file(&uri).map(CatalogueFile::contents) }
    };
    Resource::template(FILES, read)
        .name("skill-files")
        .describe(
            "The files of the skills. `skills/list` lists them, and each SKILL.md refers to them",
        )
        .ttl(ttl)
}

/// The `SKILL.md` of a skill, as a resource of the list.
fn manifest(skills: &Skills, skill: &Skill) -> Resource {
    let ttl = skills.fresh_for();
    let size = skill.file(&skill.uri).map_or(0, |file| file.size);
    let (skills, uri) = (skills.clone(), skill.uri.clone());
    let read = move || {
        let (skills, uri) = (skills.clone(), uri.clone());
        async move { skills.current().file(&uri).map(CatalogueFile::contents) }
    };
    Resource::new(skill.uri.clone(), read)
        .name(skill.name())
        .describe(skill.description())
        .mime("text/markdown")
        .size(size)
        .ttl(ttl)
}

/// Changes the resources of a server after a reload, and notifies its clients. Returns whether the
/// server still exists.
fn update(registry: &WeakRegistry, skills: &Skills, old: &Catalogue, new: &Catalogue) -> bool {
    let Some(registry) = registry.upgrade() else { return false };
    for skill in old.skills() {
        if new.skill(&skill.uri) != Some(skill) {
            registry.remove_resource(&skill.uri);
        }
    }
    for skill in new.skills() {
        if old.skill(&skill.uri) != Some(skill) {
            // Fails only if the program itself has a resource with this URI, which is then read.
            let _ = registry.insert_resource(manifest(skills, skill));
            changed_files(old, skill).for_each(|uri| registry.notify().resource_updated(uri));
        }
    }
    true
}

/// The files of a skill that another catalogue has with other contents.
fn changed_files<'a>(old: &'a Catalogue, skill: &'a Skill) -> impl Iterator<Item = &'a str> {
    let before = old.skill(&skill.uri);
    let is_changed = move |uri: &str| {
        let of = |skill: &Skill| skill.file(uri).map(|file| file.digest);
        before.and_then(of).is_some_and(|digest| Some(digest) != of(skill))
    };
    skill.files.listed().iter().map(|file| file.uri.as_str()).filter(move |uri| is_changed(uri))
}
