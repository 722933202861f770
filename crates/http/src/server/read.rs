//! The body of a request, read whole and bounded.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use http_body::Body;

use super::bodies::{Bodies, NoRoom, Share};
use super::callers::Caller;

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum TooMuch {
    /// It is longer than the limit.
    Bytes,
    /// It takes too long.
    Time,
    /// There is no room for it beside all others.
    Room,
    /// It broke off.
    Broken(String),
}

impl From<NoRoom> for TooMuch {
    fn from(_: NoRoom) -> Self {
        Self::Room
    }
}

/// What a body may take.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// Bytes.
    pub(super) most: usize,
    /// Time.
    pub(super) within: Duration,
    /// Room, together with all others.
    pub(super) bodies: &'a Arc<Bodies>,
    /// Bytes that take no room.
    pub(super) free: usize,
    /// The caller that it comes from.
    pub(super) caller: &'a Caller,
}

/// Reads a body of at most so many bytes. One that says beforehand that it is longer is not read
/// at all.
pub(super) async fn whole<B>(body: B, bounds: Bounds<'_>) -> Result<Bytes, TooMuch>
where
    B: Body,
    B::Error: fmt::Display,
{
    if body.size_hint().lower() > bounds.most as u64 {
        return Err(TooMuch::Bytes);
    }
    let within = bounds.within;
    let mut read = pin!(collect(body, bounds));
    // Most bodies are there already, and need no clock.
    let begun = std::future::poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await;
    match begun {
        Poll::Ready(read) => read,
        Poll::Pending => tokio::time::timeout(within, read).await.unwrap_or(Err(TooMuch::Time)),
    }
}

async fn collect<B>(body: B, bounds: Bounds<'_>) -> Result<Bytes, TooMuch>
where
    B: Body,
    B::Error: fmt::Display,
{
    let mut body = pin!(body);
    let claimed =
        body.size_hint().exact().map_or(0, |claimed| usize::try_from(claimed).unwrap_or(0));
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    // Made by a body that is long enough to count.
    let mut share: Option<Box<Share>> = None;
    while let Some(piece) =
        std::future::poll_fn(|cx| poll_piece(body.as_mut(), share.as_deref_mut(), cx)).await
    {
        let mut piece = piece?;
        let come = first.len() + whole.len() + piece.remaining();
        if come > bounds.most {
            return Err(TooMuch::Bytes);
        }
        if come > bounds.free {
            let share = share.get_or_insert_with(|| Box::new(bounds.bodies.share()));
            share.hold(come - bounds.free).await?;
        }
        // Most bodies come in one piece, which is then not copied.
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

/// The next piece of a body, unless it has to make room for another one.
fn poll_piece<B>(
    mut body: Pin<&mut B>,
    share: Option<&mut Share>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<B::Data, TooMuch>>>
where
    B: Body,
    B::Error: fmt::Display,
{
    if let Some(share) = share
        && let Poll::Ready(NoRoom) = share.poll_no_room(cx)
    {
        return Poll::Ready(Some(Err(TooMuch::Room)));
    }
    loop {
        match ready!(body.as_mut().poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => {
                return Poll::Ready(Some(Err(TooMuch::Broken(error.to_string()))));
            }
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Poll::Ready(Some(Ok(piece)));
                }
            }
        }
    }
}

/// How much room to make once so many bytes have come. What a length claims is believed only so
/// far: room is made for some times what has really come, which the system has to find only as far as
/// it is written to.
fn room(come: usize, claimed: usize) -> usize {
    const TIMES: usize = 64;
    if claimed >= come { claimed.min(come.saturating_mul(TIMES)) } else { come.saturating_mul(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_believed_only_as_far_as_something_has_come() {
        assert_eq!(room(1_000, 2_000), 2_000);
        assert_eq!(room(1_000, 1_000), 1_000);
        assert_eq!(room(1_000, usize::MAX), 64_000);
        assert_eq!(room(1_000, 0), 2_000, "nothing was claimed");
    }
}
