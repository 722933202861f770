//! Standard input and output where descriptors cannot be moved: used in place, by threads.

use std::io;

use super::thread::{ThreadReader, ThreadWriter};
use super::{Input, Output};

/// The two ends of the protocol.
#[derive(Debug)]
pub(super) struct Ends;

impl Ends {
    pub(super) fn take() -> io::Result<Self> {
        Ok(Self)
    }

    /// Both ends, ready to use. What fails here is reported by the first use.
    pub(super) fn open(self) -> (Input, Output) {
        let input = ThreadReader::start(io::stdin()).unwrap_or_else(ThreadReader::broken);
        let output = ThreadWriter::start(io::stdout()).unwrap_or_else(ThreadWriter::broken);
        (Box::new(input), Box::new(output))
    }
}
