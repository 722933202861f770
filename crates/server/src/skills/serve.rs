//! Serves the methods of the extension for skills.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_skills::entry::{
    GetSkillParams, GetSkillResult, ListSkillsResult, ReadDirectoryParams, ReadDirectoryResult,
};
use bowline_skills::uri::SCHEME;
use bowline_skills::{Skill, Skills};
use bowline_types::cache::CacheHint;
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::page::PageParams;
use bowline_types::text::excerpt;

use crate::error::{Error, Result};
use crate::extract::{Context, Params};
use crate::respond::Json;

/// About how many bytes a page of skills may have. One skill is never cut.
const MOST_IN_PAGE: usize = 1024 * 1024;

/// What a file of an entry takes beside its URI: its digest, its size, the names of members.
const FILE_BYTES: usize = 120;

/// The skills of a server, as its methods list them.
pub(super) struct SkillPages {
    pub(super) skills: Skills,
    pub(super) page_size: usize,
    pub(super) hint: CacheHint,
}

impl SkillPages {
    /// Answers `skills/list`. Skills are sorted, and a cursor holds the URI of the last skill of
    /// its page: no skill is repeated, also if the skills are reloaded between two pages.
    pub(super) fn list(
        &self,
        context: &Context,
        Params(params): Params<PageParams>,
    ) -> Result<Json<ListSkillsResult>> {
        let current = self.skills.current();
        let start = match &params.cursor {
            None => 0,
            Some(cursor) => {
                let last = open(cursor)?;
                current.skills().partition_point(|skill| skill.uri <= last)
            }
        };
        let rest = current.skills().get(start..).unwrap_or_default();
        let page = &rest[..self.fitting(rest)];
        let next = page.last().filter(|_| page.len() < rest.len()).map(|skill| seal(&skill.uri));
        let result = ListSkillsResult::new(page.to_vec(), next);
        Ok(Json(match context.revision().has_cache_hints() {
            true => result.with_cache(self.hint),
            false => result,
        }))
    }

    /// How many of these skills fit into a page: at least one.
    fn fitting(&self, skills: &[Skill]) -> usize {
        let mut bytes = 0;
        let fits = |skill: &&Skill| {
            bytes += size(skill);
            bytes <= MOST_IN_PAGE
        };
        let fitting = skills.iter().take(self.page_size).take_while(fits).count();
        fitting.max(1).min(skills.len())
    }

    /// Answers `skills/get`.
    pub(super) fn get(
        &self,
        context: &Context,
        Params(params): Params<GetSkillParams>,
    ) -> Result<Json<GetSkillResult>> {
        let current = self.skills.current();
        let Some(skill) = current.skill(&params.uri) else {
            return Err(refusal(format!("no skill is served at `{}`", excerpt(&params.uri))));
        };
        let result = GetSkillResult::new(skill.clone());
        Ok(Json(match context.revision().has_cache_hints() {
            true => result.with_cache(self.hint),
            false => result,
        }))
    }

    /// Answers `resources/directory/read`.
    pub(super) fn read_directory(
        &self,
        Params(params): Params<ReadDirectoryParams>,
    ) -> Result<Json<ReadDirectoryResult>> {
        let current = self.skills.current();
        let uri = excerpt(&params.uri);
        let Some(children) = current.directory(&params.uri) else {
            return Err(refusal(match current.file(&params.uri) {
                Some(_) => format!("`{uri}` is a file; read it with `resources/read`"),
                None => format!("no directory is served at `{uri}`"),
            }));
        };
        let start = match &params.cursor {
            None => 0,
            Some(cursor) => {
                let last = open(cursor)?;
                let position = children.iter().position(|child| child.uri == last);
                position.map(|it| it + 1).ok_or_else(unknown_cursor)?
            }
        };
        let rest = children.get(start..).unwrap_or_default();
        let page = &rest[..rest.len().min(self.page_size.max(1))];
        let next = page.last().filter(|_| page.len() < rest.len()).map(|child| seal(&child.uri));
        Ok(Json(ReadDirectoryResult::new(page.to_vec(), next)))
    }
}

/// About how many bytes an entry takes.
fn size(skill: &Skill) -> usize {
    let files = skill.files.listed().iter().map(|file| file.uri.len() + FILE_BYTES);
    skill.uri.len() + skill.description().len() + files.sum::<usize>()
}

/// The cursor after the item with a URI.
fn seal(uri: &str) -> Cursor {
    Cursor::new(URL_SAFE_NO_PAD.encode(uri))
}

/// The URI in a cursor.
fn open(cursor: &Cursor) -> Result<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor.as_str()).map_err(|_| unknown_cursor())?;
    let uri = String::from_utf8(bytes).map_err(|_| unknown_cursor())?;
    if uri.starts_with(SCHEME) { Ok(uri) } else { Err(unknown_cursor()) }
}

fn unknown_cursor() -> Error {
    refusal("`params.cursor`: this list did not give it; begin again without one".to_owned())
}

fn refusal(message: String) -> Error {
    Error::refusal(ErrorObject::invalid_params(message))
}
