//! The negotiation: finds out which revisions a server speaks, and agrees on one.
//!
//! A server that answers `server/discover`, or refuses it with an error that only modern servers
//! use, is modern. Any other error, or silence, leads to the handshake ([stdio: backward
//! compatibility]). No single error code decides, because legacy servers answer unknown methods
//! with different codes.
//!
//! [stdio: backward compatibility]:
//! https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
//!
//! These are pure functions from what has come to the next [`NegotiationStep`]; the connection
//! carries the steps out. A client that speaks both eras probes first (ERA-3, ERA-8) and shakes
//! hands only if the server is not modern (ERA-5).
//!
//! | answer to the probe | step |
//! |---|---|
//! | a discover result | agree on the newest common revision |
//! | -32022 with a list | probe again in a listed revision, or shake hands in one |
//! | another error of 2026-07-28 | fail: the server is modern, and a handshake would not help |
//! | any other error, nonsense or silence | handshake |
//! | no connection, 401, 403, 407, 429, 5xx, no credential | fail: it says nothing about the era |

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
use crate::project::Project;
use crate::transmit::{ConnectFailure, FailureKind, SendFailure};

/// A server, as it described itself in the negotiation. Fixed for the life of the connection; a
/// renewed session must agree on the same revision.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerProfile {
    /// The revision that both sides agreed on.
    pub revision: Revision,
    /// Self-reported, for display and logs only.
    pub info: Option<Implementation>,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// A hint for the model on how to use the server.
    pub instructions: Option<String>,
}

/// The next step of the negotiation. Returned by every function here.
#[derive(Debug)]
pub(super) enum NegotiationStep {
    /// Ask `server/discover` in this revision.
    Probe(Revision),
    /// Send `initialize` for this revision.
    Handshake(Revision),
    /// Both sides agree.
    Agreed(Box<ServerProfile>),
    /// There is no agreement.
    Failed(NegotiationError),
}

/// A probe (`server/discover`) that was sent. Counted, so that a server which contradicts itself
/// does not get probes forever.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentProbe {
    /// The revision that it named.
    pub(super) revision: Revision,
    /// How many probes were sent so far, with this one.
    pub(super) probes: usize,
}

/// The first step. A client that speaks only revisions with a handshake does not probe.
pub(super) fn first_step(config: &ClientConfig) -> NegotiationStep {
    match config.newest_modern() {
        Some(revision) => NegotiationStep::Probe(revision),
        None => handshake_step(config, "it was not asked"),
    }
}

/// The step after the answer to a probe. Not one error code decides, but whether the code belongs
/// to 2026-07-28 (ERA-4, ERA-6).
pub(super) fn after_probe(
    config: &ClientConfig,
    asked: SentProbe,
    outcome: Result<&RawJson, &ErrorObject>,
) -> NegotiationStep {
    match outcome {
        Ok(result) => match result.parse::<DiscoverResult>() {
            Ok(discovered) => discovered_by(config, discovered),
            Err(error) => handshake_step(
                config,
                &format!("it answered the probe with something else: {error}"),
            ),
        },
        Err(error) => match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => refused(config, asked, error),
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => refusal(error),
            _ => handshake_step(config, &format!("it refused the probe: {error}")),
        },
    }
}

/// The step after a probe that failed. A server that refuses it without an error that only modern
/// servers use counts as legacy. A transport error says nothing about the era.
pub(super) fn after_failed_probe(
    config: &ClientConfig,
    asked: SentProbe,
    failure: &SendFailure,
) -> NegotiationStep {
    match (&failure.error, failure.kind) {
        // A handshake would be refused too, and might ask the user to log in once more.
        (_, FailureKind::Unauthorized) => {
            NegotiationStep::Failed(NegotiationError::Unauthorized(failure.reason.clone()))
        }
        (Some(error), FailureKind::Refused(401)) => {
            NegotiationStep::Failed(NegotiationError::refused(error.clone(), failure))
        }
        (Some(error), _) => match after_probe(config, asked, Err(error)) {
            NegotiationStep::Failed(NegotiationError::Refused { error, .. }) => {
                NegotiationStep::Failed(NegotiationError::refused(error, failure))
            }
            NegotiationStep::Failed(NegotiationError::Legacy(_)) => {
                handshake_step(config, &format!("it refused the probe: {}", failure.reason))
            }
            step => step,
        },
        (None, kind @ FailureKind::Refused(400..=499)) if !is_outside_of_the_protocol(kind) => {
            handshake_step(config, &format!("it refused the probe: {}", failure.reason))
        }
        _ => NegotiationStep::Failed(NegotiationError::unreachable(failure)),
    }
}

/// Whether the server refused with a status that comes from authentication, proxies or rate limits
/// and says nothing about the era.
pub(super) fn is_outside_of_the_protocol(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Refused(401 | 403 | 407 | 429))
}

/// The step after a probe without an answer. An answer that comes later is still taken, unless the
/// handshake has succeeded by then.
pub(super) fn after_silence(config: &ClientConfig) -> NegotiationStep {
    handshake_step(config, "it did not answer the probe")
}

/// The step after the answer to `initialize`. A revision that this client does not speak ends the
/// attempt (LIFE-12).
pub(super) fn after_handshake(
    config: &ClientConfig,
    outcome: Result<&RawJson, &ErrorObject>,
) -> NegotiationStep {
    let result = match outcome {
        Ok(result) => result,
        Err(error) => return refusal(error),
    };
    let result: InitializeResult = match result.parse() {
        Ok(result) => result,
        Err(error) => return NegotiationStep::Failed(NegotiationError::Invalid(error.to_string())),
    };
    let revision = result.protocol_version.parse().ok();
    match revision.filter(|revision: &Revision| {
        revision.has_handshake() && config.revisions().contains(revision)
    }) {
        Some(revision) => NegotiationStep::Agreed(Box::new(ServerProfile {
            revision,
            info: Some(result.server_info),
            capabilities: result.capabilities,
            instructions: result.instructions,
        })),
        None => NegotiationStep::Failed(NegotiationError::NoCommonRevision(vec![
            result.protocol_version,
        ])),
    }
}

/// The params of `initialize`.
pub(super) fn handshake_params(config: &ClientConfig, revision: Revision) -> InitializeParams {
    let mut info = config.info().clone();
    info.project(revision);
    InitializeParams::new(revision, config.declared(revision), info)
}

/// The step after a server described itself: agree on a common revision, or probe or shake hands
/// again.
fn discovered_by(config: &ClientConfig, discovered: DiscoverResult) -> NegotiationStep {
    match common(config, &discovered.supported_versions) {
        Some(revision) if !revision.has_handshake() => {
            NegotiationStep::Agreed(Box::new(ServerProfile {
                revision,
                info: discovered.meta.parse(key::SERVER_INFO),
                capabilities: discovered.capabilities,
                instructions: discovered.instructions,
            }))
        }
        Some(revision) => NegotiationStep::Handshake(revision),
        None => NegotiationStep::Failed(NegotiationError::NoCommonRevision(
            discovered.supported_versions,
        )),
    }
}

/// The server is modern but does not speak the revision of the probe: tries one that it does speak.
/// The list in the error is what the server is obliged to send (VER-1, VER-3).
fn refused(config: &ClientConfig, asked: SentProbe, error: &ErrorObject) -> NegotiationStep {
    let Some(data) = error.parse_data::<UnsupportedVersion>() else {
        return refusal(error);
    };
    match common(config, &data.supported) {
        // The server contradicts itself, which may happen once while it is being upgraded.
        Some(revision) if revision == asked.revision && 1 < asked.probes => refusal(error),
        Some(revision) if !revision.has_handshake() => NegotiationStep::Probe(revision),
        Some(revision) => NegotiationStep::Handshake(revision),
        None => NegotiationStep::Failed(NegotiationError::NoCommonRevision(data.supported)),
    }
}

/// The newest revision that both sides speak.
fn common(config: &ClientConfig, theirs: &[String]) -> Option<Revision> {
    let spoken = |revision: &Revision| theirs.iter().any(|date| date == revision.as_str());
    config.revisions().iter().copied().find(spoken)
}

/// The step after an error that no other attempt can avoid.
fn refusal(error: &ErrorObject) -> NegotiationStep {
    NegotiationStep::Failed(NegotiationError::Refused {
        error: error.clone(),
        how: None,
        status: None,
    })
}

/// The step to a handshake, or the failure if this client speaks no revision that has one.
fn handshake_step(config: &ClientConfig, why: &str) -> NegotiationStep {
    match config.newest_legacy() {
        Some(revision) => NegotiationStep::Handshake(revision),
        None => NegotiationStep::Failed(NegotiationError::Legacy(why.to_owned())),
    }
}

/// Why client and server cannot work together. Ends the connection: nothing was called yet, or a
/// renewed session does not fit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NegotiationError {
    /// The server speaks only these revisions.
    NoCommonRevision(Vec<String>),
    /// The server needs a handshake, and this client speaks only revisions without one.
    Legacy(String),
    /// The server refused the handshake or the probe.
    Refused {
        /// The error of the server.
        error: ErrorObject,
        /// The place and the HTTP status, if there is one, and what to do.
        how: Option<String>,
        /// The HTTP status, if there is one.
        status: Option<u16>,
    },
    /// The server's answer breaks the protocol.
    Invalid(String),
    /// The server did not answer in time.
    TimedOut,
    /// The server could not be reached, or refused for reasons outside the protocol.
    Unreachable {
        /// What failed, where and how.
        reason: String,
        /// The HTTP status of the refusal, if there was one.
        status: Option<u16>,
        /// Why no connection could be opened, if that failed.
        cause: Option<ConnectFailure>,
    },
    /// The server demands a credential that the client could not obtain.
    Unauthorized(String),
    /// The server writes lines that are not messages.
    Noise(String),
    /// The server fell silent, and did not answer a ping.
    Silent(Duration),
}

impl NegotiationError {
    /// The first message failed on its way.
    pub(super) fn unreachable(failure: &SendFailure) -> Self {
        if failure.kind == FailureKind::NoAnswer {
            return Self::Invalid(failure.reason.clone());
        }
        let cause = match failure.kind {
            FailureKind::Unreachable(cause) => Some(cause),
            _ => None,
        };
        Self::Unreachable { reason: failure.reason.clone(), status: failure.http_status(), cause }
    }

    /// The first message was refused with an error of the server.
    pub(super) fn refused(error: ErrorObject, failure: &SendFailure) -> Self {
        let (how, status) = (Some(failure.reason.clone()), failure.http_status());
        Self::Refused { error, how, status }
    }

    /// The HTTP status with which the server refused to begin.
    pub fn http_status(&self) -> Option<u16> {
        match self {
            Self::Unreachable { status, .. } | Self::Refused { status, .. } => *status,
            Self::Unauthorized(_) => Some(401),
            _ => None,
        }
    }
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
            Self::Refused { error, how: None, .. } => {
                write!(f, "the server refused to begin: {error}")
            }
            Self::Refused { how: Some(how), .. } => {
                write!(f, "the server refused to begin: {how}")
            }
            Self::Invalid(reason) => write!(f, "the server's first answer is invalid: {reason}"),
            Self::Unreachable { reason, .. } | Self::Unauthorized(reason) => f.write_str(reason),
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
