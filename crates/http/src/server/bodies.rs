//! The bytes of all request bodies that are in memory, bounded together.
//!
//! Only the bytes of a body beyond [`free`] count, and only those that have really come. When there is
//! no room for more, the body that has been arriving longest makes room, once it has had
//! [`HttpLimits::crowded`]. So a client that never finishes a body keeps others out for that long at
//! most, and must then send the whole body again. A body that has arrived is never given up for
//! another one. [`HttpLimits::bodies_per_caller`] bounds what has arrived of each caller, so that one
//! caller cannot hold all the room with requests that run.
//!
//! [`HttpLimits::crowded`]: super::HttpLimits::crowded
//! [`HttpLimits::bodies_per_caller`]: super::HttpLimits::bodies_per_caller

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::sync::lock;
use bytes::Bytes;
use http::Version;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::time::{Instant, sleep};

use super::callers::{BODY_UNIT, Caller, HeldBody, body_units};
use super::limits::HttpLimits;

/// How many bytes of the bodies of one connection do not count.
const FREE: usize = 64 * 1024;

/// How many bytes of a body do not count. The requests that may run at the same time on an HTTP/2
/// connection share the bytes that are free for one connection.
pub(super) fn free(version: Version, limits: &HttpLimits) -> usize {
    match version {
        Version::HTTP_2 => FREE / (limits.requests_per_connection as usize).max(1),
        _ => FREE,
    }
}

/// The room that all bodies share. One for each endpoint. Counts in units of [`BODY_UNIT`] bytes.
pub(super) struct Bodies {
    /// A permit is a free unit.
    room: Semaphore,
    units: usize,
    /// How long a body may keep others out.
    crowded: Duration,
    arriving: Mutex<Arriving>,
}

/// The bodies that count and have not arrived completely, oldest first. A number for each body
/// keeps the order, because two may begin at the same instant.
#[derive(Default)]
struct Arriving {
    /// When each began, and how to give it up.
    by_age: BTreeMap<u64, (Instant, oneshot::Sender<NoRoom>)>,
    last: u64,
}

/// There is no room for a body. Its request is answered 503, and the client may send it again.
#[derive(Debug)]
pub(super) struct NoRoom;

impl Bodies {
    pub(super) fn new(limits: &HttpLimits) -> Arc<Self> {
        let units = (limits.bodies / BODY_UNIT).min(Semaphore::MAX_PERMITS);
        let room = Semaphore::new(units);
        Arc::new(Self { room, units, crowded: limits.crowded, arriving: Mutex::default() })
    }

    /// How many bytes are held.
    pub(super) fn bytes(&self) -> usize {
        (self.units - self.room.available_permits()) * BODY_UNIT
    }

    /// Begins to count a body.
    pub(super) fn share(self: &Arc<Self>) -> BodyShare {
        let (sender, no_room) = oneshot::channel();
        let mut arriving = self.arriving();
        arriving.last += 1;
        let number = arriving.last;
        arriving.by_age.insert(number, (Instant::now(), sender));
        drop(arriving);
        BodyShare { bodies: self.clone(), number, units: 0, no_room }
    }

    /// Gives up the body that has been arriving longest, if it has had its time. Returns whether there
    /// was one.
    fn end_oldest(&self) -> bool {
        let mut arriving = self.arriving();
        match arriving.by_age.first_entry() {
            Some(oldest) if oldest.get().0.elapsed() >= self.crowded => {
                let (_, body) = oldest.remove();
                // It may have been dropped by now.
                let _ = body.send(NoRoom);
                true
            }
            _ => false,
        }
    }

    fn arriving(&self) -> MutexGuard<'_, Arriving> {
        lock(&self.arriving)
    }
}

/// The room that one body holds. Dropping it returns the room.
///
/// Made when the body grows beyond its free bytes. It outlives the reading: the text of an arrived
/// body keeps it until the request is answered.
pub(super) struct BodyShare {
    bodies: Arc<Bodies>,
    number: u64,
    units: usize,
    /// Resolves when the body has to make room.
    no_room: oneshot::Receiver<NoRoom>,
}

impl BodyShare {
    /// Holds so many bytes in all. Waits for room if there is none.
    ///
    /// # Errors
    ///
    /// If there is no room for too long, or another body needs it.
    pub(super) async fn hold(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let all = body_units(bytes);
        if all > self.bodies.units {
            return Err(NoRoom);
        }
        let more = u32::try_from(all.saturating_sub(self.units)).map_err(|_| NoRoom)?;
        if more == 0 {
            return Ok(());
        }
        let has_room = self.bodies.room.try_acquire_many(more).map(SemaphorePermit::forget).is_ok();
        if !has_room {
            Box::pin(self.wait(more)).await?;
        }
        self.units += more as usize;
        Ok(())
    }

    /// Waits until other bodies return their room. Whenever `crowded` passes without enough of it,
    /// the body that has been arriving longest is given up. Fails once that is this body: then
    /// requests that run hold the room.
    async fn wait(&mut self, more: u32) -> Result<(), NoRoom> {
        let Self { bodies, no_room, .. } = self;
        bodies.end_oldest();
        let mut room = std::pin::pin!(bodies.room.acquire_many(more));
        loop {
            tokio::select! {
                biased;
                _ = &mut *no_room => return Err(NoRoom),
                room = &mut room => {
                    room.map_err(|_| NoRoom)?.forget();
                    return Ok(());
                }
                () = sleep(bodies.crowded) => if !bodies.end_oldest() {
                    return Err(NoRoom);
                },
            }
        }
    }

    /// Ready when the body has to make room for another one.
    pub(super) fn poll_no_room(&mut self, cx: &mut Context<'_>) -> Poll<NoRoom> {
        std::pin::Pin::new(&mut self.no_room).poll(cx).map(|_| NoRoom)
    }

    /// Turns the body, which has arrived completely, into text that holds its room until the last
    /// part of the text is dropped. It makes no room for others any more.
    ///
    /// # Errors
    ///
    /// If the other requests of the caller leave no room for it.
    pub(super) fn arrived(self, text: Bytes, caller: &Caller) -> Result<Bytes, NoRoom> {
        self.bodies.arriving().by_age.remove(&self.number);
        let of_caller = caller.hold_body(self.units).ok_or(NoRoom)?;
        Ok(Bytes::from_owner(Arrived { text, _share: self, _of_caller: of_caller }))
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        self.bodies.arriving().by_age.remove(&self.number);
        self.bodies.room.add_permits(self.units);
    }
}

/// A body that has arrived completely.
struct Arrived {
    text: Bytes,
    /// Returns the room of the endpoint.
    _share: BodyShare,
    /// Returns the room of the caller.
    _of_caller: HeldBody,
}

impl AsRef<[u8]> for Arrived {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}
