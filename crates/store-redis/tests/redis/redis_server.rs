//! A `redis-server` or `valkey-server` of a test, on a free port. It is killed at the end, also
//! when the test panics.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The variable that names another server than `redis-server`.
const SERVER: &str = "BOWLINE_REDIS_SERVER";

/// Where `tests/peers/install.sh` installs Valkey.
const VALKEY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/.venv/bin/valkey-server");

/// The programs that the store works with.
#[derive(Clone, Copy)]
pub(crate) enum Program {
    Redis,
    Valkey,
}

pub(crate) struct RedisServer {
    program: Program,
    arguments: Vec<String>,
    port: u16,
    folder: TempDir,
    child: Child,
}

impl RedisServer {
    /// Starts a server that writes no file.
    pub(crate) fn start() -> Self {
        Self::start_with(&["--save", "", "--appendonly", "no"])
    }

    /// Starts a server with arguments. Its folder is empty.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::start_program(Program::Redis, arguments)
    }

    /// As [`start_with`](Self::start_with).
    pub(crate) fn start_program(program: Program, arguments: &[&str]) -> Self {
        let port = free_port();
        let arguments: Vec<_> = arguments.iter().map(|it| (*it).to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        let child = spawn(program, &arguments, port, &folder);
        Self { program, arguments, port, folder, child }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Ends the server as a crash does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the server as a debugger does: its connections stay open, and it answers nothing.
    pub(crate) fn pause(&self) {
        let stopped = Command::new("kill").args(["-STOP", &self.child.id().to_string()]).status();
        assert!(stopped.unwrap().success());
    }

    /// Starts it again, with what is on its disk.
    pub(crate) fn start_again(&mut self) {
        self.child = spawn(self.program, &self.arguments, self.port, &self.folder);
    }

    /// Sends a command. Returns the text of the answer, or the line of one that is no text.
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let mut text = format!("*{}\r\n", command.len());
        for part in command {
            text.push_str(&format!("${}\r\n{part}\r\n", part.len()));
        }
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(Ok(length)) = line.strip_prefix('$').map(|length| length.trim().parse()) {
            let mut text = vec![0; length];
            reader.read_exact(&mut text).unwrap();
            return String::from_utf8(text).unwrap();
        }
        line.trim_end().to_owned()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    // A cluster also uses the port 10,000 above.
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        if port < 55_000 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return port;
        }
    }
}

fn spawn(program: Program, arguments: &[String], port: u16, folder: &TempDir) -> Child {
    let program = match program {
        Program::Redis => std::env::var(SERVER).unwrap_or_else(|_| "redis-server".to_owned()),
        Program::Valkey => VALKEY.to_owned(),
    };
    let mut child = Command::new(&program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--logfile", ""])
        .args(arguments)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!(
                "`{program}` does not start ({error}); tests/peers/install.sh installs it \
                 (Debian: apt-get install redis-server)"
            )
        });
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut log = Vec::new();
    loop {
        match lines.next() {
            Some(Ok(line)) if line.contains("Ready to accept connections") => break,
            Some(Ok(line)) => log.push(line),
            _ => panic!("`{program}` has ended:\n{}", log.join("\n")),
        }
    }
    // A full pipe would stop the server.
    std::thread::spawn(move || lines.for_each(drop));
    child
}
