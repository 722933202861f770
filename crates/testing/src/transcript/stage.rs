//! What a transcript is played on: something that can be told things, and heard.

use std::time::Duration;

/// What comes from the side under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It says this on the wire.
    Message(String),
    /// It lets its user know this.
    Event(String),
    /// It answers an HTTP request with this body, which is no stream. The status is usual if the
    /// rules want it for such a body.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "said over HTTP only"))]
    Answer { status: u16, is_usual: bool, text: String },
    /// It breaks the rules of what carries its messages.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "said over HTTP only"))]
    Wrong(String),
}

/// What a transcript is played on.
pub(crate) trait Stage {
    /// Tells it these bytes, as its peer.
    async fn tell(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Does something, as its user.
    async fn act(&mut self, action: &str) -> Result<(), String>;

    /// Lets time go by.
    async fn pass(&mut self, time: Duration);

    /// Closes its peer's end.
    async fn end(&mut self) -> Result<(), String>;

    /// The next thing that comes without anything else being sent or done. Where several
    /// streams have something, one that `fits` comes first.
    async fn next(&mut self, fits: impl FnMut(&Heard) -> bool) -> Option<Heard>;

    /// Something that has come by now, although nobody waits for it.
    async fn spare(&mut self) -> Option<Heard>;

    /// Ends the play, and gives what had not been heard yet.
    async fn finish(&mut self) -> Result<Vec<Heard>, String>;
}
