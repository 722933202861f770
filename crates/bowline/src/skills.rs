//! Agent Skills (an extension): folders of instructions that a server offers to models.
//!
//! A server serves a folder of them with `Server::skills`, and a client reads them with
//! `Client::skills`. The crate `bowline-skills` has the format itself: frontmatter, digests, catalogues.

#[doc(inline)]
pub use bowline_skills::{
    Catalogue, Digest, Frontmatter, FrontmatterValue, Skill, SkillError, SkillFile, SkillFiles,
    SkillLimits, SkillMismatch, Skills,
};
