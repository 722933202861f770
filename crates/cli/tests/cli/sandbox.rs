//! `bowline sandbox`: what a command can do in it, and servers and bridges in it.

use std::net::UdpSocket;
use std::os::unix::net::{UnixDatagram, UnixListener};

use super::serving::Serving;
use super::*;

/// A folder with a file that the user keeps for herself.
struct Private {
    folder: tempfile::TempDir,
    file: String,
}

impl Private {
    /// `None` if this kernel has no sandbox. Then the command says so, and starts nothing.
    fn new() -> Option<Self> {
        let probe = sandboxed(&[], &["echo", "started"]);
        if !kernel::has_landlock() {
            assert_eq!((probe.code, probe.stdout.as_str()), (Some(3), ""), "{probe:?}");
            assert!(probe.stderr.contains("this kernel cannot enforce"), "{probe:?}");
            return None;
        }
        assert_eq!((probe.code, probe.stdout.as_str()), (Some(0), "started\n"), "{probe:?}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("diary").to_str().unwrap().to_owned();
        fs::write(&file, "dear diary").unwrap();
        Some(Self { folder, file })
    }

    fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    /// A server that starts only if it cannot read the file.
    fn server(&self) -> [String; 3] {
        let script = format!("cat {} && exit 1; exec {}", self.file, exhibit().display());
        ["sh".to_owned(), "-c".to_owned(), script]
    }
}

fn sandboxed(options: &[&str], command: &[&str]) -> Run {
    run(&[&["sandbox"], kernel::as_root(), options, &["--"], command].concat())
}

// spec: LOCAL-6
#[test]
fn a_command_reads_and_changes_only_what_it_is_granted() {
    let Some(private) = Private::new() else { return };
    let write = format!("echo changed > {}", private.file);
    let (cat, change) = (["cat", &private.file], ["sh", "-c", &write]);
    for command in [&cat[..], &change, &["ls", private.path()], &["rm", &private.file]] {
        let refused = sandboxed(&[], command);
        assert_ne!(refused.code, Some(0), "{command:?}");
        assert!(refused.stderr.contains("Permission denied"), "{refused:?}");
        assert_eq!(refused.stdout, "");
    }
    let read = sandboxed(&["--read", private.path()], &cat);
    assert_eq!((read.code, read.stdout.as_str()), (Some(0), "dear diary"), "{read:?}");
    assert_ne!(sandboxed(&["--read", private.path()], &change).code, Some(0));
    assert_eq!(private.text(), "dear diary");
    let changed = sandboxed(&["--write", &private.file], &change);
    assert_eq!(changed.code, Some(0), "{changed:?}");
    assert_eq!(private.text(), "changed\n");
}

/// How an attempt of the example `reach` ends in a sandbox.
fn reach(options: &[&str], attempt: &[&str]) -> String {
    let program = exhibit().with_file_name("reach");
    let program = program.to_str().unwrap();
    let ended = sandboxed(options, &[&[program], attempt].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.stdout.trim_end().to_owned()
}

// spec: LOCAL-6
#[test]
fn a_command_signals_no_process_outside() {
    let Some(_) = Private::new() else { return };
    let inside = sandboxed(&[], &["sh", "-c", "sleep 9 & kill -0 $! && kill $!"]);
    assert_eq!(inside.code, Some(0), "{inside:?}");
    let outside = sandboxed(&[], &["sh", "-c", "kill -0 $PPID"]);
    assert_ne!(outside.code, Some(0), "{outside:?}");
    assert!(outside.stderr.contains("not permitted"), "{outside:?}");
}

// spec: LOCAL-6
#[test]
fn a_command_connects_to_socket_files_only_if_it_is_granted() {
    let Some(private) = Private::new() else { return };
    let [bus, log] = ["bus", "log"].map(|name| format!("{}/{name}", private.path()));
    let _listener = UnixListener::bind(&bus).unwrap();
    let _datagrams = UnixDatagram::bind(&log).unwrap();
    let granted = ["--unix-sockets", "--write", private.path()];
    for attempt in [["socket", &bus], ["datagram", &log]] {
        for options in [&[][..], &["--network"], &granted[1..]] {
            assert_eq!(reach(options, &attempt), "PermissionDenied", "{attempt:?} {options:?}");
        }
        assert_eq!(reach(&granted, &attempt), "reached", "{attempt:?}");
    }
    // Processes of one server talk through pairs.
    assert_eq!(reach(&[], &["pair"]), "reached");
}

// spec: LOCAL-6
#[test]
fn a_command_uses_udp_only_if_it_is_granted() {
    let Some(_) = Private::new() else { return };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let attempt = ["udp", &socket.local_addr().unwrap().to_string()];
    assert_eq!(reach(&[], &attempt), "PermissionDenied");
    assert_eq!(reach(&["--unix-sockets"], &attempt), "PermissionDenied");
    assert_eq!(reach(&["--network"], &attempt), "reached");
}

// spec: LOCAL-6
#[test]
fn a_command_uses_tcp_only_if_it_is_granted() {
    let Some(_) = Private::new() else { return };
    let http = HttpExhibit::start();
    let list = [bowline_path(), "list", &http.url];
    let refused = sandboxed(&[], &list);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let listed = sandboxed(&["--network"], &list);
    assert_eq!(listed.code, Some(0), "{listed:?}");
}

#[test]
fn a_command_that_cannot_start_and_a_path_that_is_not_there_are_named() {
    let Some(private) = Private::new() else { return };
    let absent = sandboxed(&[], &["no-such-program"]);
    assert_eq!(absent.code, Some(3), "{absent:?}");
    let start = "error: `no-such-program` cannot be started: ";
    assert!(absent.stderr.starts_with(start), "{absent:?}");
    let path = format!("{}/absent", private.path());
    let wrong = sandboxed(&["--read", &path], &["true"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains(&path), "{wrong:?}");
}

// spec: LOCAL-6, LOCAL-8
#[test]
fn a_bridge_serves_a_server_in_a_sandbox() {
    let Some(private) = Private::new() else { return };
    let server = private.server();
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let exhibit = exhibit();
    let read = ["--read", exhibit.to_str().unwrap()];
    let serve = ["serve", "--json", "--http", "127.0.0.1:0", "--"];
    let sandbox = [&[bowline_path(), "sandbox"][..], kernel::as_root(), &read, &["--"]].concat();
    let open = [&serve[..], &server].concat();
    let closed = [&serve[..], &sandbox, &server].concat();
    for revision in BOTH {
        let serving = Serving::start(bowline().args(&closed));
        let called = run(&["call", &serving.url, "add", "a=40", "b=2", "--revision", revision]);
        assert_eq!(called.code, Some(0), "{called:?}");
        assert!(called.stdout.contains("42"), "{called:?}");
    }
    // Without the sandbox the same server reads the file, and ends.
    assert_ne!(run(&open).code, Some(0));
}

// spec: LOCAL-9
#[test]
fn a_bridge_itself_runs_in_a_sandbox_without_files() {
    let Some(_) = Private::new() else { return };
    let http = HttpExhibit::start();
    let sandbox = [&[bowline_path(), "sandbox", "--network"][..], kernel::as_root()].concat();
    let bridge = [&sandbox[..], &["--", bowline_path(), "connect"]].concat();
    for revision in BOTH {
        let words = ["call", "add", "a=40", "b=2", "--revision", revision, "--"];
        let called = run(&[&words[..], &bridge, &[&http.url]].concat());
        assert_eq!(called.code, Some(0), "{called:?}");
        assert!(called.stdout.contains("42"), "{called:?}");
    }
}
