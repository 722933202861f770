//! Skills of a server: lists them, loads one, reads its files. Whatever is read is verified first.

use bowline_proto::client::{CallError, CallRequest};
use bowline_skills::entry::{
    GET, GetSkillParams, GetSkillResult, IDENTIFIER, LIST, ListSkillsResult, READ_DIRECTORY,
    ReadDirectoryParams, ReadDirectoryResult, SkillsSettings,
};
use bowline_skills::{Skill, SkillLimits};
use bowline_types::json::RawJson;
use bowline_types::method::{CustomMethod, MessageKind, Method};
use bowline_types::page::PagedResult;
use bowline_types::resource::ResourceDefinition;

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::list::{List, Page};
use crate::request;
use crate::resources::Contents;

/// The most pages of a folder that are read: a server may return cursors without end.
const MOST_PAGES: usize = 100;

impl Client {
    /// The skills that the server lists. A server may have more: [`skill`](Self::skill) finds one by
    /// its URI. No file of a skill is read.
    ///
    /// Two skills may have the same name, and a server chooses the names. Show the user which
    /// server a skill comes from.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// for skill in client.skills().all().await? {
    ///     println!("{}: {}", skill.name(), skill.description());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn skills(&self) -> List<Skill> {
        let list = List::of(
            self.link.clone(),
            method(LIST),
            |params| CallRequest::new(method(LIST), request::object(params)),
            |result| result.parse::<ListSkillsResult>().map(Page::of),
        );
        match self.check_skills(LIST) {
            Ok(()) => list,
            Err(error) => list.failing(error),
        }
    }

    /// Gets the entry of the skill whose `SKILL.md` has this URI, when awaited. It need not be
    /// listed. Get it again to see whether the skill has changed.
    ///
    /// # Errors
    ///
    /// If the call fails; see the predicates of [`Error`].
    pub fn skill(&self, uri: impl Into<String>) -> ClientCall<'static, Skill> {
        let uri = uri.into();
        if let Err(error) = self.check_skills(GET) {
            return ClientCall::impossible(uri, error);
        }
        let params = request::object(&GetSkillParams::new(&uri));
        let request = CallRequest::new(method(GET), params);
        ClientCall::new(self.link.clone(), uri, Ok(request), |uri, result: &RawJson| {
            let result: GetSkillResult = request::read(&uri, result)?;
            if result.skill.uri != uri {
                return Err(invalid(&uri, "the server sent the entry of another skill"));
            }
            Ok(result.skill)
        })
    }

    /// Loads a skill: reads its `SKILL.md`, and verifies it against the entry.
    ///
    /// Call it when the model or the user wants to use the skill, not before, and after the user has
    /// agreed if that is your rule: their consent belongs to exactly this entry. The text is input
    /// that the server wrote. It grants nothing: ignore `allowed-tools` in its frontmatter unless
    /// the user agrees, and tell the model which server it comes from.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// let skill = client.skill("skill://pdf-processing/SKILL.md").await?;
    /// let loaded = client.load_skill(&skill).await?;
    /// println!("{}", loaded.text());
    /// let forms = loaded.read("references/FORMS.md").await?;
    /// println!("{}", forms.text());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the entry breaks a rule, exceeds the default [`SkillLimits`] or has no digests, nothing is
    /// read. If the size, the digest or the frontmatter of `SKILL.md` differs from the entry, the
    /// text is dropped. [`Error::skill_mismatch`] says which.
    pub async fn load_skill(&self, skill: &Skill) -> Result<LoadedSkill> {
        let mismatch = |error| Error::skill(&skill.uri, error);
        skill.check(&SkillLimits::default()).map_err(mismatch)?;
        let contents = self.read_verified(skill, &skill.uri).await?;
        Ok(LoadedSkill { client: self.clone(), skill: skill.clone(), text: contents.text() })
    }

    /// The files and folders in a folder of a skill, such as `skill://pdf/references`, for people who
    /// look through the skills of a server. Folders have the media type `inode/directory`. Nothing of
    /// it is verified; a model reads files through [`load_skill`](Self::load_skill).
    ///
    /// # Errors
    ///
    /// If the server does not declare that it lists folders, nothing is sent and
    /// [`Error::is_not_offered`] is true. Otherwise if the call fails.
    pub async fn skill_folder(&self, uri: &str) -> Result<Vec<ResourceDefinition>> {
        let settings: Option<SkillsSettings> = self.capabilities().extensions.parse(IDENTIFIER);
        if !settings.is_some_and(|settings| settings.directory_read) {
            let missing = format!("`directoryRead` of the extension `{IDENTIFIER}`");
            let method = method(READ_DIRECTORY);
            return Err(Error::call(uri, CallError::NotOffered { method, missing }));
        }
        let (mut children, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let params = request::object(&ReadDirectoryParams::new(uri, cursor.take()));
            let request = CallRequest::new(method(READ_DIRECTORY), params);
            let read = |uri: String, result: &RawJson| request::read(&uri, result);
            let page: ReadDirectoryResult =
                ClientCall::new(self.link.clone(), uri.to_owned(), Ok(request), read).await?;
            let (items, next) = page.into_parts();
            children.extend(items);
            match next {
                None => return Ok(children),
                next => cursor = next,
            }
        }
        Err(Error::endless(uri, format!("the folder has more than {MOST_PAGES} pages")))
    }

    /// Reads a file of a skill from the server, and verifies it.
    async fn read_verified(&self, skill: &Skill, uri: &str) -> Result<Contents> {
        let contents = self.read(uri).fresh().await?;
        if contents.iter().count() != 1 {
            return Err(invalid(uri, "a file of a skill is one item"));
        }
        let bytes = contents.to_bytes().map_err(|error| invalid(uri, &error.to_string()))?;
        skill.verify(uri, &bytes).map_err(|error| Error::skill(uri, error))?;
        Ok(contents)
    }

    /// Refuses what the server does not declare.
    fn check_skills(&self, name: &str) -> Result<()> {
        if self.capabilities().supports_extension(IDENTIFIER) {
            return Ok(());
        }
        let missing = format!("the extension `{IDENTIFIER}`");
        let method = method(name);
        Err(Error::call(name, CallError::NotOffered { method, missing }))
    }
}

/// A skill whose `SKILL.md` was read and verified. Reads only files that the entry lists.
#[derive(Clone, Debug)]
pub struct LoadedSkill {
    client: Client,
    skill: Skill,
    text: String,
}

impl LoadedSkill {
    /// The whole text of `SKILL.md`, with its frontmatter.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The entry that the skill was loaded with.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// Reads a file of the skill: a path such as `references/FORMS.md`, as the text of the skill
    /// refers to it, or a URI of the entry.
    ///
    /// # Errors
    ///
    /// If the entry does not list the file, nothing is read. If the size or the digest differs from
    /// the entry, the content is dropped. [`Error::skill_mismatch`] says which.
    pub async fn read(&self, reference: &str) -> Result<Contents> {
        let uri = self.skill.resolve(reference).map_err(|error| Error::skill(reference, error))?;
        self.client.read_verified(&self.skill, uri).await
    }
}

/// A method of the extension.
fn method(name: &str) -> Method {
    let registered = CustomMethod::register(name, MessageKind::Request);
    Method::Custom(registered.expect("the specification has no method of this name"))
}

fn invalid(subject: &str, reason: &str) -> Error {
    Error::call(subject, CallError::Invalid(reason.to_owned()))
}
