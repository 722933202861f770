//! `bowline inspect`: steps, findings, and the step that fails.

use std::net::TcpListener;

use super::demo::{HttpDemo, with_demo};
use super::*;

/// The same text without times, which differ from run to run. They are in a column of their own.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.get(25..33) {
        Some(took) if took.ends_with(" ms") => format!("{}    N ms{}\n", &line[..25], &line[33..]),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn every_step_to_the_lists_is_named_over_both_transports_in_both_eras() {
    let http = HttpDemo::start();
    let port = http.url.split([':', '/']).nth(4).unwrap().to_owned();
    for revision in BOTH {
        let name = |transport: &str| format!("inspect_{transport}_{revision}.txt");
        let looked = run(&["inspect", &http.url, "--revision", revision]);
        assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
        expect(&name("http"), &timeless(&looked.stdout).replace(&port, "8808"));
        let looked = with_demo(&["inspect", "--revision", revision]);
        assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
        let program = env!("CARGO_BIN_EXE_bowline");
        expect(&name("stdio"), &timeless(&looked.stdout).replace(program, "bowline"));
    }
}

#[test]
fn the_first_step_that_fails_is_named_with_a_hint() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = run(&["inspect", &format!("http://{free}/mcp")]);
    assert_eq!(closed.code, Some(3));
    let shown = timeless(&closed.stdout) + &closed.stderr;
    expect("inspect_closed.txt", &shown.replace(&free.port().to_string(), "1"));
    let absent = run(&["inspect", "--", "./no-such-program"]);
    assert_eq!(absent.code, Some(3));
    expect("inspect_absent.txt", &(timeless(&absent.stdout) + &absent.stderr));
    let demo = HttpDemo::start();
    let other = run(&["inspect", &demo.url.replace("/mcp", "/other")]);
    assert!(other.stdout.contains("handshake      FAILED"), "{}", other.stdout);
    let tls = run(&["inspect", &demo.url.replace("http:", "https:")]);
    assert_eq!(tls.code, Some(3));
    assert!(tls.stdout.contains("tls            FAILED"), "{}", tls.stdout);
}

#[test]
fn a_server_that_wants_a_credential_fails_at_authorization() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The probe of the path opens a connection and sends nothing.
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n\
                           Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(refusal.as_bytes());
        }
    });
    let refused = run(&["inspect", &url]);
    assert_eq!(refused.code, Some(4), "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("authorization  FAILED"), "{}", refused.stdout);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
}

#[test]
fn json_has_everything() {
    let looked = with_demo(&["inspect", "--json"]);
    assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
    for part in [r#""ok": true"#, r#""revision": "2026-07-28""#, r#""tokens_estimated": "#] {
        assert!(looked.stdout.contains(part), "{}", looked.stdout);
    }
}
