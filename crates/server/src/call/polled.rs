//! The call whose handler is being polled on this thread, for events of `tracing`.

use std::cell::RefCell;

use crate::call::Call;

thread_local! {
    /// The calls whose handlers are being polled on this thread, the innermost last.
    static POLLED: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// Marks the call as the one whose handler is being polled, until the guard is dropped.
pub(crate) fn enter(call: &Call) -> impl Drop + use<> {
    POLLED.with_borrow_mut(|calls| calls.push(call.clone()));
    Entered
}

struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        POLLED.with_borrow_mut(|calls| _ = calls.pop());
    }
}

/// The call whose handler is being polled. The list is not borrowed when this returns, because
/// recording an event may cause another event.
pub(crate) fn current() -> Option<Call> {
    POLLED.try_with(|calls| calls.borrow().last().cloned()).ok().flatten()
}
