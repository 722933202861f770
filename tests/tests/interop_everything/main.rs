//! Clients of other SDKs use every feature they have against the everything-server, over stdio and
//! over HTTP, in every revision they speak.
//!
//! The peers (`tests/peers/everything`) use one feature after the other and print the result of
//! each, in the same form for every SDK, and the features that the SDK has no method for. The tests
//! here say what the report must have, over every transport.

use std::process::{Command, Stdio};

use bowline_tests::peers;
use bowline_tests::serving::Serving;
use bowline_types::revision::Revision;
use serde_json::{Map, Value};

mod expected;
mod tasks;

/// Small, so that lists have several pages.
const PAGE_SIZE: usize = 7;

/// The transport between a client and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Stdio,
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// A client of another SDK.
struct Peer {
    name: &'static str,
    program: [&'static str; 2],
    options: &'static [&'static str],
    speaks: When,
}

/// A predicate of revisions.
type When = fn(Revision) -> bool;

const TYPESCRIPT_V1: Peer = Peer {
    name: "@modelcontextprotocol/sdk",
    program: ["node", "everything/ts-v1.mjs"],
    options: &[],
    speaks: is_handshake,
};

const TYPESCRIPT_V2: Peer = Peer {
    name: "@modelcontextprotocol/client",
    program: ["node", "everything/ts-v2.mjs"],
    options: &[],
    speaks: is_any,
};

const PYTHON: Peer = Peer {
    name: "mcp",
    program: ["python", "everything/run.py"],
    options: &["--sdk", "mcp"],
    speaks: is_any,
};

const FASTMCP: Peer = Peer {
    name: "fastmcp",
    program: ["python", "everything/run.py"],
    options: &["--sdk", "fastmcp"],
    speaks: is_any,
};

/// Features that an SDK has no method for, and why. If the feature works after all, the test fails,
/// so that it gets tested.
const ABSENT: [(&Peer, &str, &str); 3] = [
    (&TYPESCRIPT_V1, "listening", "it knows the handshake era only"),
    (&FASTMCP, "subscription", "its client follows no single resources"),
    (&FASTMCP, "listening", "its client opens no stream of changes"),
];

/// Values that an SDK shows differently from the wire, and why.
const OTHERWISE: [(&Peer, When, &str, &str, &str); 3] = [
    (
        &TYPESCRIPT_V2,
        is_handshake,
        "notFound",
        r#"{ "code": -32602, "data": { "uri": "test://nothing" } }"#,
        "it gives the code of the newest revision for both",
    ),
    (&PYTHON, Revision::has_input_requests, "rootsChange", "null", ROOTS_ALL_THE_SAME),
    (&FASTMCP, Revision::has_input_requests, "rootsChange", "null", ROOTS_ALL_THE_SAME),
];

const ROOTS_ALL_THE_SAME: &str = "it tells changes of roots even where no revision has that";

fn is_any(_: Revision) -> bool {
    true
}

fn is_handshake(revision: Revision) -> bool {
    revision.has_handshake()
}

impl Peer {
    /// Runs the peer in each revision that it speaks, and compares its reports.
    fn sees_everything(&self, over: Over) {
        for revision in Revision::ALL.into_iter().filter(|revision| (self.speaks)(*revision)) {
            self.sees_everything_in(revision, over);
        }
    }

    fn sees_everything_in(&self, revision: Revision, over: Over) {
        let scene = format!("{} in {revision} over {over:?}", self.name);
        let http = bowline_conformance::server().page_size(PAGE_SIZE).http();
        let report = match over {
            Over::Stdio => {
                let items = PAGE_SIZE.to_string();
                let server = [env!("CARGO_BIN_EXE_everything"), "stdio", "--page-size", &items];
                self.report(revision, &[&["--"], &server[..]].concat(), &scene)
            }
            Over::Http => self.report(revision, &["--url", Serving::start(http).url()], &scene),
            Over::Sse => {
                self.report(revision, &["--sse", Serving::start(http.sse2024()).url()], &scene)
            }
        };
        assert_eq!(report["peer"], self.name);
        assert_eq!(report["protocolVersion"], revision.as_str());
        assert_eq!(report["oddities"], Value::Array(Vec::new()), "{scene}");
        if over == Over::Stdio {
            assert_eq!(report["exit"], 0, "the server exits when its input ends");
        }
        assert_eq!(report["absent"], self.absent(), "{}: mend the list `ABSENT`", self.name);
        assert_eq!(report["features"], self.expected(revision), "{scene}");
    }

    /// Returns the report of the peer.
    fn report(&self, revision: Revision, server: &[&str], scene: &str) -> Value {
        let (program, script) = peers::program(&self.program);
        let output = Command::new(program)
            .arg(script)
            .args(self.options)
            .args(["--revision", revision.as_str()])
            .args(server)
            .stdin(Stdio::null())
            .output()
            .expect("the peer starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scene} failed: {stderr}");
        serde_json::from_slice(&output.stdout).expect("the peer prints one JSON object")
    }

    fn absent(&self) -> Value {
        let absent = ABSENT.iter().filter(|(peer, ..)| peer.name == self.name);
        absent.map(|(_, feature, _)| Value::from(*feature)).collect()
    }

    fn expected(&self, revision: Revision) -> Value {
        let mut features: Map<_, _> = expected::features(revision);
        for (_, feature, _) in ABSENT.iter().filter(|(peer, ..)| peer.name == self.name) {
            features.remove(*feature).expect("only a known feature can be absent");
        }
        for (peer, when, feature, seen, _) in &OTHERWISE {
            if peer.name == self.name && when(revision) {
                let seen = serde_json::from_str(seen).expect("the list holds JSON");
                features.insert((*feature).to_owned(), seen).expect("the feature is known");
            }
        }
        Value::Object(features)
    }
}

// spec: PAGE-10, CANC-5, PROG-4, LOG-3, ROOT-4, PING-1
#[test]
fn typescript_v1_uses_every_feature_in_every_handshake_revision() {
    TYPESCRIPT_V1.sees_everything(Over::Stdio);
}

// spec: ERA-2, LOG-18, LOG-19
#[test]
fn typescript_v2_uses_every_feature_in_both_eras() {
    TYPESCRIPT_V2.sees_everything(Over::Stdio);
}

// spec: ERA-2
#[test]
fn python_uses_every_feature_in_both_eras() {
    PYTHON.sees_everything(Over::Stdio);
}

// spec: ERA-2
#[test]
fn fastmcp_uses_every_feature_in_both_eras() {
    FASTMCP.sees_everything(Over::Stdio);
}

// spec: HTTP-1, HTTP-10, HTTP-13, HTTP-47
#[test]
fn typescript_v1_uses_every_feature_over_http_in_every_handshake_revision() {
    TYPESCRIPT_V1.sees_everything(Over::Http);
}

// spec: HTTP-2, HTTP-13, HTTP-37
#[test]
fn typescript_v2_uses_every_feature_over_http_in_both_eras() {
    TYPESCRIPT_V2.sees_everything(Over::Http);
}

#[test]
fn python_uses_every_feature_over_http_in_both_eras() {
    PYTHON.sees_everything(Over::Http);
}

#[test]
fn fastmcp_uses_every_feature_over_http_in_both_eras() {
    FASTMCP.sees_everything(Over::Http);
}

#[test]
fn every_sdk_uses_every_feature_over_http_as_it_was_in_2024() {
    for peer in [TYPESCRIPT_V1, TYPESCRIPT_V2, PYTHON, FASTMCP] {
        peer.sees_everything_in(Revision::V2024_11_05, Over::Sse);
    }
}
