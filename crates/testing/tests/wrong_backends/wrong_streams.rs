//! The streams of listeners that a wrong backend makes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bowline_store::backend::BoxStream;
use bytes::Bytes;
use futures_core::Stream;
use tokio::sync::mpsc;

/// A listener that keeps every message.
pub(crate) struct Unbounded(pub(crate) mpsc::UnboundedReceiver<Bytes>);

impl Stream for Unbounded {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_recv(cx)
    }
}

/// A listener that gets no empty message.
pub(crate) struct WithoutEmpty(pub(crate) BoxStream<'static, Bytes>);

impl Stream for WithoutEmpty {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let message = ready!(self.0.as_mut().poll_next(cx));
            if message.as_ref().is_none_or(|message| !message.is_empty()) {
                return Poll::Ready(message);
            }
        }
    }
}
