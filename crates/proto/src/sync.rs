//! Locks and polls that every crate above needs: locking after a panic, catching one, polling once.
//!
//! A handler that panics must fail alone. So panics are caught where a call is polled, and a lock
//! that a panic poisoned is taken anyway: no code in this workspace leaves a value half-changed
//! under a lock.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::{Context, Poll};

/// Locks a mutex, also if a thread panicked while it held the lock.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading, also if a thread panicked while it held the lock.
pub fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing, also if a thread panicked while it held the lock.
pub fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// A future panicked. It must not be polled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// Polls a future and catches its panic.
///
/// # Errors
///
/// If the future panicked. The panic hook has reported the message by then; it is not for the peer.
pub fn catch_poll<F: Future + Unpin>(
    future: &mut F,
    cx: &mut Context<'_>,
) -> Result<Poll<F::Output>, Panicked> {
    // What the future left half-done is dropped with it, since it is never polled again.
    let poll = AssertUnwindSafe(|| Pin::new(future).poll(cx));
    catch_unwind(poll).map_err(|_| Panicked)
}

/// Polls a future exactly once, for the task that drives the returned future.
///
/// Shows whether something is ready before a timer is set up for it. A future that is pending can be
/// polled further or dropped.
pub fn poll_once<F: Future + Unpin>(future: &mut F) -> impl Future<Output = Poll<F::Output>> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    #[test]
    fn a_lock_that_a_panic_poisoned_is_taken_anyway() {
        let (mutex, rwlock) = (Mutex::new(1), RwLock::new(1));
        let _ = catch_unwind(|| {
            let _held = (lock(&mutex), write(&rwlock));
            panic!("while the locks are held");
        });
        assert!(mutex.is_poisoned() && rwlock.is_poisoned());
        assert_eq!(*lock(&mutex), 1);
        // One at a time: a guard lives until the end of its statement.
        assert_eq!(*read(&rwlock), 1);
        assert_eq!(*write(&rwlock), 1);
    }

    #[test]
    fn a_panic_of_a_future_becomes_a_value() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut sound = std::future::ready(1);
        assert_eq!(catch_poll(&mut sound, &mut cx), Ok(Poll::Ready(1)));
        let mut unsound = poll_fn(|_| -> Poll<()> { panic!("in a handler") });
        assert_eq!(catch_poll(&mut unsound, &mut cx), Err(Panicked));
    }

    #[test]
    fn a_future_is_polled_exactly_once() {
        let polls = Cell::new(0);
        let mut slow = poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::<()>::Pending
        });
        let once = pin!(poll_once(&mut slow));
        let polled = once.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((polled, polls.get()), (Poll::Ready(Poll::Pending), 1));
    }
}
