//! The built-in server: over stdio and HTTP, in both eras.

use std::net::TcpListener;

use super::*;

/// The built-in server over HTTP, on a free port. It ends with this value.
pub(crate) struct HttpDemo {
    child: Child,
    pub(crate) url: String,
}

impl HttpDemo {
    pub(crate) fn start() -> Self {
        let mut command = bowline();
        command.args(["demo", "--http", "127.0.0.1:0", "--json"]).stdout(Stdio::piped());
        let mut demo = Self { child: command.spawn().unwrap(), url: String::new() };
        let lines = BufReader::new(demo.child.stdout.take().unwrap()).lines();
        let started: Vec<_> = lines.map(Result::unwrap).take_while(|line| line != "}").collect();
        demo.url = started.join("").split('"').nth(3).unwrap().to_owned();
        demo
    }
}

impl Drop for HttpDemo {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Runs the command with the demo as a child process.
pub(crate) fn with_demo(arguments: &[&str]) -> Run {
    run(&[arguments, &["--", env!("CARGO_BIN_EXE_bowline"), "demo", "--stdio"]].concat())
}

#[test]
fn it_offers_the_same_in_both_eras_and_over_both_transports() {
    let http = HttpDemo::start();
    for revision in BOTH {
        let stdio = with_demo(&["list", "--revision", revision]);
        assert_eq!((stdio.code, stdio.stderr.as_str()), (Some(0), ""));
        expect("demo_list.txt", &stdio.stdout);
        let listed = run(&["list", "--revision", revision, &http.url]);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
        expect("demo_list.txt", &listed.stdout);
    }
}

#[test]
fn its_tools_answer_as_those_of_the_echo_example() {
    let http = HttpDemo::start();
    for revision in BOTH {
        let call = |words: &[&str]| {
            let over_stdio = with_demo(&[&["call", "--revision", revision], words].concat());
            let options = ["call", "--revision", revision, &http.url];
            let over_http = run(&[&options[..], words].concat());
            assert_eq!(over_stdio.stdout, over_http.stdout);
            (over_http.code, over_http.stdout)
        };
        assert_eq!(call(&["echo", "message=ahoy"]), (Some(0), "ahoy\n".to_owned()));
        let sum = "{\n  \"sum\": 42\n}\n".to_owned();
        assert_eq!(call(&["add", "a=40", "b=2"]), (Some(0), sum));
        let slept = "slept 0.1 s\n".to_owned();
        assert_eq!(call(&["sleep", "seconds=0.1"]), (Some(0), slept));
        let failed = "this tool always fails\n".to_owned();
        assert_eq!(call(&["fail"]), (Some(1), failed));
    }
}

#[test]
fn it_says_what_to_try_next() {
    let mut command = bowline();
    let mut child =
        command.args(["demo", "--http", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut shown = String::new();
    for line in lines {
        let line = line.unwrap();
        shown.push_str(&line);
        shown.push('\n');
        if line.starts_with("Or open") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let url = shown.split_whitespace().nth(1).unwrap().to_owned();
    let shown = shown.replace(&url, "http://127.0.0.1:8808/mcp");
    expect("demo_started.txt", &shown);
    let shown_by_page = start_on_page("demo.md", "$ bowline demo\n");
    assert!(shown.starts_with(&shown_by_page), "docs/commands/demo.md: {shown_by_page}");
}

/// What a page of `docs/commands` shows below this command line.
pub(crate) fn start_on_page(page: &str, command: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands");
    let text = fs::read_to_string(folder.join(page)).unwrap();
    let shown = text.split(command).nth(1).unwrap();
    shown.split("```").next().unwrap().to_owned()
}

#[test]
fn a_port_that_is_taken_is_named_with_a_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = run(&["demo", "--http", &address]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""));
    expect("demo_taken.txt", &refused.stderr.replace(&address, "127.0.0.1:8808"));
}

// spec: LOCAL-7
#[test]
fn over_http_it_is_guarded_against_other_machines_and_web_pages() {
    let http = HttpDemo::start();
    let address = http.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let status = |headers: &str| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let request = format!("GET /mcp HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    let own = format!("Host: {address}\r\nAccept: text/html\r\n");
    assert_ne!(status(&own), "403", "a program of this machine is answered");
    assert_eq!(status("Host: rebound.example\r\nAccept: text/html\r\n"), "403");
    let foreign = format!("{own}Origin: https://evil.example\r\n");
    assert_eq!(status(&foreign), "403");
}

// spec: LOCAL-7
#[test]
fn it_serves_this_machine_only() {
    let refused = run(&["demo", "--http", "0.0.0.0:0"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    expect("demo_network.txt", &refused.stderr);
}
