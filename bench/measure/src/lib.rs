//! Times the calls of a client: the same loop for every SDK.
//!
//! A client is a program `X http URL REVISION IN_FLIGHT CALLS` or `X stdio PROGRAM REVISION
//! IN_FLIGHT CALLS`. It connects according to the [`Plan`] and passes one call to [`Plan::run`],
//! which repeats it and prints a line of JSON.

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The message that each call sends and must get back: 64 bytes.
pub const MESSAGE: &str = "The quick brown fox jumps over the lazy dog, then naps till noon";

/// Any error that ends a client.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The arguments of a client.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the server is.
    pub target: Target,
    /// Which revision of the protocol is spoken.
    pub revision: String,
    /// How many calls await their answers at the same time.
    pub in_flight: usize,
    /// How many calls are timed.
    pub calls: usize,
}

/// Where the server is.
#[derive(Clone, Debug)]
pub enum Target {
    /// At an address.
    Http(String),
    /// A program, to be started with the argument `stdio`.
    Stdio(String),
}

impl Plan {
    /// Reads the arguments of the program.
    ///
    /// # Errors
    ///
    /// If they do not match the usage.
    pub fn from_arguments() -> Result<Self, Failure> {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let [transport, place, revision, in_flight, calls] = &arguments[..] else {
            return Err("usage: (http URL | stdio PROGRAM) REVISION IN_FLIGHT CALLS".into());
        };
        let target = match transport.as_str() {
            "http" => Target::Http(place.clone()),
            "stdio" => Target::Stdio(place.clone()),
            other => return Err(format!("`{other}` is neither `http` nor `stdio`").into()),
        };
        let revision = revision.clone();
        Ok(Self { target, revision, in_flight: in_flight.parse()?, calls: calls.parse()? })
    }

    /// Repeats a call and prints how long it took. Before that it repeats the call a tenth as often
    /// without measuring.
    ///
    /// The call returns whether its message came back.
    ///
    /// # Errors
    ///
    /// If any call fails, or gets something else back.
    pub async fn run<C, F>(&self, call: C) -> Result<(), Failure>
    where
        C: Fn() -> F + Clone + Send + 'static,
        F: Future<Output = Result<bool, Failure>> + Send + 'static,
    {
        repeat(self.in_flight, self.calls / 10, call.clone()).await?;
        let start = Instant::now();
        let mut took = repeat(self.in_flight, self.calls, call).await?;
        let seconds = start.elapsed().as_secs_f64();
        took.sort_unstable();
        let microseconds = |share: usize| {
            let place = took.len().saturating_sub(1) * share / 100;
            took.get(place).map_or(0.0, |it| it.as_secs_f64() * 1e6)
        };
        println!(
            r#"{{"calls":{},"seconds":{seconds:.6},"p50_us":{:.1},"p99_us":{:.1}}}"#,
            took.len(),
            microseconds(50),
            microseconds(99),
        );
        Ok(())
    }
}

/// Makes that many calls, several in flight, and returns how long each took.
async fn repeat<C, F>(in_flight: usize, calls: usize, call: C) -> Result<Vec<Duration>, Failure>
where
    C: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = Result<bool, Failure>> + Send + 'static,
{
    let begun = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..in_flight)
        .map(|_| tokio::spawn(one_after_another(Arc::clone(&begun), calls, call.clone())))
        .collect();
    let mut took = Vec::with_capacity(calls);
    for caller in callers {
        took.append(&mut caller.await??);
    }
    Ok(took)
}

async fn one_after_another<C, F>(
    begun: Arc<AtomicUsize>,
    calls: usize,
    call: C,
) -> Result<Vec<Duration>, Failure>
where
    C: Fn() -> F,
    F: Future<Output = Result<bool, Failure>>,
{
    let mut took = Vec::with_capacity(calls);
    while begun.fetch_add(1, Ordering::Relaxed) < calls {
        let start = Instant::now();
        if !call().await? {
            return Err("an answer was not the message that was sent".into());
        }
        took.push(start.elapsed());
    }
    Ok(took)
}
