//! Three replicas behind nginx, with one Redis, in one command: `cargo xtask replicas`.
//!
//! Starts `redis-server`, three processes of `examples/replicas.rs`, and nginx with
//! `examples/replicas/nginx.conf`: on free ports, with all files in a temporary folder. Prints which
//! replica answers each request. SIGINT (Ctrl-C), SIGTERM or SIGHUP ends all of it.

#![allow(clippy::print_stdout, reason = "its output is for its user")]

use std::collections::BTreeMap;
use std::io::Result;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bowline_tests::process::{HeldPort, redis_command, start};
use clap::Parser;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

/// The configuration that the manual explains.
const NGINX: &str = include_str!("../../../examples/replicas/nginx.conf");

/// The addresses in that configuration: of nginx, and of the replicas.
const LISTENS: &str = "127.0.0.1:8080";
const REPLICAS: [&str; 3] = ["127.0.0.1:3001", "127.0.0.1:3002", "127.0.0.1:3003"];

/// How long programs may take to end before they are killed.
const ENDS: Duration = Duration::from_secs(3);

/// Starts three replicas of a server behind nginx, with one Redis
#[derive(Parser)]
struct Options {
    /// The port of nginx; 0 is a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    let stop = stop_signal()?;
    let folder = tempfile::tempdir()?;
    let mut setup = Setup::new(options.port, folder)?;
    setup.start().await?;
    setup.introduce();
    setup.report_until(stop).await;
    setup.stop().await;
    println!("\nAll programs have ended.");
    Ok(())
}

/// Resolves when this program is asked to stop.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Everything that runs. Dropping it kills it.
struct Setup {
    /// The ports of nginx, Redis and the replicas.
    nginx: HeldPort,
    redis: HeldPort,
    replicas: [HeldPort; 3],
    /// The ids of the processes that have not ended, by the names of the programs.
    ids: BTreeMap<String, Pid>,
    running: JoinSet<(String, Result<ExitStatus>)>,
    /// What nginx reports: the addresses of the replicas that it tried, the method and the status.
    requests: Option<Lines<BufReader<ChildStdout>>>,
    folder: TempDir,
}

impl Setup {
    fn new(port: u16, folder: TempDir) -> Result<Self> {
        Ok(Self {
            nginx: HeldPort::new(port)?,
            redis: HeldPort::new(0)?,
            replicas: [HeldPort::new(0)?, HeldPort::new(0)?, HeldPort::new(0)?],
            ids: BTreeMap::new(),
            running: JoinSet::new(),
            requests: None,
            folder,
        })
    }

    /// Starts all programs, each after those that it needs.
    async fn start(&mut self) -> Result<()> {
        let keys = self.folder.path().join("state-keys");
        std::fs::write(&keys, new_key()?)?;
        #[cfg(unix)]
        std::fs::set_permissions(&keys, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let redis = self.redis.address()?;
        let child = start(&mut redis_command(redis, self.folder.path()), redis).await?;
        self.keep("redis", child);
        let program = replica_program()?;
        for (name, address) in self.names()? {
            let mut command = Command::new(&program);
            command.arg(address.to_string()).arg(format!("redis://{redis}")).arg(&keys);
            let child = start(&mut command, address).await?;
            self.keep(&name, child);
        }
        let mut child = start(&mut self.nginx_command()?, self.nginx.address()?).await?;
        self.requests = child.stdout.take().map(|output| BufReader::new(output).lines());
        self.keep("nginx", child);
        Ok(())
    }

    /// The replicas with their addresses.
    fn names(&self) -> Result<Vec<(String, SocketAddr)>> {
        let ports = self.replicas.iter().enumerate();
        ports.map(|(index, port)| Ok((format!("replica {}", index + 1), port.address()?))).collect()
    }

    /// Notices when a program ends.
    fn keep(&mut self, name: &str, mut child: Child) {
        let name = name.to_owned();
        if let Some(id) = child.id() {
            self.ids.insert(name.clone(), Pid::from_raw(id.cast_signed()));
        }
        self.running.spawn(async move { (name, child.wait().await) });
    }

    /// nginx with the configuration of the repository, but for the ports and what needs a folder.
    fn nginx_command(&self) -> Result<Command> {
        let mut text = NGINX.replace(LISTENS, &self.nginx.address()?.to_string());
        for (planned, port) in REPLICAS.iter().zip(&self.replicas) {
            text = text.replace(planned, &port.address()?.to_string());
        }
        let text = text.replacen("http {", &format!("http {{\n{}", files_of_nginx()), 1);
        let folder = self.folder.path();
        std::fs::write(folder.join("nginx.conf"), text)?;
        let mut command = Command::new("nginx");
        command.env("PATH", "/usr/sbin:/usr/bin:/usr/local/bin:/sbin:/bin").arg("-p").arg(folder);
        command.arg("-c").arg(folder.join("nginx.conf")).stdout(Stdio::piped());
        command.args(["-g", "daemon off; master_process off; pid nginx.pid; error_log nginx.log;"]);
        command.stderr(Stdio::null());
        Ok(command)
    }

    fn introduce(&self) {
        let Ok(address) = self.nginx.address() else { return };
        let url = format!("http://{address}/mcp");
        println!(
            "Three replicas of examples/replicas.rs behind nginx, with one Redis:\n\n  {url}\n"
        );
        for (name, id) in &self.ids {
            println!("{name:<10} process {id}");
        }
        println!(
            "\nTry in another terminal:\n\n  \
             bowline call {url} replica --revision 2025-11-25   # again and again\n  \
             bowline call {url} greet                           # a question, two replicas\n  \
             npx @modelcontextprotocol/inspector                # connect it to the URL\n  \
             kill PROCESS                                       # of a replica: no client notices\n  \
             kill -9 PROCESS                                    # of a replica, or of redis\n\n\
             Ctrl-C ends all of it. Requests:"
        );
    }

    /// Prints which replica answers which request, and which program ends.
    async fn report_until(&mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let names = self.names().unwrap_or_default();
        let Some(mut requests) = self.requests.take() else { return };
        loop {
            tokio::select! {
                () = &mut stop => return,
                Ok(Some(line)) = requests.next_line() => println!("{}", with_names(line, &names)),
                Some(Ok((name, status))) = self.running.join_next() => {
                    self.ids.remove(&name);
                    let status = status.map_or_else(|error| error.to_string(), |it| it.to_string());
                    println!("{name} has ended ({status})");
                }
                else => return,
            }
        }
    }

    /// Ends the programs: first those that need the others.
    async fn stop(&mut self) {
        // SIGINT: no other replica takes over, so they need not go on for a while.
        self.end(|name| name != "redis", Signal::SIGINT).await;
        self.end(|_| true, Signal::SIGTERM).await;
        self.end(|_| true, Signal::SIGKILL).await;
    }

    async fn end(&mut self, is_meant: impl Fn(&str) -> bool, signal: Signal) {
        for (_, id) in self.ids.iter().filter(|(name, _)| is_meant(name)) {
            // A process that has ended by itself meanwhile is what was wanted.
            let _ = kill(*id, signal);
        }
        let ended = async {
            while self.ids.keys().any(|name| is_meant(name)) {
                let Some(Ok((name, _))) = self.running.join_next().await else { return };
                self.ids.remove(&name);
            }
        };
        let _ = tokio::time::timeout(ENDS, ended).await;
    }
}

/// The program of `examples/replicas.rs`, which is built beside this one.
fn replica_program() -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    Ok(this.parent().unwrap_or(Path::new(".")).join("replicas"))
}

/// A line for the file of state keys.
fn new_key() -> Result<String> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(std::io::Error::other)?;
    Ok(STANDARD.encode(key) + "\n")
}

/// What nginx needs to run in a folder of its own, and to report requests.
fn files_of_nginx() -> String {
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let folders = kinds.map(|kind| format!("    {kind}_temp_path {kind};\n")).concat();
    let log = "    log_format tried '$upstream_addr: $request_method $status';\n    \
               access_log /dev/stdout tried;";
    folders + log
}

/// Replaces addresses of replicas by their names.
fn with_names(line: String, names: &[(String, SocketAddr)]) -> String {
    names.iter().fold(line, |line, (name, address)| line.replace(&address.to_string(), name))
}
