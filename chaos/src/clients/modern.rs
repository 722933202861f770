//! A client of 2026-07-28: no session, and a stream that ends too early is lost.

use super::{ClientBase, HEAD, messages, read_body, read_rest, read_stream};
use crate::ledger::{Call, End};

/// Calls until the run is over.
pub(super) async fn run(mut base: ClientBase) {
    while !base.is_over() {
        base.think().await;
        let mut call = base.new_call(None);
        call.end = follow(&base, &mut call).await;
        if call.ended.is_zero() {
            call.ended = base.now();
        }
        base.setting.recorder.call(call);
    }
}

async fn follow(base: &ClientBase, call: &mut Call) -> End {
    let request = messages::modern_call(call, base.setting.pause);
    let mut response = match base.send(&request, HEAD).await {
        Ok(response) if response.is_stream() => response,
        Ok(response) => return read_body(response, call).await,
        Err(end) => return end,
    };
    let end = read_stream(&mut response, call, &mut None, HEAD).await;
    call.ended = base.now();
    if end.is_some() {
        read_rest(&mut response, call).await;
    }
    end.unwrap_or(End::Cut)
}
