//! Standard input and output of a server, with real processes.

#![cfg(unix)]

mod support;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio as Pipe};
use std::sync::mpsc::Receiver;

use bowline_proto::limits::Limits;
use bowline_transport::stdio::Stdio;
use bowline_transport::transport::{Transport, Writer};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::openpty;

use self::support::{
    Directory, PATIENCE, echo, lines_of, next, queue, rest, runtime, this_binary, wait,
};

/// Not a test: the tests below run this function as the server, in another process.
#[test]
fn part() {
    match support::part().as_deref() {
        None => {}
        Some("echo") => runtime().block_on(async { echo(Stdio::take().unwrap()).await }),
        Some("noise") => runtime().block_on(serve_with_noise()),
        Some("twice") => runtime().block_on(take_twice()),
        Some("one") => runtime().block_on(serve_one()),
        Some("flood") => runtime().block_on(flood()),
        Some(other) => panic!("no part is named {other}"),
    }
}

#[allow(clippy::print_stdout, reason = "it is what the protocol must be safe from")]
async fn serve_with_noise() {
    print!("printed before, without a line end; ");
    let (mut reader, mut writer) = Stdio::take().unwrap().split(&Limits::default());
    println!("printed");
    nix::unistd::write(io::stdout(), b"written to descriptor 1\n").unwrap();
    let status = Command::new("/bin/sh").args(["-c", "echo said by a child; cat"]).status();
    assert!(status.unwrap().success(), "`cat` finds its input empty");
    for n in 0..3 {
        let message = next(&mut reader).await;
        print!("half a line {n}");
        eprintln!("logged");
        writer.write(&mut queue([message])).await.unwrap();
    }
}

async fn take_twice() {
    let first = Stdio::take().unwrap();
    let error = Stdio::take().unwrap_err();
    let (_, mut writer) = first.split(&Limits::default());
    let frame = format!("{{\"start\":{},\"error\":\"{error}\"}}", error.is_start());
    writer.write(&mut queue([frame])).await.unwrap();
}

async fn serve_one() {
    let (mut reader, mut writer) = Stdio::take().unwrap().split(&Limits::default());
    let message = next(&mut reader).await;
    writer.write(&mut queue([message])).await.unwrap();
}

async fn flood() {
    let (mut reader, mut writer) = Stdio::take().unwrap().split(&Limits::default());
    next(&mut reader).await;
    let error = loop {
        if let Err(error) = writer.write(&mut queue(["{}"])).await {
            break error;
        }
    };
    assert!(error.is_closed());
}

fn start(part: &str) -> Child {
    let mut command = this_binary(part);
    command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped()).spawn().unwrap()
}

/// The output of a server, without what the test harness prints before.
fn protocol(stdout: impl Read + Send + 'static) -> Receiver<String> {
    let lines = lines_of(stdout);
    while lines.recv_timeout(PATIENCE).unwrap().trim() != "running 1 test" {}
    lines
}

// spec: STDIO-4, STDIO-6
#[test]
fn stdout_is_pure() {
    let mut server = start("noise");
    let output = protocol(server.stdout.take().unwrap());
    let errors = lines_of(server.stderr.take().unwrap());
    server.stdin.take().unwrap().write_all(b"{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n").unwrap();
    assert_eq!(rest(&output), ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"]);
    assert!(wait(&mut server).success());
    let errors = rest(&errors).join("\n");
    let noise = ["printed before", "\nwritten to descriptor 1\n", "\nsaid by a child\n", "line 2"];
    for noise in noise {
        assert!(errors.contains(noise), "{errors}");
    }
}

// spec: STDIO-4
#[test]
fn stdout_is_pure_even_if_stderr_is_the_same_pipe() {
    let (output, pipe) = io::pipe().unwrap();
    let mut command = this_binary("noise");
    command.stdin(Pipe::piped()).stdout(pipe.try_clone().unwrap()).stderr(pipe);
    let mut server = command.spawn().unwrap();
    drop(command);
    let output = protocol(output);
    server.stdin.take().unwrap().write_all(b"{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n").unwrap();
    assert_eq!(rest(&output), ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"]);
    assert!(wait(&mut server).success());
}

// spec: STDIO-15
#[test]
fn a_server_ends_with_its_input() {
    let mut server = start("echo");
    let output = protocol(server.stdout.take().unwrap());
    let mut input = server.stdin.take().unwrap();
    input.write_all(b"{\"n\":1}\n").unwrap();
    assert_eq!(output.recv_timeout(PATIENCE).unwrap(), "{\"n\":1}");
    assert!(server.try_wait().unwrap().is_none());
    drop(input);
    assert!(wait(&mut server).success());
}

// spec: STDIO-15
#[test]
fn a_server_ends_with_its_parent_even_if_another_process_holds_its_input() {
    let binary = this_binary("echo");
    let mut parent = Command::new("/bin/sh")
        .args(["-c", r#"exec 3<&0; "$@" <&3 3<&- & wait"#, "sh"])
        .arg(binary.get_program())
        .args(binary.get_args())
        .envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Pipe::piped())
        .stdout(Pipe::piped())
        .stderr(Pipe::null())
        .spawn()
        .unwrap();
    let output = protocol(parent.stdout.take().unwrap());
    let mut input = parent.stdin.take().unwrap();
    input.write_all(b"{\"n\":1}\n").unwrap();
    assert_eq!(output.recv_timeout(PATIENCE).unwrap(), "{\"n\":1}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(rest(&output).is_empty());
    drop(input);
}

#[test]
fn taking_twice_is_an_error() {
    let mut server = start("twice");
    let output = protocol(server.stdout.take().unwrap());
    let error = r#"{"start":true,"error":"standard input and output are already taken"}"#;
    assert_eq!(rest(&output), [error]);
    assert!(wait(&mut server).success());
}

#[test]
fn a_client_that_stops_reading_is_a_normal_end() {
    let mut server = start("flood");
    drop(protocol(server.stdout.take().unwrap()));
    server.stdin.take().unwrap().write_all(b"{}\n").unwrap();
    assert!(wait(&mut server).success());
}

#[test]
fn a_pipe_that_others_hold_stays_blocking_for_them() {
    let ((input, mut to_server), (from_server, output)) =
        (io::pipe().unwrap(), io::pipe().unwrap());
    let mut command = this_binary("echo");
    command.stdin(input.try_clone().unwrap()).stdout(output.try_clone().unwrap());
    let mut server = command.spawn().unwrap();
    let lines = protocol(from_server);
    to_server.write_all(b"{}\n").unwrap();
    assert_eq!(lines.recv_timeout(PATIENCE).unwrap(), "{}");
    if cfg!(target_os = "linux") {
        assert!(is_blocking(&input) && is_blocking(&output));
    }
    drop(to_server);
    assert!(wait(&mut server).success());
}

#[test]
fn sockets_serve_as_well_as_pipes() {
    let (mut client, server) = UnixStream::pair().unwrap();
    let mut command = this_binary("echo");
    command.stdin(OwnedFd::from(server.try_clone().unwrap())).stdout(OwnedFd::from(server));
    let mut server = command.spawn().unwrap();
    drop(command);
    let output = protocol(client.try_clone().unwrap());
    client.write_all(b"{\"n\":1}\n").unwrap();
    assert_eq!(output.recv_timeout(PATIENCE).unwrap(), "{\"n\":1}");
    client.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(rest(&output).is_empty());
    assert!(wait(&mut server).success());
}

#[test]
fn files_serve_as_well_as_pipes() {
    let directory = Directory::new();
    let (input, output) = (directory.0.join("input"), directory.0.join("output"));
    let messages: Vec<_> = (0..500).map(|n| format!("{{\"{n}\":\"{}\"}}", "x".repeat(n))).collect();
    fs::write(&input, messages.join("\n")).unwrap();
    let mut command = this_binary("echo");
    command.stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap());
    assert!(wait(&mut command.spawn().unwrap()).success());
    assert_eq!(rest(&protocol(File::open(&output).unwrap())), messages);
}

#[test]
fn a_terminal_stays_blocking_and_does_not_keep_the_server_alive() {
    let terminal = openpty(None, None).unwrap();
    let mut command = this_binary("one");
    command.stdin(terminal.slave.try_clone().unwrap()).stdout(terminal.slave.try_clone().unwrap());
    let mut server = command.spawn().unwrap();
    let mut master = File::from(terminal.master);
    let screen = protocol(master.try_clone().unwrap());
    master.write_all(b"{\"n\":1}\n").unwrap();
    for what in ["as typed", "as answered"] {
        assert_eq!(screen.recv_timeout(PATIENCE).unwrap(), "{\"n\":1}", "{what}");
    }
    assert!(is_blocking(&terminal.slave));
    assert!(wait(&mut server).success(), "while its thread still reads");
}

fn is_blocking(descriptor: &impl AsFd) -> bool {
    let flags = fcntl(descriptor, FcntlArg::F_GETFL).unwrap();
    !OFlag::from_bits_truncate(flags).contains(OFlag::O_NONBLOCK)
}
