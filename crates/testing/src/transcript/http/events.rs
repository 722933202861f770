//! Reads a stream of events strictly: whatever our servers do not write is an error.

/// What has come of a stream, and was not cut into events yet.
#[derive(Debug, Default)]
pub(super) struct Events(Vec<u8>);

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    /// Empty if it carries no message, but a place to come back to, or is a comment.
    pub(super) data: String,
}

impl Events {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next event that is complete.
    ///
    /// # Errors
    ///
    /// If it is written otherwise than our servers write them.
    pub(super) fn next(&mut self) -> Result<Option<Event>, String> {
        let Some(end) = self.0.windows(2).position(|pair| pair == b"\n\n") else {
            return Ok(None);
        };
        let text: Vec<u8> = self.0.drain(..end + 2).collect();
        let text = std::str::from_utf8(&text).map_err(|error| format!("an event: {error}"))?;
        Event::parse(text.trim_end_matches('\n')).map(Some)
    }

    /// Whether the stream ended between two events.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }
}

impl Event {
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
                "data" => return Err(format!("a message in several lines: {text:?}")),
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
    fn events_are_cut_wherever_their_bytes_are() {
        let text = b": hello\n\nid: 1.0\ndata:\n\nevent: message\nid: 1.1\ndata: {}\n\nda";
        let mut events = Events::default();
        let mut found = Vec::new();
        for byte in text {
            events.push(&[*byte]);
            found.extend(events.next().unwrap());
        }
        let message = Event { name: Some("message".to_owned()), data: "{}".to_owned() };
        assert_eq!(found, [Event::default(), Event::default(), message]);
        assert!(!events.is_whole(), "half an event is left");
    }

    #[test]
    fn what_our_servers_never_write_is_an_error() {
        for text in ["data: {\ndata: }\n\n", "colour: red\n\n"] {
            let mut events = Events::default();
            events.push(text.as_bytes());
            assert!(events.next().is_err(), "{text:?}");
        }
    }
}
