//! The body of a request, read whole and bounded.
//!
//! The bounds work in this order: a claimed length above the limit is refused before a byte is
//! read; then the bytes that have come are counted, whatever was claimed; a timer begins only if
//! the body has not arrived already. Long bodies also take [room](super::bodies) that all of them
//! share.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bowline_proto::sync::poll_once;
use bytes::{Buf, BufMut, Bytes};
use http_body::Body;

use super::bodies::{Bodies, BodyShare, NoRoom};
use super::callers::Caller;

/// Why a body was not read. `endpoint.rs` turns each into a status: 413, 408, 503 or 400.
#[derive(Debug)]
pub(super) enum BodyError {
    /// It is longer than the limit.
    Bytes,
    /// It takes too long.
    Time,
    /// The bodies of other requests leave no room for it.
    Room,
    /// The connection failed, or the body is malformed.
    Broken(String),
}

impl From<NoRoom> for BodyError {
    fn from(_: NoRoom) -> Self {
        Self::Room
    }
}

/// The bounds of one body. Made for each POST from the limits of messages and of HTTP.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// How many bytes it may have.
    pub(super) most: usize,
    /// How long it may take to arrive.
    pub(super) within: Duration,
    /// The room that it shares with all other bodies.
    pub(super) bodies: &'a Arc<Bodies>,
    /// How many of its bytes take no room.
    pub(super) free: usize,
    /// The caller that it comes from.
    pub(super) caller: &'a Caller,
}

/// Reads a body within its bounds. One whose `Content-Length` exceeds them is not read at all.
///
/// # Errors
///
/// If the body is too long, comes too slowly, finds no room or breaks off. What was read is
/// dropped, with its room.
pub(super) async fn whole<B>(body: B, bounds: Bounds<'_>) -> Result<Bytes, BodyError>
where
    B: Body,
    B::Error: fmt::Display,
{
    if body.size_hint().lower() > bounds.most as u64 {
        return Err(BodyError::Bytes);
    }
    let within = bounds.within;
    let mut read = pin!(collect(body, bounds));
    // Most bodies have arrived already, and need no timer.
    let begun = poll_once(&mut read).await;
    match begun {
        Poll::Ready(read) => read,
        Poll::Pending => tokio::time::timeout(within, read).await.unwrap_or(Err(BodyError::Time)),
    }
}

/// Collects the pieces without a timer. One piece is passed on without a copy; only a second piece
/// begins a buffer. A body takes room only for the bytes beyond `free`, so short messages touch no
/// shared counter.
async fn collect<B>(body: B, bounds: Bounds<'_>) -> Result<Bytes, BodyError>
where
    B: Body,
    B::Error: fmt::Display,
{
    let mut body = pin!(body);
    let claimed =
        body.size_hint().exact().map_or(0, |claimed| usize::try_from(claimed).unwrap_or(0));
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    // Set once the body is long enough to count.
    let mut share: Option<Box<BodyShare>> = None;
    while let Some(piece) =
        std::future::poll_fn(|cx| poll_piece(body.as_mut(), share.as_deref_mut(), cx)).await
    {
        let mut piece = piece?;
        let come = first.len() + whole.len() + piece.remaining();
        if come > bounds.most {
            return Err(BodyError::Bytes);
        }
        if come > bounds.free {
            let share = share.get_or_insert_with(|| Box::new(bounds.bodies.share()));
            share.hold(come - bounds.free).await?;
        }
        // Most bodies come in one piece, which is not copied.
        if first.is_empty() && whole.is_empty() {
            first = piece.copy_to_bytes(piece.remaining());
        } else {
            if come > whole.capacity() {
                whole.reserve_exact(room(come, claimed) - whole.len());
            }
            whole.put(std::mem::take(&mut first));
            whole.put(piece);
        }
        if body.is_end_stream() {
            break;
        }
    }
    let text = if whole.is_empty() { first } else { whole.into() };
    match share {
        Some(share) => Ok(share.arrived(text, bounds.caller)?),
        None => Ok(text),
    }
}

/// The next piece of a body. Fails if the body has to make room for another one.
fn poll_piece<B>(
    mut body: Pin<&mut B>,
    share: Option<&mut BodyShare>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<B::Data, BodyError>>>
where
    B: Body,
    B::Error: fmt::Display,
{
    if let Some(share) = share
        && let Poll::Ready(NoRoom) = share.poll_no_room(cx)
    {
        return Poll::Ready(Some(Err(BodyError::Room)));
    }
    loop {
        match ready!(body.as_mut().poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => {
                return Poll::Ready(Some(Err(BodyError::Broken(error.to_string()))));
            }
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Poll::Ready(Some(Ok(piece)));
                }
            }
        }
    }
}

/// How much memory to reserve once so many bytes have come. A claimed length is believed only up to a
/// multiple of what has really come. The system provides reserved memory only as it is written to.
fn room(come: usize, claimed: usize) -> usize {
    const TIMES: usize = 64;
    if claimed >= come { claimed.min(come.saturating_mul(TIMES)) } else { come.saturating_mul(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_length_is_believed_only_up_to_a_multiple_of_what_has_come() {
        assert_eq!(room(1_000, 2_000), 2_000);
        assert_eq!(room(1_000, 1_000), 1_000);
        assert_eq!(room(1_000, usize::MAX), 64_000);
        assert_eq!(room(1_000, 0), 2_000, "nothing was claimed");
    }
}
