//! Log messages from a server. Use standard error or OpenTelemetry instead.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::RawJson;
use crate::rpc::notification;
use crate::setters::setters;

notification! {
    /// `notifications/message`.
    LogMessage = Message(LogMessageParams)
}

/// The severity of a log message, as in syslog. Ordered from the least severe.
///
/// ```
/// use bowline_types::deprecated::logging::LoggingLevel;
///
/// let least: LoggingLevel = "warning".parse().unwrap();
/// assert!(LoggingLevel::Error >= least && LoggingLevel::Info < least);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoggingLevel {
    /// Details for finding a fault.
    Debug,
    /// Normal operation.
    Info,
    /// Unusual, but not a fault.
    Notice,
    /// A fault may follow.
    Warning,
    /// An operation failed.
    Error,
    /// A component failed.
    Critical,
    /// An operator must act at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

impl LoggingLevel {
    /// Every level, from the least severe.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The string on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LoggingLevel {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        let known = Self::ALL.into_iter().find(|level| level.as_str() == word);
        known.ok_or_else(|| UnknownLevel(word.chars().take(40).collect()))
    }
}

impl Serialize for LoggingLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for LoggingLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The error for a string that is not one of the eight levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel(String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no logging level; use one of", self.0)?;
        for (position, level) in LoggingLevel::ALL.iter().enumerate() {
            write!(f, "{} {level}", if position == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownLevel {}

/// A log message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogMessageParams {
    /// The severity.
    pub level: LoggingLevel,
    /// The component that logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The message: text or any other JSON.
    pub data: RawJson,
}

impl LogMessageParams {
    /// A message without the name of a component.
    pub fn new(level: LoggingLevel, data: RawJson) -> Self {
        Self { level, logger: None, data }
    }

    setters! {
        /// Sets the component that logs.
        with_logger(logger: impl Into<String>) { logger = Some(logger.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: LOG-3
    #[test]
    fn levels_are_ordered_by_severity() {
        assert!(LoggingLevel::ALL.is_sorted());
        assert!(LoggingLevel::Warning < LoggingLevel::Error);
        for level in LoggingLevel::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
        }
    }

    // spec: LOG-5
    #[test]
    fn an_unknown_level_names_all_that_are_known() {
        let error = serde_json::from_str::<LoggingLevel>(r#""warn""#).unwrap_err().to_string();
        let words = "debug, info, notice, warning, error, critical, alert, emergency";
        assert!(error.contains("`warn`") && error.contains(words), "{error}");
    }

    // spec: LOG-8, LOG-9
    #[test]
    fn a_message_is_written_as_it_was_read() {
        let text = r#"{"level":"error","logger":"db","data":{"error":"lost","tries":3.0}}"#;
        round_trip::<LogMessageParams>(text);
        let text = r#"{"level":"info","data":null}"#;
        round_trip::<LogMessageParams>(text);
        let error = serde_json::from_str::<LogMessageParams>(r#"{"level":"info"}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `data`"), "{error}");
    }
}
