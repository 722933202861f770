//! A store whose operations are measured.

use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bowline_store::backend::{
    Appended, BoxFuture, BoxStream, Entry, Expect, LogSlice, NewItem, Position, Result, Written,
};
use bowline_store::{Backend, Key};
use bytes::Bytes;
use opentelemetry::metrics::{Histogram, Meter, MeterProvider};
use opentelemetry::{KeyValue, global};

use crate::attribute::{CANCELLED, ERROR, OTHER};
use crate::telemetry::scope;

/// The bounds of the buckets in seconds. A store in the same network answers within a millisecond.
const SECONDS: [f64; 12] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];

/// The name of the operation, such as `renew`.
const OPERATION: &str = "bowline.store.operation";

/// Measures how long the operations of a store take, as `bowline.store.operation.duration`. Keys and
/// values are not recorded.
///
/// ```
/// # use bowline_store::memory::MemoryBackend;
/// let store = bowline_otel::store(MemoryBackend::default());
/// ```
pub fn store<B: Backend>(backend: B) -> MeasuredStore<B> {
    MeasuredStore { backend, durations: OnceLock::new() }
}

/// A store whose operations are measured. Made by [`store`].
pub struct MeasuredStore<B> {
    backend: B,
    /// Set with the first operation, so that the program may set its global provider later.
    durations: OnceLock<Histogram<f64>>,
}

impl<B> MeasuredStore<B> {
    /// Uses this provider of meters instead of the global one.
    #[must_use]
    pub fn meter_provider(mut self, provider: &dyn MeterProvider) -> Self {
        self.durations = OnceLock::from(histogram(&provider.meter_with_scope(scope())));
        self
    }

    /// Measures from here to the outcome, or until the operation is dropped.
    async fn measure<'a, T>(
        &'a self,
        operation: &'static str,
        begin: impl FnOnce(&'a B) -> BoxFuture<'a, Result<T>>,
    ) -> Result<T> {
        let global = || histogram(&global::meter_with_scope(scope()));
        let durations = self.durations.get_or_init(global);
        let mut measured =
            Measured { durations, operation, begun: Instant::now(), error: Some(CANCELLED) };
        let outcome = begin(&self.backend).await;
        measured.error = outcome.is_err().then_some(OTHER);
        outcome
    }
}

/// An operation that is recorded at its end, also if it is dropped.
struct Measured<'a> {
    durations: &'a Histogram<f64>,
    operation: &'static str,
    begun: Instant,
    error: Option<&'static str>,
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        let name = KeyValue::new(OPERATION, self.operation);
        let time = self.begun.elapsed().as_secs_f64();
        match self.error {
            Some(error) => self.durations.record(time, &[name, KeyValue::new(ERROR, error)]),
            None => self.durations.record(time, &[name]),
        }
    }
}

fn histogram(meter: &Meter) -> Histogram<f64> {
    let histogram = meter.f64_histogram("bowline.store.operation.duration").with_unit("s");
    let description = "How long operations of the store took.";
    histogram.with_description(description).with_boundaries(SECONDS.to_vec()).build()
}

impl<B: Backend> Backend for MeasuredStore<B> {
    fn longest_value(&self) -> Option<usize> {
        self.backend.longest_value()
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.measure("get", move |it| it.get(key)))
    }

    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.measure("renew", move |it| it.renew(key, expiry)))
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        Box::pin(self.measure("put", move |it| it.put(key, value, expiry, expect)))
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.measure("delete", move |it| it.delete(key)))
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(self.measure("scan", move |it| it.scan(prefix, after, limit)))
    }

    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(self.measure("append", move |it| it.append(log, item)))
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        Box::pin(self.measure("read", move |it| it.read(log, after, limit)))
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.measure("publish", move |it| it.publish(topic, value)))
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        Box::pin(self.measure("listen", move |it| it.listen(topic)))
    }
}

impl<B> fmt::Debug for MeasuredStore<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MeasuredStore")
    }
}
