//! The body of a request, read whole and bounded.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use http_body::Body;

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum TooMuch {
    /// It is longer than the limit.
    Bytes,
    /// It takes too long.
    Time,
    /// It broke off.
    Broken(String),
}

/// Reads a body of at most so many bytes. One that says beforehand that it is longer is not read
/// at all.
pub(super) async fn whole<B>(body: B, most: usize, within: Duration) -> Result<Bytes, TooMuch>
where
    B: Body,
    B::Error: fmt::Display,
{
    if body.size_hint().lower() > most as u64 {
        return Err(TooMuch::Bytes);
    }
    let mut read = pin!(collect(body, most));
    // Most bodies are there already, and need no clock.
    let begun = std::future::poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await;
    match begun {
        Poll::Ready(read) => read,
        Poll::Pending => tokio::time::timeout(within, read).await.unwrap_or(Err(TooMuch::Time)),
    }
}

async fn collect<B>(body: B, most: usize) -> Result<Bytes, TooMuch>
where
    B: Body,
    B::Error: fmt::Display,
{
    let mut body = pin!(body);
    let claimed =
        body.size_hint().exact().map_or(0, |claimed| usize::try_from(claimed).unwrap_or(0));
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let frame = frame.map_err(|error| TooMuch::Broken(error.to_string()))?;
        let Ok(mut piece) = frame.into_data() else { continue };
        let come = first.len() + whole.len() + piece.remaining();
        if come > most {
            return Err(TooMuch::Bytes);
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
    Ok(if whole.is_empty() { first } else { whole.into() })
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
