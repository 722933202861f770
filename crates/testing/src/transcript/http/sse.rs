//! Reads an SSE stream strictly: everything that Bowline does not write is an error.
//!
//! The reader of the client tolerates much, as the standard of server-sent events demands. It would
//! hide a server that writes events in a strange form.

/// The bytes of a stream that are not parsed yet. Fed in pieces, like the one of the client.
#[derive(Debug, Default)]
pub(super) struct SseReader(Vec<u8>);

/// One SSE event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    pub(super) name: Option<String>,
    /// Empty for a comment, and for an event that has only an id.
    pub(super) data: String,
}

impl SseReader {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns the next complete event.
    ///
    /// # Errors
    ///
    /// If its syntax is not that of our servers.
    pub(super) fn next(&mut self) -> Result<Option<SseEvent>, String> {
        let Some(end) = self.0.windows(2).position(|pair| pair == b"\n\n") else {
            return Ok(None);
        };
        let text: Vec<u8> = self.0.drain(..end + 2).collect();
        let text = std::str::from_utf8(&text).map_err(|error| format!("an event: {error}"))?;
        SseEvent::parse(text.trim_end_matches('\n')).map(Some)
    }

    /// Whether the stream ended between two events.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }
}

impl SseEvent {
    /// A message has one line of data, because the server writes JSON in one line.
    fn parse(text: &str) -> Result<Self, String> {
        let mut event = Self::default();
        let mut has_data = false;
        for line in text.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" | "id" | "retry" => {}
                "event" => event.name = Some(value.to_owned()),
                "data" if !has_data => {
                    has_data = true;
                    value.clone_into(&mut event.data);
                }
                "data" => return Err(format!("a message with several `data` lines: {text:?}")),
                _ => return Err(format!("the unknown field `{field}` in an event: {text:?}")),
            }
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_from_any_pieces_of_its_bytes() {
        let text = b": hello\n\nid: 1.0\ndata:\n\nevent: message\nid: 1.1\ndata: {}\n\nda";
        let mut events = SseReader::default();
        let mut found = Vec::new();
        for byte in text {
            events.push(&[*byte]);
            found.extend(events.next().unwrap());
        }
        let message = SseEvent { name: Some("message".to_owned()), data: "{}".to_owned() };
        assert_eq!(found, [SseEvent::default(), SseEvent::default(), message]);
        assert!(!events.is_whole(), "half an event is left");
    }

    #[test]
    fn an_event_that_our_servers_never_write_is_an_error() {
        for text in ["data: {\ndata: }\n\n", "colour: red\n\n"] {
            let mut events = SseReader::default();
            events.push(text.as_bytes());
            assert!(events.next().is_err(), "{text:?}");
        }
    }
}
