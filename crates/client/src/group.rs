//! Several servers, offered as one under names that the application chooses.
//!
//! A tool or prompt of a member is called `member__name`. The name of a member is a [`Namespace`],
//! so qualified names never collide, however servers name themselves and their tools.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use bowline_types::namespace::Namespace;
use bowline_types::prompt::{GetPromptResult, PromptDefinition};
use bowline_types::resource::{ResourceDefinition, ResourceTemplate};
use bowline_types::tool::ToolDefinition;
use serde::Serialize;

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::list::List;
use crate::resources::Contents;
use crate::tool_outcome::ToolOutcome;

/// Several servers under names that the application chooses.
///
/// A tool `status` of the member `git` is listed and called as `git__status`; prompts likewise.
/// Resources keep their URIs, which may mean different things on different servers, so they are
/// listed with the name of their member and read from that member.
///
/// Each call goes to one member, and lists are fetched from each member separately. No server learns
/// anything about another. Hooks, roots and limits are those of each client.
///
/// ```no_run
/// use bowline_client::{Client, Command, Group};
/// use serde_json::json;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let group = Group::new()
///     .with("git", Client::connect(Command::new("uvx").arg("mcp-server-git")).await?)?
///     .with("time", Client::connect(Command::new("uvx").arg("mcp-server-time")).await?)?;
/// let listing = group.tools().await;
/// for (member, error) in &listing.failures {
///     eprintln!("{member}: {error}");
/// }
/// let status = group.call("git__git_status", json!({ "repo_path": "." })).await?.text();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Group {
    members: Vec<(Namespace, Client)>,
}

impl Group {
    /// A group without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a server under a name.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn with(mut self, name: impl Into<String>, client: Client) -> Result<Self, InvalidMember> {
        self.insert(name, client)?;
        Ok(self)
    }

    /// Adds a server under a name.
    ///
    /// # Errors
    ///
    /// If the name is taken, or is not 1 to 32 characters out of `A–Z`, `a–z`, `0–9`, `-` and `_`,
    /// where `_` stands neither first nor last nor beside another.
    pub fn insert(&mut self, name: impl Into<String>, client: Client) -> Result<(), InvalidMember> {
        let name = name.into();
        let reason = match Namespace::new(&name) {
            Ok(namespace) if self.client(&name).is_none() => {
                self.members.push((namespace, client));
                return Ok(());
            }
            Ok(_) => "another member has it",
            Err(error) => error.reason(),
        };
        Err(InvalidMember { name: name.chars().take(32).collect(), reason })
    }

    /// Removes a server from the group and returns its client, which stays connected.
    pub fn remove(&mut self, name: &str) -> Option<Client> {
        let place = self.members.iter().position(|(member, _)| member.as_str() == name)?;
        Some(self.members.remove(place).1)
    }

    /// The member with this name.
    pub fn client(&self, name: &str) -> Option<&Client> {
        self.iter().find(|(member, _)| *member == name).map(|(_, client)| client)
    }

    /// All members with their names, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Client)> {
        self.members.iter().map(|(name, client)| (name.as_str(), client))
    }

    /// Splits a qualified name into the client of the member and the name of the tool or prompt
    /// there.
    ///
    /// ```
    /// # let group = bowline_client::Group::new();
    /// assert!(group.find("git__status").is_none(), "there is no member `git`");
    /// ```
    pub fn find<'a>(&self, name: &'a str) -> Option<(&Client, &'a str)> {
        let (member, name) = Namespace::split(name)?;
        Some((self.client(member)?, name))
    }

    /// The tools of all members, each under its qualified name.
    ///
    /// A long tool name may exceed, when qualified, the 128 characters that the specification
    /// recommends.
    pub async fn tools(&self) -> Listing<ToolDefinition> {
        self.list(Client::tools, |member, mut tool| {
            tool.name = member.qualify(&tool.name);
            tool
        })
        .await
    }

    /// Calls a tool by its qualified name, when awaited; otherwise as [`Client::call`].
    pub fn call(&self, tool: &str, arguments: impl Serialize) -> ClientCall<'static, ToolOutcome> {
        match self.find(tool) {
            Some((client, tool)) => client.call(tool, arguments),
            None => self.unknown_member(tool),
        }
    }

    /// The prompts of all members, each under its qualified name.
    pub async fn prompts(&self) -> Listing<PromptDefinition> {
        self.list(Client::prompts, |member, mut prompt| {
            prompt.name = member.qualify(&prompt.name);
            prompt
        })
        .await
    }

    /// Fetches a prompt by its qualified name, when awaited; otherwise as [`Client::prompt`].
    pub fn prompt(&self, name: &str) -> ClientCall<'static, GetPromptResult> {
        match self.find(name) {
            Some((client, name)) => client.prompt(name),
            None => self.unknown_member(name),
        }
    }

    /// The resources of all members.
    pub async fn resources(&self) -> Listing<FromMember<ResourceDefinition>> {
        self.list(Client::resources, FromMember::new).await
    }

    /// The resource templates of all members.
    pub async fn resource_templates(&self) -> Listing<FromMember<ResourceTemplate>> {
        self.list(Client::resource_templates, FromMember::new).await
    }

    /// Reads a resource of a member, when awaited; otherwise as [`Client::read`].
    pub fn read(&self, member: &str, uri: impl Into<String>) -> ClientCall<'static, Contents> {
        match self.client(member) {
            Some(client) => client.read(uri),
            None => self.unknown_member(member),
        }
    }

    /// Fetches a list from all members at the same time. A member that fails does not affect the
    /// others, and a member that does not offer the list has no items.
    async fn list<T: Send + 'static, U>(
        &self,
        list: fn(&Client) -> List<T>,
        name: impl Fn(&Namespace, T) -> U,
    ) -> Listing<U> {
        let lists = self.members.iter().map(|(_, client)| list(client).all());
        let outcomes = together(lists).await;
        let mut listing = Listing { items: Vec::new(), failures: Vec::new() };
        for ((member, _), outcome) in self.members.iter().zip(outcomes) {
            match outcome {
                Ok(items) => listing.items.extend(items.into_iter().map(|it| name(member, it))),
                Err(error) if error.is_not_offered() => {}
                Err(error) => listing.failures.push((member.to_string(), error)),
            }
        }
        listing
    }

    /// A call that fails, because its name belongs to no member.
    fn unknown_member<T>(&self, name: &str) -> ClientCall<'static, T> {
        let members: Vec<_> = self.iter().map(|(member, _)| format!("`{member}`")).collect();
        let reason = format!("no member of the group has it; there are {}", members.join(", "));
        ClientCall::impossible(name.to_owned(), Error::input(name, reason))
    }
}

/// The list of a group: the items of all members, and the members that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listing<T> {
    /// The items, member after member.
    pub items: Vec<T>,
    /// The members whose list could not be fetched, and why.
    pub failures: Vec<(String, Error)>,
}

/// An item with the name of its member.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FromMember<T> {
    /// The name of the member.
    pub member: String,
    /// The item as the server listed it.
    pub item: T,
}

impl<T> FromMember<T> {
    fn new(member: &Namespace, item: T) -> Self {
        Self { member: member.to_string(), item }
    }
}

/// A name that a member of a group cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidMember {
    name: String,
    reason: &'static str,
}

impl fmt::Display for InvalidMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group member `{}`: {}", self.name, self.reason)
    }
}

impl std::error::Error for InvalidMember {}

/// Awaits all futures at the same time; returns their outputs in order.
async fn together<F: Future>(waits: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waits: Vec<_> = waits.map(|wait| (Some(Box::pin(wait)), None)).collect();
    poll_fn(|cx| {
        for (wait, outcome) in &mut waits {
            if let Some(Poll::Ready(ready)) = wait.as_mut().map(|wait| wait.as_mut().poll(cx)) {
                (*wait, *outcome) = (None, Some(ready));
            }
        }
        let is_over = waits.iter().all(|(wait, _)| wait.is_none());
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waits.into_iter().filter_map(|(_, outcome)| outcome).collect()
}
