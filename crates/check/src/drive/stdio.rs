//! A session with a process: lines in both directions.

use std::collections::VecDeque;
use std::time::Duration;

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::transmit::{Role, Route, Transmit};
use bowline_transport::child::{ChildReader, ChildWriter, Command};
use bowline_transport::transport::{Reader as _, Transport as _, Writer as _};
use bowline_types::text::with_causes;
use bytes::Bytes;
use tokio::time::{Instant, timeout_at};

use super::failure::CheckError;
use crate::message::excerpt;

/// How long a server may take to leave after its input ended.
const GRACE: Duration = Duration::from_secs(3);

/// The two halves of a process.
pub(super) struct Lines {
    reader: ChildReader,
    writer: ChildWriter,
    /// Why the process is gone, if it is.
    pub(super) gone: Option<String>,
    /// The first line of the process that is no message.
    noise: Option<String>,
}

/// What came before the time was over.
pub(super) enum Line {
    Text(Bytes),
    Timeout,
    End,
}

impl Lines {
    pub(super) fn start(command: &Command) -> Result<Self, String> {
        let child = command.clone().grace(GRACE).spawn().map_err(|error| with_causes(&error))?;
        let (reader, writer) = child.split(&Limits::for_client());
        Ok(Self { reader, writer, gone: None, noise: None })
    }

    pub(super) async fn send(&mut self, text: &str) {
        let frame = Bytes::copy_from_slice(text.as_bytes());
        let (route, role) = (Route::Standalone, Role::Within);
        let mut queue = VecDeque::from([Transmit { route, role, frame, mirror: None }]);
        if let Err(error) = self.writer.write(&mut queue).await {
            self.gone.get_or_insert(error.to_string());
        }
    }

    pub(super) async fn next(&mut self, end: Instant) -> Line {
        if self.gone.is_some() {
            return Line::End;
        }
        match timeout_at(end, self.reader.read()).await {
            Err(_) => Line::Timeout,
            Ok(Ok(Some(Received::Message(text)))) => Line::Text(text),
            Ok(Ok(Some(Received::TooLong(skipped)))) => Line::Text(skipped.head),
            Ok(Ok(None)) => {
                self.gone.get_or_insert("the server ended".to_owned());
                Line::End
            }
            Ok(Err(error)) => {
                self.gone.get_or_insert(error.to_string());
                Line::End
            }
        }
    }

    /// Notes a line that is no message.
    pub(super) fn note_noise(&mut self, text: &[u8]) {
        self.noise.get_or_insert_with(|| excerpt(&String::from_utf8_lossy(text)));
    }

    /// Why a request got no answer.
    pub(super) fn silence(&self) -> CheckError {
        match (&self.gone, &self.noise) {
            (Some(reason), None) => CheckError::ended(reason),
            (Some(reason), Some(line)) => CheckError::ended(format!(
                "{reason}; before, it wrote `{line}`, which is no message"
            )),
            (None, Some(line)) => CheckError::invalid(format!(
                "it writes lines that are no messages, such as `{line}`"
            )),
            (None, None) => CheckError::silent(),
        }
    }

    /// Ends the process. Returns whether it left by itself within the grace period.
    pub(super) async fn close(&mut self) -> bool {
        let begin = Instant::now();
        self.writer.close().await;
        begin.elapsed() < GRACE
    }
}
