//! First contact: finds out what a server speaks, and agrees on a revision.
//!
//! A server that answers `server/discover`, or refuses it with an error that only a modern server
//! knows, is modern. Any other error, or silence, means a handshake ([stdio: backward
//! compatibility]). The decision never hangs on one particular code, because old servers answer
//! unknown methods in their own ways.
//!
//! [stdio: backward compatibility]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility

use std::fmt;
use std::time::Duration;

use bowline_types::capability::ServerCapabilities;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::{ErrorObject, UnsupportedVersion, code};
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::legacy::initialize::{InitializeParams, InitializeResult};
use bowline_types::meta::key;
use bowline_types::revision::Revision;

use super::ClientConfig;
use crate::transmit::{FailureKind, SendFailure};
use crate::wire::project::Project;

/// What is known of a server once both sides agree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerProfile {
    /// The revision that is spoken from now on.
    pub revision: Revision,
    /// Self-reported, for display and logs only.
    pub info: Option<Implementation>,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// A hint for the model on how to use the server.
    pub instructions: Option<String>,
}

/// What to do next on the way to an agreement.
#[derive(Debug)]
pub(super) enum Step {
    /// Ask `server/discover` in this revision.
    Probe(Revision),
    /// Send `initialize` for this revision.
    Shake(Revision),
    /// Both sides agree.
    Agreed(Box<ServerProfile>),
    /// They never will.
    Failed(NegotiationError),
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// In which revision.
    pub(super) revision: Revision,
    /// How many were sent so far, with this one.
    pub(super) probes: usize,
}

/// Where to begin.
pub(super) fn first(config: &ClientConfig) -> Step {
    match config.newest_modern() {
        Some(revision) => Step::Probe(revision),
        None => shake(config, "it was not asked"),
    }
}

/// What follows from the answer to a probe in a revision.
pub(super) fn probed(
    config: &ClientConfig,
    asked: Asked,
    outcome: Result<&RawJson, &ErrorObject>,
) -> Step {
    match outcome {
        Ok(result) => match result.parse::<DiscoverResult>() {
            Ok(discovered) => discovered_by(config, discovered),
            Err(error) => {
                shake(config, &format!("it answered the probe with something else: {error}"))
            }
        },
        Err(error) => match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => refused(config, asked, error),
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => refusal(error),
            _ => shake(config, &format!("it refused the probe: {error}")),
        },
    }
}

/// What follows from a probe that came to nothing. A server that refuses it without an error that
/// only modern servers know is taken for an old one; what went wrong on the way says nothing.
pub(super) fn failed(config: &ClientConfig, asked: Asked, failure: &SendFailure) -> Step {
    const NOT_OF_THE_PROTOCOL: [u16; 4] = [401, 403, 407, 429];
    match (&failure.error, failure.kind) {
        (Some(error), _) => match probed(config, asked, Err(error)) {
            Step::Failed(NegotiationError::Refused { error, .. }) => {
                Step::Failed(NegotiationError::Refused { error, how: Some(failure.reason.clone()) })
            }
            Step::Failed(NegotiationError::Legacy(_)) => {
                shake(config, &format!("it refused the probe: {}", failure.reason))
            }
            step => step,
        },
        (None, FailureKind::Refused(status @ 400..=499))
            if !NOT_OF_THE_PROTOCOL.contains(&status) =>
        {
            shake(config, &format!("it refused the probe: {}", failure.reason))
        }
        _ => Step::Failed(NegotiationError::Unreachable(failure.reason.clone())),
    }
}

/// What follows from silence.
pub(super) fn unanswered(config: &ClientConfig) -> Step {
    shake(config, "it did not answer the probe")
}

/// What follows from the answer to a handshake.
pub(super) fn shaken(config: &ClientConfig, outcome: Result<&RawJson, &ErrorObject>) -> Step {
    let result = match outcome {
        Ok(result) => result,
        Err(error) => return refusal(error),
    };
    let result: InitializeResult = match result.parse() {
        Ok(result) => result,
        Err(error) => return Step::Failed(NegotiationError::Invalid(error.to_string())),
    };
    let revision = result.protocol_version.parse().ok();
    match revision.filter(|revision: &Revision| {
        !revision.is_modern() && config.revisions().contains(revision)
    }) {
        Some(revision) => Step::Agreed(Box::new(ServerProfile {
            revision,
            info: Some(result.server_info),
            capabilities: result.capabilities,
            instructions: result.instructions,
        })),
        None => Step::Failed(NegotiationError::NoCommonRevision(vec![result.protocol_version])),
    }
}

/// The params of the handshake.
pub(super) fn handshake(config: &ClientConfig, revision: Revision) -> InitializeParams {
    let mut info = config.info().clone();
    info.project(revision);
    InitializeParams::new(revision, config.declared(revision), info)
}

fn discovered_by(config: &ClientConfig, discovered: DiscoverResult) -> Step {
    match common(config, &discovered.supported_versions) {
        Some(revision) if revision.is_modern() => Step::Agreed(Box::new(ServerProfile {
            revision,
            info: discovered.meta.parse(key::SERVER_INFO),
            capabilities: discovered.capabilities,
            instructions: discovered.instructions,
        })),
        Some(revision) => Step::Shake(revision),
        None => Step::Failed(NegotiationError::NoCommonRevision(discovered.supported_versions)),
    }
}

/// The server is modern and does not speak what we asked in: goes on with what it does speak.
fn refused(config: &ClientConfig, asked: Asked, error: &ErrorObject) -> Step {
    let Some(data) = error.parse_data::<UnsupportedVersion>() else {
        return refusal(error);
    };
    match common(config, &data.supported) {
        // It contradicts itself, as one that has just learned the revision may do once.
        Some(revision) if revision == asked.revision && 1 < asked.probes => refusal(error),
        Some(revision) if revision.is_modern() => Step::Probe(revision),
        Some(revision) => Step::Shake(revision),
        None => Step::Failed(NegotiationError::NoCommonRevision(data.supported)),
    }
}

/// The newest revision that both sides speak.
fn common(config: &ClientConfig, theirs: &[String]) -> Option<Revision> {
    let spoken = |revision: &Revision| theirs.iter().any(|date| date == revision.as_str());
    config.revisions().iter().copied().find(spoken)
}

fn refusal(error: &ErrorObject) -> Step {
    Step::Failed(NegotiationError::Refused { error: error.clone(), how: None })
}

fn shake(config: &ClientConfig, why: &str) -> Step {
    match config.newest_legacy() {
        Some(revision) => Step::Shake(revision),
        None => Step::Failed(NegotiationError::Legacy(why.to_owned())),
    }
}

/// Why client and server cannot talk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NegotiationError {
    /// The server speaks only these.
    NoCommonRevision(Vec<String>),
    /// The server needs a handshake, and this client speaks only revisions without one.
    Legacy(String),
    /// The server refused.
    Refused {
        /// With this error.
        error: ErrorObject,
        /// Where and with which status, if it came with a status of HTTP, and what to do.
        how: Option<String>,
    },
    /// The server's answer makes no sense.
    Invalid(String),
    /// The server did not answer in time.
    TimedOut,
    /// The server could not be reached, or refused for reasons that have nothing to do with the
    /// protocol.
    Unreachable(String),
    /// The server writes lines that are no protocol.
    Noise(String),
    /// The server fell silent, and did not answer when it was asked whether it is still there.
    Silent(Duration),
}

impl fmt::Display for NegotiationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommonRevision(theirs) => {
                write!(f, "no revision in common: the server speaks {}", theirs.join(", "))
            }
            Self::Legacy(why) => {
                write!(
                    f,
                    "the server seems to need a handshake ({why}), which this client does not speak"
                )
            }
            Self::Refused { error, how: None } => {
                write!(f, "the server refused to begin: {error}")
            }
            Self::Refused { how: Some(how), .. } => {
                write!(f, "the server refused to begin: {how}")
            }
            Self::Invalid(reason) => write!(f, "the server's first answer is invalid: {reason}"),
            Self::Unreachable(reason) => f.write_str(reason),
            Self::TimedOut => f.write_str("the server did not answer the handshake in time"),
            Self::Silent(after) => {
                write!(f, "the server is silent, and gave no sign of life within {after:?}")
            }
            Self::Noise(line) => {
                write!(f, "the server writes lines that are no protocol, such as `{line}`")
            }
        }
    }
}

impl std::error::Error for NegotiationError {}
