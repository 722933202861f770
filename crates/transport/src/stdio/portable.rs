//! Standard input and output outside Unix: descriptors are not moved, threads use them in place.

use std::io;

use super::streams::{Input, Output};
use super::thread::{ThreadReader, ThreadWriter};

/// Input and output of the protocol. Holds nothing: there is one standard input and output.
#[derive(Debug)]
pub(super) struct Ends;

impl Ends {
    pub(super) fn take() -> io::Result<Self> {
        Ok(Self)
    }

    /// Opens both streams. A failure is reported by the first read or write.
    pub(super) fn open(self) -> (Input, Output) {
        let input = ThreadReader::start(io::stdin()).unwrap_or_else(ThreadReader::broken);
        let output = ThreadWriter::start(io::stdout()).unwrap_or_else(ThreadWriter::broken);
        (Box::new(input), Box::new(output))
    }
}
