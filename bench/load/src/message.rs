//! The messages of the generator, in each revision.

use std::str::FromStr;

use anyhow::{Result, bail};

/// The two revisions that are measured: the last one with a handshake, and the one without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Revision {
    /// 2025-11-25: a handshake opens a session.
    Handshake,
    /// 2026-07-28: every request is complete in itself.
    Stateless,
}

impl Revision {
    /// Its date, as on the wire.
    pub fn date(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }
}

impl FromStr for Revision {
    type Err = anyhow::Error;

    fn from_str(date: &str) -> Result<Self> {
        match date {
            "2025-11-25" => Ok(Self::Handshake),
            "2026-07-28" => Ok(Self::Stateless),
            _ => bail!("`{date}` is no revision that is measured: 2025-11-25 or 2026-07-28"),
        }
    }
}

/// The request that is repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// A message of so many bytes, which this tool returns.
    Echo {
        /// The name of the tool.
        tool: String,
        /// The length of the message.
        bytes: usize,
    },
    /// The list of tools.
    List,
    /// Eight reports of progress and an answer.
    Progress,
    /// A tool without arguments, with any answer.
    Plain {
        /// The name of the tool.
        tool: String,
    },
}

/// How many reports of progress a call is to send.
pub const STEPS: usize = 8;

/// The first id. All ids have ten digits, so that requests differ only in them.
const FIRST_ID: &str = "1000000000";

const CLIENT: &str = r#"{"name":"load","version":"1.0.0"}"#;

impl Call {
    /// The method that is called.
    pub fn method(&self) -> &'static str {
        match self {
            Self::List => "tools/list",
            _ => "tools/call",
        }
    }

    /// The name of the tool, which HTTP requests repeat in a header.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Echo { tool, .. } | Self::Plain { tool } => Some(tool),
            Self::Progress => Some("progress"),
            Self::List => None,
        }
    }

    /// The message that must come back, if any.
    pub fn message(&self) -> Option<String> {
        let Self::Echo { bytes, .. } = self else { return None };
        let text = "The quick brown fox jumps over the lazy dog, then naps till noon. ";
        Some(text.chars().cycle().take(*bytes).collect())
    }

    /// The whole request.
    pub fn request(&self, revision: Revision) -> String {
        let mut members = Vec::new();
        if let Some(tool) = self.tool() {
            members.push(format!(r#""name":"{tool}","arguments":{}"#, self.arguments()));
        }
        let mut meta = Vec::new();
        if revision == Revision::Stateless {
            meta.push(format!(
                r#""io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientInfo":{CLIENT},"io.modelcontextprotocol/clientCapabilities":{{}}"#,
                revision.date(),
            ));
        }
        if *self == Self::Progress {
            meta.push(r#""progressToken":1"#.to_owned());
        }
        if !meta.is_empty() {
            members.push(format!(r#""_meta":{{{}}}"#, meta.join(",")));
        }
        request(self.method(), &members.join(","))
    }

    fn arguments(&self) -> String {
        match self {
            Self::Progress => format!(r#"{{"steps":{STEPS}}}"#),
            _ => self
                .message()
                .map_or_else(|| "{}".to_owned(), |text| format!(r#"{{"message":"{text}"}}"#)),
        }
    }
}

/// The request that opens a session.
pub fn initialize() -> String {
    let revision = Revision::Handshake.date();
    request(
        "initialize",
        &format!(r#""protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{CLIENT}"#),
    )
}

/// The notification that ends the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn request(method: &str, members: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"{method}","params":{{{members}}}}}"#)
}

/// A request as bytes, in which the id is incremented in place.
#[derive(Clone, Debug)]
pub struct Prepared {
    bytes: Vec<u8>,
    id: std::ops::Range<usize>,
}

impl Prepared {
    /// Finds the id in a request, which may have headers before it and a line end after it.
    ///
    /// # Errors
    ///
    /// If the bytes are none of the requests of this module.
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        let label = format!(r#""id":{FIRST_ID}"#);
        let Some(at) = memchr::memmem::find(&bytes, label.as_bytes()) else {
            bail!("a request without an id cannot be prepared");
        };
        let end = at + label.len();
        Ok(Self { bytes, id: end - FIRST_ID.len()..end })
    }

    /// Increments the id.
    pub fn count_up(&mut self) {
        for digit in self.bytes[self.id.clone()].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
    }

    /// The digits of the id.
    pub fn id(&self) -> &[u8] {
        &self.bytes[self.id.clone()]
    }

    /// The whole request.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_counted_up_in_place() {
        let call = Call::Echo { tool: "echo".to_owned(), bytes: 64 };
        let mut request = Prepared::new(call.request(Revision::Stateless).into_bytes()).unwrap();
        let length = request.bytes().len();
        for _ in 0..100 {
            request.count_up();
        }
        assert_eq!(request.id(), b"1000000100");
        assert_eq!(request.bytes().len(), length);
    }

    #[test]
    fn a_message_has_the_asked_length() {
        let call = Call::Echo { tool: "echo".to_owned(), bytes: 4096 };
        assert_eq!(call.message().unwrap().len(), 4096);
        let request: serde_json::Value =
            serde_json::from_str(&call.request(Revision::Handshake)).unwrap();
        assert_eq!(request["params"]["arguments"]["message"].as_str().unwrap().len(), 4096);
    }
}
