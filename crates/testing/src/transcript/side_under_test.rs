//! The side under test as a play sees it: bytes go in, messages and events come out.
//!
//! So the play is the same for a connection without I/O, a process at the end of two pipes, and a
//! server behind HTTP. What an implementation has to know is when its side is idle: only then the
//! absence of a message means something.

use std::time::Duration;

/// One thing that comes from the side under test. Messages are compared as text, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// It sends this message.
    Message(String),
    /// It reports this event to its user.
    Event(String),
    /// It answers an HTTP request with this body, which is not a stream. The status is usual if the
    /// specification has it for such a body.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "comes over HTTP only"))]
    HttpBody { status: u16, is_usual: bool, text: String },
    /// It breaks a rule of its transport; the text says which.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "comes over HTTP only"))]
    Violation(String),
}

/// A client or server that a transcript is played against.
///
/// There is one implementation for each [`Setup`](super::Setup), and two for clients.
pub(crate) trait SideUnderTest {
    /// Sends it these bytes, as its peer.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Performs an action of its user: the text after `!`.
    async fn act(&mut self, action: &str) -> Result<(), String>;

    /// Advances virtual time.
    async fn advance(&mut self, time: Duration);

    /// Closes the peer's direction of the connection.
    async fn close(&mut self) -> Result<(), String>;

    /// Waits for the next output. Where several streams have one, an output that `fits` is
    /// preferred. `None` means that no more output can come.
    async fn next(&mut self, fits: impl FnMut(&Output) -> bool) -> Option<Output>;

    /// Takes an output that is already there, without waiting.
    async fn try_next(&mut self) -> Option<Output>;

    /// Ends the play, and returns the remaining outputs.
    async fn finish(&mut self) -> Result<Vec<Output>, String>;
}
