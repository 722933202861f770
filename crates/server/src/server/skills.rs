//! The builder method for skills.

use bowline_skills::Skills;

use super::{Inner, Server};
use crate::error::BuildError;
use crate::extension::Extensions;

impl Server {
    /// Offers skills: folders with a `SKILL.md`, which tell a model how to do something.
    ///
    /// Hosts find them with `skills/list` of the extension `io.modelcontextprotocol/skills`. Hosts
    /// without the extension find each `SKILL.md` among the resources. All callers see all skills.
    /// A server that mounts this one offers its skills, too.
    ///
    /// ```
    /// use bowline_server::{Server, Skills};
    ///
    /// let text = "---\nname: greet\ndescription: How to greet people here\n---\n\nSay moin.\n";
    /// let skills = Skills::files([("greet/SKILL.md", text)])?;
    /// let server = Server::new("manners", "1.0.0").skills(skills);
    /// # assert!(server.build().is_ok());
    /// # Ok::<(), bowline_server::SkillError>(())
    /// ```
    ///
    /// [`Skills::dir`] reads a folder. After a change in it, [`Skills::reload`] updates the server.
    #[must_use]
    pub fn skills(self, skills: Skills) -> Self {
        self.edit(|inner| {
            if inner.skills.is_some() {
                let problem = "`.skills(..)` was called twice; put all skills into one folder";
                inner.note(Err(BuildError::new(problem)));
                return;
            }
            for resource in crate::skills::resources(&skills) {
                inner.note(inner.registry.insert_resource(resource));
            }
            inner.skills = Some(skills);
        })
    }
}

impl Inner {
    /// The extensions that the program added, and the one for skills if there are any.
    ///
    /// # Errors
    ///
    /// If a file of a skill is too long to be sent.
    pub(super) fn extensions_with_skills(&self) -> Result<Extensions, BuildError> {
        let mut extensions = self.extensions.clone();
        if let Some(skills) = &self.skills {
            let (page_size, most) = (self.page_size, self.limits.result);
            crate::skills::check_sizes(skills, most)?;
            let hint = self.caching.general;
            let extension =
                crate::skills::extension(skills, &self.registry, (page_size, most), hint);
            extensions.add(extension);
        }
        Ok(extensions)
    }
}
