//! The servers of `tests/peers`, how they are started, and what their SDKs cannot do.

use std::process::Stdio;

use bowline::Command;
use bowline_tests::peers;
use bowline_types::revision::Revision;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

/// A server of `tests/peers`, by its SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    TypescriptV1,
    TypescriptV2,
    Python,
    Fastmcp,
}

/// The transport between our client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Stdio,
    Http,
}

impl Peer {
    pub(crate) const ALL: [Self; 4] =
        [Self::TypescriptV1, Self::TypescriptV2, Self::Python, Self::Fastmcp];

    /// The name that it gives itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TypescriptV1 => "ts-v1-server",
            Self::TypescriptV2 => "ts-v2-server",
            Self::Python => "py-server",
            Self::Fastmcp => "fastmcp-server",
        }
    }

    /// The revisions that it speaks, oldest first.
    pub(crate) fn revisions(self) -> &'static [Revision] {
        match self {
            Self::TypescriptV1 => HANDSHAKE,
            Self::TypescriptV2 | Self::Python | Self::Fastmcp => &Revision::ALL,
        }
    }

    fn script(self) -> &'static [&'static str] {
        match self {
            Self::TypescriptV1 => &["node", "ts-v1-server.mjs"],
            Self::TypescriptV2 => &["node", "ts-v2-server.mjs"],
            Self::Python => &["python", "py_server.py"],
            Self::Fastmcp => &["python", "fastmcp_server.py"],
        }
    }

    /// The command that starts it over stdio.
    pub(crate) fn command(self) -> Command {
        server(self.script())
    }

    /// Starts it over HTTP.
    pub(crate) async fn listen(self) -> Listening {
        let (program, script) = peers::program(self.script());
        let mut command = tokio::process::Command::new(program);
        command.arg(script).arg("--http").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap().expect("a server prints its address");
        Listening::new(url, process)
    }

    /// Why it lacks a feature of a revision; `None` if it has it.
    pub(crate) fn lacks(self, feature: Feature, revision: Revision) -> Option<&'static str> {
        let applies = |lack: &&Lack| {
            lack.peer == self && lack.feature == feature && lack.revisions.contains(&revision)
        };
        LACKS.iter().find(applies).map(|lack| lack.why)
    }
}

/// A server that listens until this is dropped.
pub(crate) struct Listening {
    pub(crate) url: String,
    _process: Child,
}

impl Listening {
    pub(crate) fn new(url: String, process: Child) -> Self {
        Self { url, _process: process }
    }
}

/// The command that starts a script of `tests/peers`.
pub(crate) fn server(script: &[&str]) -> Command {
    let (program, script) = peers::program(script);
    Command::new(program).arg(script)
}

/// Features that a server may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Checks the results of tools against their output schemas.
    OutputChecks,
    /// Names the resource in a "not found" error.
    NotFound,
    /// Decodes the values in URIs that match a template.
    TemplateDecoding,
    /// Sends log messages of the level that the client asked for, and none below.
    LogLevel,
    /// Announces changed lists.
    ListChanges,
    /// Announces changed resources.
    ResourceChanges,
    /// Handles the notification that roots changed.
    RootsChanged,
    /// Refuses a call until the user has visited a URL, and announces the completion.
    UrlRequired,
}

/// A feature that an SDK lacks.
pub(crate) struct Lack {
    peer: Peer,
    feature: Feature,
    revisions: &'static [Revision],
    why: &'static str,
}

const HANDSHAKE: &[Revision] =
    &[Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];
const STATELESS: &[Revision] = &[Revision::V2026_07_28];

/// Every feature that the scenario leaves out, and why; the same for both transports. A check
/// fails if the feature works after all.
const LACKS: &[Lack] = &[
    Lack {
        peer: Peer::TypescriptV1,
        feature: Feature::NotFound,
        revisions: HANDSHAKE,
        why: "answers -32602 without the URI",
    },
    Lack {
        peer: Peer::TypescriptV1,
        feature: Feature::TemplateDecoding,
        revisions: HANDSHAKE,
        why: "matches templates without decoding",
    },
    Lack {
        peer: Peer::TypescriptV2,
        feature: Feature::TemplateDecoding,
        revisions: &Revision::ALL,
        why: "matches templates without decoding",
    },
    Lack {
        peer: Peer::Python,
        feature: Feature::LogLevel,
        revisions: HANDSHAKE,
        why: "leaves it to its users to hold messages back",
    },
    Lack {
        peer: Peer::Fastmcp,
        feature: Feature::OutputChecks,
        revisions: &Revision::ALL,
        why: "trusts tools that make their results themselves",
    },
    Lack {
        peer: Peer::Fastmcp,
        feature: Feature::RootsChanged,
        revisions: HANDSHAKE,
        why: "has no handler for it",
    },
    Lack {
        peer: Peer::Fastmcp,
        feature: Feature::UrlRequired,
        revisions: HANDSHAKE,
        why: "turns the error into a failure of the tool",
    },
    Lack {
        peer: Peer::Fastmcp,
        feature: Feature::ResourceChanges,
        revisions: &Revision::ALL,
        why: "has no subscriptions",
    },
    Lack {
        peer: Peer::Fastmcp,
        feature: Feature::ListChanges,
        revisions: STATELESS,
        why: "has no subscriptions",
    },
];
