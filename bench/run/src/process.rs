//! Starts and ends programs: on a core, within a time, and never later than this program.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// How long a server may take to listen or to end; under valgrind both are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Core {
    Server,
    Generator,
}

/// Raises the limit of open files, for this program and its children, as far as the system permits.
pub(crate) fn allow_many_files() -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Enough, but few enough for programs that allocate a table of this size.
    let wanted = most.min(65_536);
    Ok(setrlimit(Resource::RLIMIT_NOFILE, wanted, most)?)
}

/// A program that is ended when this is dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a program on a core. The kernel ends it if this program is killed.
    fn start(core: Core, words: &[String], output: Stdio, errors: Stdio) -> Result<Self> {
        let number = match core {
            Core::Server => "0",
            Core::Generator => "1",
        };
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "taskset", "-c", number])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(errors)
            .env("RUST_BACKTRACE", "0")
            .spawn()
            .context("cannot start `setpriv` and `taskset`, which util-linux has")?;
        Ok(Self(child))
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn terminate(mut self) -> Result<()> {
        kill(Pid::from_raw(self.0.id().try_into()?), Signal::SIGTERM)?;
        self.wait(PATIENCE).context("it does not end when told to")
    }

    fn wait(&mut self, patience: Duration) -> Result<()> {
        let end = Instant::now() + patience;
        while self.0.try_wait()?.is_none() {
            ensure!(Instant::now() < end, "it still runs after {patience:?}");
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Its memory, in bytes.
    pub(crate) fn memory(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Ok(kibibytes.context("no VmRSS")?.parse::<f64>()? * 1024.0)
    }

    /// Its standard error, after it has ended.
    fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut errors) = self.0.stderr.take() {
            // A part of it is better than nothing.
            let _ = errors.read_to_string(&mut text);
        }
        text.trim().chars().take(400).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that listens.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) url: String,
}

impl Server {
    /// Starts a server on its core, with `{addr}` replaced by a free address.
    pub(crate) fn start(command: &[String]) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let words: Vec<String> =
            command.iter().map(|word| word.replace("{addr}", &address)).collect();
        let mut process = Process::start(Core::Server, &words, Stdio::null(), Stdio::inherit())?;
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(&address).is_err() {
            if process.0.try_wait()?.is_some() {
                bail!("`{}` ended at once", words.join(" "));
            }
            ensure!(Instant::now() < end, "`{}` does not listen", words.join(" "));
            thread::sleep(Duration::from_millis(2));
        }
        Ok(Self { process, url: format!("http://{address}/mcp") })
    }
}

/// Runs a program to its end and reads the line of JSON that it prints.
pub(crate) fn figures(core: Core, words: &[String], patience: Duration) -> Result<Value> {
    let mut process = Process::start(core, words, Stdio::piped(), Stdio::piped())?;
    drop(process.0.stdin.take());
    let line = || words.join(" ");
    process.wait(patience).with_context(line)?;
    let mut text = String::new();
    if let Some(mut output) = process.0.stdout.take() {
        output.read_to_string(&mut text)?;
    }
    let Ok(value) = serde_json::from_str(text.trim()) else {
        bail!("{}", process.complaint());
    };
    Ok(value)
}

/// A program that has reported that it is ready, and ends when its input does.
pub(crate) struct Waiting(Process);

impl Waiting {
    /// Starts it on the core of the generator and waits for its line.
    pub(crate) fn start(words: &[String]) -> Result<Self> {
        let mut process = Process::start(Core::Generator, words, Stdio::piped(), Stdio::piped())?;
        let output = process.0.stdout.as_mut().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line.contains("ready"), "{}", process.complaint());
        Ok(Self(process))
    }

    /// Lets it end.
    pub(crate) fn end(mut self) -> Result<()> {
        let mut input = self.0.0.stdin.take().context("no stdin")?;
        writeln!(input)?;
        drop(input);
        self.0.wait(PATIENCE)
    }
}

/// One of the figures in a line of JSON.
pub(crate) fn number(value: &Value, name: &str) -> Result<f64> {
    value[name].as_f64().with_context(|| format!("no `{name}` in {value}"))
}
