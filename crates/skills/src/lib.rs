//! Agent Skills over the Model Context Protocol: the extension `io.modelcontextprotocol/skills`.
//!
//! A skill is a folder with a `SKILL.md` that tells a model how to do something, and with files
//! that this text refers to. A server lists its skills, each with the size and the digest of every
//! file; a client compares what it reads with the list. This crate has what both sides need, and
//! no network: the rules of the [extension's specification], which are the same in all revisions.
//!
//! On a server, [`Skills`] reads a folder into a [`Catalogue`], whose [`Skill`]s are the entries of the
//! list. On a client, a [`Skill`] comes from the list, and its methods [`check`](Skill::check) and
//! [`verify`](Skill::verify) compare it with what was read.
//!
//! Everything that a peer or a folder decides is bounded by [`SkillLimits`], or by a constant named
//! `MOST_…` beside the code that enforces it.
//!
//! In reading order:
//!
//! * [`entry`]: the entry of a skill in a list; the messages of the extension;
//! * [`digest`]: the digest of a file;
//! * [`frontmatter`]: the YAML at the begin of a `SKILL.md`; `yaml` reads it;
//! * [`uri`]: names and URIs of skills;
//! * [`limits`]: how large a skill may be;
//! * [`error`]: what is wrong with a folder of skills;
//! * [`folder`]: collects the files of skills from a folder;
//! * [`catalogue`]: the skills that a server has: entries, files, directories; `media_type` guesses what
//!   a file is;
//! * [`skills`]: a catalogue that can be read again;
//! * [`verify`]: whether a file is the one that an entry describes.
//!
//! [extension's specification]: https://modelcontextprotocol.io/extensions/skills/overview

pub mod catalogue;
pub mod digest;
pub mod entry;
pub mod error;
pub mod folder;
pub mod frontmatter;
pub mod limits;
mod media_type;
pub mod skills;
pub mod uri;
pub mod verify;
mod yaml;

pub use catalogue::Catalogue;
pub use digest::Digest;
pub use entry::{IDENTIFIER, Skill, SkillFile, SkillFiles};
pub use error::SkillError;
pub use frontmatter::{Frontmatter, FrontmatterValue};
pub use limits::SkillLimits;
pub use skills::Skills;
pub use verify::SkillMismatch;
