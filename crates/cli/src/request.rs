//! What the commands that send requests to one server have in common.

use std::pin::pin;
use std::time::Duration;

use bowline::client::ClientBuilder;
use bowline::{Client, Limits};
use bowline_ops::hints;

use crate::client::{ClientArgs, Questions};
use crate::exit::{Exit, Failure};
use crate::interrupt::{closing, interruptible};
use crate::logins::TargetLogin;
use crate::print::{self, TerminalText, text};
use crate::target::{Target, TargetArgs};
use crate::wire::TraceArgs;

/// The options of these commands.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RequestArgs {
    /// Prints the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Timeout of a request in seconds; progress restarts it
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    server: TargetArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

impl RequestArgs {
    /// Finds the server, as [`TargetArgs::take`] does.
    ///
    /// # Errors
    ///
    /// If there is no TARGET, or none of that name, or the trace cannot be written.
    pub(crate) fn take_target(&self, words: &mut Vec<String>) -> Result<Target, Failure> {
        Ok(self.server.take(words)?.traced(self.trace.open()?))
    }

    /// Whether a command answers requests to a model.
    pub(crate) fn has_model(&self) -> bool {
        self.client.has_model()
    }

    /// The configuration of a client that waits as long as the user wants.
    pub(crate) fn client(&self, questions: Questions) -> ClientBuilder {
        let mut limits = Limits::for_client();
        limits.request_timeout = self.timeout;
        // The first request of a connection, which a server of the older era may leave unanswered.
        limits.probe_timeout = limits.probe_timeout.min(self.timeout);
        self.client.builder(questions, self.timeout).limits(limits)
    }
}

/// Connects to a server, does the work, and closes the connection. Ctrl-C ends the work, not the
/// closing; a second one ends that too.
///
/// # Errors
///
/// If connecting or the work fails, or the user pressed Ctrl-C.
pub(crate) async fn with_client<T>(
    target: Target,
    builder: ClientBuilder,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_login(target, builder, async |client: &Client, _: &TargetLogin| work(client).await).await
}

/// The same for work that explains its own failures with the login.
///
/// # Errors
///
/// As [`with_client`].
pub(crate) async fn with_login<T>(
    target: Target,
    builder: ClientBuilder,
    work: impl AsyncFnOnce(&Client, &TargetLogin) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let waiting = text!("connecting to {}", target.label);
    // Boxed, since the wrappers would each have room for it.
    let connecting = Box::pin(target.connect(builder));
    let (client, login) = interruptible(awaited(waiting, connecting)).await?;
    let outcome = interruptible(work(&client, &login)).await;
    closing(client.close()).await;
    outcome.map_err(|failure| login.explain(failure))
}

/// How long a user may wait before the terminal shows for what.
const NOTICEABLE: Duration = Duration::from_millis(500);

/// Waits for something. If that takes a while, the terminal shows for what the user waits.
pub(crate) async fn awaited<T>(what: TerminalText, step: impl Future<Output = T>) -> T {
    /// Takes the text away, also when the wait is given up.
    struct Shown;
    impl Drop for Shown {
        fn drop(&mut self) {
            print::progress("");
        }
    }
    let mut step = pin!(step);
    if let Ok(outcome) = tokio::time::timeout(NOTICEABLE, step.as_mut()).await {
        return outcome;
    }
    let _shown = Shown;
    print::progress(what + "…");
    step.await
}

/// Does a step that may take this long.
///
/// # Errors
///
/// If the step fails, or takes longer.
pub(crate) async fn within<T>(
    timeout: Duration,
    step: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::time::timeout(timeout, step).await.unwrap_or_else(|_| Err(late(timeout)))
}

/// The failure of a step that took longer.
pub(crate) fn late(timeout: Duration) -> Failure {
    let text = text!("no answer within {} s", timeout.as_secs_f64());
    Failure::new(Exit::Timeout, text).hint(hints::TIME)
}

/// A number of seconds, also a fraction.
///
/// # Errors
///
/// If it is no number, or not more than 0.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let duration = Duration::try_from_secs_f64(number);
    duration.ok().filter(|it| !it.is_zero()).ok_or_else(|| "expected more than 0".to_owned())
}
