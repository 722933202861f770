//! The longest message that a command takes: `--max-message`.
//!
//! A server that the user has chosen, and a host on standard input, may send long messages. Callers
//! over HTTP may be strangers, so theirs are short unless the option is given; and the bodies of all
//! of them together are bounded besides.

use std::str::FromStr;

use bowline::http::{Http, HttpLimits};
use bowline::{Limits, Server};
use bowline_gateway::GatewayLimits;

/// The option of every command that connects to a server.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct MessageArgs {
    /// Maximum size of a message, such as 256M, instead of 64M; over HTTP also of callers' messages,
    /// instead of 4M
    #[arg(long, value_name = "SIZE")]
    max_message: Option<MessageSize>,
}

impl MessageArgs {
    /// The size in bytes, if it is given.
    pub(crate) fn bytes(self) -> Option<usize> {
        self.max_message.map(|size| size.0)
    }

    /// The size that a file sets, unless the option is given.
    pub(crate) fn or(self, bytes: Option<usize>) -> Self {
        Self { max_message: self.max_message.or(bytes.map(MessageSize)) }
    }

    /// The limits of the connections to the servers behind this process.
    pub(crate) fn gateway(self, limits: GatewayLimits) -> GatewayLimits {
        match self.bytes() {
            Some(bytes) => limits.with_message(bytes),
            None => limits,
        }
    }

    /// A server for one host on standard input, which may send what a server may answer.
    pub(crate) fn over_stdio(self, server: Server) -> Server {
        let mut limits = self.within(Limits::for_client());
        limits.result = limits.frame;
        server.limits(limits)
    }

    /// A server for callers over HTTP.
    pub(crate) fn over_http(self, server: Server) -> Server {
        let mut limits = self.within(Limits::default());
        limits.result = self.bytes().unwrap_or(Limits::for_client().frame);
        server.limits(limits)
    }

    /// The limits with the longest message that the option sets.
    fn within(self, limits: Limits) -> Limits {
        match self.bytes() {
            Some(bytes) => limits.with_frame(bytes),
            None => limits,
        }
    }

    /// The same server's endpoint, where two of the longest messages fit at the same time.
    pub(crate) fn bodies(self, http: Http) -> Http {
        let Some(bytes) = self.bytes() else { return http };
        let mut limits = HttpLimits::default();
        limits.bodies_per_caller = limits.bodies_per_caller.max(bytes);
        limits.bodies = limits.bodies.max(bytes.saturating_mul(2));
        http.limits(limits)
    }
}

/// A number of bytes: `4194304`, `4096K`, `4M`, `4MiB` or `1G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageSize(usize);

impl FromStr for MessageSize {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = "write a size such as `64M` or `1G`";
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
            "" => 1,
            "k" => 1 << 10,
            "m" => 1 << 20,
            "g" => 1 << 30,
            _ => return Err(form),
        };
        let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
        match bytes {
            None => Err(form),
            Some(bytes) if bytes < LEAST => Err("it must be at least 64K"),
            Some(bytes) => Ok(Self(bytes)),
        }
    }
}

/// Lists of tools must fit, or no server can be used.
const LEAST: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit_of_two_to_the_tenth() {
        let size = |text: &str| text.parse::<MessageSize>().map(|size| size.0);
        for text in ["64M", "64m", "64MiB", "64MB", "65536K", "67108864", "67108864B"] {
            assert_eq!(size(text), Ok(64 << 20), "{text}");
        }
        for text in ["", "M", "-1M", "1.5G", "64T", "64 M", "99999999999G", "1K"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
