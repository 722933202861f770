//! The lists of a server, read side by side: one that fails or is slow holds up no other.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bowline::Client;
use bowline::client::List;
use bowline_types::page::LeftOutServer;
use bowline_types::prompt::PromptDefinition;
use bowline_types::resource::{ResourceDefinition, ResourceTemplate};
use bowline_types::tool::ToolDefinition;

use crate::exit::Failure;
use crate::logins::TargetLogin;
use crate::request::within;

/// The kinds of lists, by the words for them on the command line.
pub(crate) const KINDS: [&str; 4] = ["tools", "resources", "templates", "prompts"];

/// Which lists to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinds {
    pub(crate) tools: bool,
    pub(crate) resources: bool,
    pub(crate) templates: bool,
    pub(crate) prompts: bool,
}

impl Kinds {
    pub(crate) const ALL: Self =
        Self { tools: true, resources: true, templates: true, prompts: true };
    pub(crate) const NONE: Self =
        Self { tools: false, resources: false, templates: false, prompts: false };

    /// Adds the kind with this word; `false` if there is none.
    pub(crate) fn add(&mut self, word: &str) -> bool {
        match word {
            "tools" => self.tools = true,
            "resources" => self.resources = true,
            "templates" => self.templates = true,
            "prompts" => self.prompts = true,
            _ => return false,
        }
        true
    }
}

/// One list: its items, or why it could not be read.
#[derive(Debug)]
pub(crate) struct ReadList<T> {
    pub(crate) items: Result<Vec<T>, Failure>,
    /// What a gateway says that the list lacks.
    left_out: Vec<LeftOutServer>,
    pub(crate) took: Duration,
}

/// The lists of a server; `None` where the server does not declare the kind, or it was not wanted.
#[derive(Debug)]
pub(crate) struct ServerLists {
    pub(crate) tools: Option<ReadList<ToolDefinition>>,
    pub(crate) resources: Option<ReadList<ResourceDefinition>>,
    pub(crate) templates: Option<ReadList<ResourceTemplate>>,
    pub(crate) prompts: Option<ReadList<PromptDefinition>>,
}

impl ServerLists {
    /// Reads the lists of these kinds that the server declares, each within the timeout.
    pub(crate) async fn read(
        client: &Client,
        kinds: Kinds,
        timeout: Duration,
        login: &TargetLogin,
    ) -> Self {
        let offered = client.capabilities();
        let (has_tools, has_prompts) = (offered.tools.is_some(), offered.prompts.is_some());
        let has_resources = offered.resources.is_some();
        let (tools, resources, templates, prompts) = tokio::join!(
            read(kinds.tools && has_tools, client.tools(), timeout, login),
            read(kinds.resources && has_resources, client.resources(), timeout, login),
            read(kinds.templates && has_resources, client.resource_templates(), timeout, login),
            read(kinds.prompts && has_prompts, client.prompts(), timeout, login),
        );
        Self { tools, resources, templates, prompts }
    }

    /// Whether a list could be read, or there was none to read.
    pub(crate) fn is_of_use(&self) -> bool {
        let states = [
            self.tools.as_ref().map(|it| it.items.is_ok()),
            self.resources.as_ref().map(|it| it.items.is_ok()),
            self.templates.as_ref().map(|it| it.items.is_ok()),
            self.prompts.as_ref().map(|it| it.items.is_ok()),
        ];
        states.iter().all(Option::is_none) || states.contains(&Some(true))
    }

    /// The servers that a gateway left out of the lists, each with the kinds of these.
    pub(crate) fn left_out(&self) -> BTreeMap<LeftOutServer, Vec<&'static str>> {
        let lists = [
            self.tools.as_ref().map(|it| &it.left_out),
            self.resources.as_ref().map(|it| &it.left_out),
            self.templates.as_ref().map(|it| &it.left_out),
            self.prompts.as_ref().map(|it| &it.left_out),
        ];
        let mut kinds = BTreeMap::<_, Vec<_>>::new();
        for (kind, left_out) in KINDS.into_iter().zip(lists) {
            for server in left_out.into_iter().flatten() {
                kinds.entry(server.clone()).or_default().push(kind);
            }
        }
        kinds
    }

    /// Takes out the lists that could not be read, in the order of [`KINDS`].
    pub(crate) fn take_failures(&mut self) -> Vec<(&'static str, Failure)> {
        let failures = [
            take_failure(&mut self.tools),
            take_failure(&mut self.resources),
            take_failure(&mut self.templates),
            take_failure(&mut self.prompts),
        ];
        KINDS.into_iter().zip(failures).filter_map(|(kind, it)| Some((kind, it?))).collect()
    }
}

async fn read<T: Send + 'static>(
    is_wanted: bool,
    mut list: List<T>,
    timeout: Duration,
    login: &TargetLogin,
) -> Option<ReadList<T>> {
    if !is_wanted {
        return None;
    }
    let begun = Instant::now();
    let items = within(timeout, async { Ok(list.remaining().await?) }).await;
    let items = items.map_err(|failure| login.explain(failure));
    let left_out = list.left_out().to_vec();
    Some(ReadList { items, left_out, took: begun.elapsed() })
}

fn take_failure<T>(list: &mut Option<ReadList<T>>) -> Option<Failure> {
    list.take_if(|it| it.items.is_err()).and_then(|it| it.items.err())
}
