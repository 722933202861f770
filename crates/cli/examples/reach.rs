//! Tries to reach what a sandbox forbids, and prints how each attempt ended: `reach socket FILE`,
//! `reach datagram FILE`, `reach udp ADDRESS`, `reach pair`.

#![allow(clippy::print_stdout)]

#[cfg(unix)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match reach(&arguments) {
        Ok(()) => println!("reached"),
        Err(error) => println!("{:?}", error.kind()),
    }
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn reach(arguments: &[&str]) -> std::io::Result<()> {
    use std::net::UdpSocket;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    match arguments {
        ["socket", file] => UnixStream::connect(file).map(drop),
        // A socket of a pair can send to other addresses than its peer.
        ["datagram", file] => UnixDatagram::pair()?.0.send_to(b"hello", file).map(drop),
        ["udp", address] => UdpSocket::bind("127.0.0.1:0")?.send_to(b"hello", address).map(drop),
        ["pair"] => UnixStream::pair().map(drop),
        _ => panic!("`{}` is no attempt", arguments.join(" ")),
    }
}
