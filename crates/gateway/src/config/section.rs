//! The optional `gateway` section of a configuration file: settings of the gateway itself.

use std::time::Duration;

use super::document::At;
use super::error::ConfigError;

/// The `gateway` section of a configuration file.
///
/// ```json
/// { "gateway": { "name": "work", "http": "127.0.0.1:8809", "instructions": false, "idleMinutes": 30,
///               "listSeconds": 20, "startSeconds": 180, "maxMessageMiB": 256 } }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatewaySection {
    /// The name that the gateway gives itself.
    pub name: Option<String>,
    /// The address that it serves over HTTP.
    pub http: Option<String>,
    /// Whether instructions of servers reach models; yes if not given.
    pub instructions: Option<bool>,
    /// After how many minutes without calls a server is stopped.
    pub idle_minutes: Option<u64>,
    /// How long a list of several servers waits for one of them.
    pub list: Option<Duration>,
    /// How long a server may take to start.
    pub start: Option<Duration>,
    /// The longest message that the gateway takes, in MiB.
    pub max_message_mib: Option<u64>,
    /// Whether the `baggage` of callers reaches servers; no if not given.
    pub baggage: Option<bool>,
}

impl GatewaySection {
    /// The longest message that the gateway takes, in bytes, if the file sets it.
    pub fn max_message(&self) -> Option<usize> {
        let bytes = self.max_message_mib?.saturating_mul(1024 * 1024);
        Some(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

/// The most seconds that a list or a start may take.
const MOST_SECONDS: u64 = 3600;

fn seconds(at: &At<'_>) -> Result<Duration, ConfigError> {
    match at.count()? {
        count @ 1..=MOST_SECONDS => Ok(Duration::from_secs(count)),
        _ => {
            let advice = format!("write a number of seconds from 1 to {MOST_SECONDS}");
            Err(at.fault("this number is out of range").with_advice(advice))
        }
    }
}

/// Reads the section.
pub(crate) fn read(root: &At<'_>) -> Result<GatewaySection, ConfigError> {
    let mut section = GatewaySection::default();
    let Some(at) = root.member("gateway") else { return Ok(section) };
    for (name, at) in at.members()? {
        match name {
            "name" => section.name = Some(at.text()?.to_owned()),
            "http" => section.http = Some(at.text()?.to_owned()),
            "instructions" => section.instructions = Some(at.flag()?),
            "idleMinutes" => section.idle_minutes = Some(at.count()?),
            "listSeconds" => section.list = Some(seconds(&at)?),
            "startSeconds" => section.start = Some(seconds(&at)?),
            "maxMessageMiB" => section.max_message_mib = Some(at.count()?),
            "baggage" => section.baggage = Some(at.flag()?),
            _ => {
                let advice = "it may have name, http, instructions, idleMinutes, listSeconds, \
                              startSeconds, maxMessageMiB, baggage";
                return Err(at.fault("this setting is unknown").with_advice(advice));
            }
        }
    }
    Ok(section)
}
