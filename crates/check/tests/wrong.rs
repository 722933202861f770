//! Wrong servers: one script for each observer, which breaks exactly the rules that it names. Right
//! servers: scripts of lawful servers, which break none.
//!
//! A script in `tests/wrong` begins with `# RULE [RULE…] REVISION [http]`, one in `tests/right.txt` with
//! `# REVISION [http] | what it does`. Its lines are shown to a
//! watch: `>` what the client sends, `<` what the server sends, with the number of the POST (`<2`) or
//! GET (`<g2`) over HTTP. `jsonrpc` is added; `>!` and `<!` are shown as they stand. `handshake` and
//! `discover` stand for an exchange with these capabilities; `http`, `event`, `unanswered` and `end` for
//! the calls of the same names. `refuses`, which comes first, names revisions that the server has refused.

use std::collections::BTreeSet;

use bowline_check::message::{Channel, HttpFacts, Sender};
use bowline_check::past::{Carrier, KnownServer};
use bowline_check::rules;
use bowline_check::seen::EndOfSession;
use bowline_check::watch::Watch;
use bowline_types::revision::Revision;
use serde_json::Value;

const FILES: &[(&str, &str)] = &[
    ("rpc", include_str!("wrong/rpc.txt")),
    ("lifecycle", include_str!("wrong/lifecycle.txt")),
    ("features", include_str!("wrong/features.txt")),
    ("questions", include_str!("wrong/questions.txt")),
    ("tasks", include_str!("wrong/tasks.txt")),
    ("stateless", include_str!("wrong/stateless.txt")),
    ("skills", include_str!("wrong/skills.txt")),
    ("http", include_str!("wrong/http.txt")),
];

const RIGHT: &[(&str, &str)] = &[("right", include_str!("right.txt"))];

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}"#;
const RESULT: &str = r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;

/// A wrong server, and the rules that it breaks.
struct Script {
    file: &'static str,
    rules: BTreeSet<String>,
    /// What a right server does.
    title: &'static str,
    revision: Revision,
    carrier: Carrier,
    lines: Vec<&'static str>,
}

fn scripts(files: &[(&'static str, &'static str)]) -> Vec<Script> {
    let mut scripts: Vec<Script> = Vec::new();
    for (file, text) in files {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let Some(head) = line.strip_prefix("# ") else {
                scripts.last_mut().expect("a head comes first").lines.push(line);
                continue;
            };
            let (head, title) = head.split_once(" | ").unwrap_or((head, ""));
            let mut words: Vec<&str> = head.split(' ').collect();
            let carrier = match words.last() {
                Some(&"http") => Carrier::Http,
                _ => Carrier::Stdio,
            };
            words.retain(|word| *word != "http");
            let revision = words.pop().unwrap().parse().expect(head);
            let rules = words.into_iter().map(str::to_owned).collect();
            scripts.push(Script { file, rules, title, revision, carrier, lines: Vec::new() });
        }
    }
    scripts
}

fn expand(text: &str) -> String {
    let cached = format!(r#"{RESULT},"ttlMs":0,"cacheScope":"private""#);
    text.replace("$M", META).replace("$C", &cached).replace("$R", RESULT)
}

/// The channel and the text of a line such as `<g2 {…}`.
fn split(line: &str) -> (Channel, String) {
    let (head, text) = line.split_once(' ').unwrap_or((line, ""));
    let channel = match head.trim_start_matches(['<', '>', '!']) {
        "" => Channel::Stdio,
        number => match number.strip_prefix('g') {
            Some(number) => Channel::Get(number.parse().expect(line)),
            None => Channel::Post(number.parse().expect(line)),
        },
    };
    let text = match text.strip_prefix('{').filter(|_| !head.contains('!')) {
        Some(rest) => format!(r#"{{"jsonrpc":"2.0",{rest}"#),
        None => text.to_owned(),
    };
    (channel, expand(&text))
}

/// Bodies of POSTs, by their numbers.
type Bodies = std::collections::HashMap<usize, String>;

fn play(script: &Script) -> Watch {
    let mut known = KnownServer::default();
    let mut lines = script.lines.iter().peekable();
    if let Some(refused) = lines.next_if(|line| line.starts_with("refuses ")) {
        known.refused = refused.split(' ').skip(1).map(|it| it.parse().expect(refused)).collect();
    }
    let mut watch = Watch::knowing(script.carrier, script.revision, known);
    let mut bodies = Bodies::new();
    for line in lines {
        show(&mut watch, script, line, &mut bodies);
    }
    watch
}

fn show(watch: &mut Watch, script: &Script, line: &str, bodies: &mut Bodies) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        _ if line.starts_with('>') => {
            let (channel, text) = split(line);
            if let Channel::Post(number) = channel {
                bodies.insert(number, text.clone());
            }
            watch.frame(Sender::Client, channel, text.as_bytes());
        }
        _ if line.starts_with('<') => {
            let (channel, text) = split(line);
            let text = text.replace("\\xff", "\u{1}");
            let bytes: Vec<u8> = text.bytes().map(|it| if it == 1 { 0xff } else { it }).collect();
            watch.frame(Sender::Server, channel, &bytes);
        }
        "handshake" => handshake(watch, script.revision, rest),
        "discover" => discover(watch, rest),
        "http" => watch.http(&facts(rest, bodies)),
        "event" => {
            let (channel, id) = split(&format!("<{rest}"));
            watch.event_id(channel, &id);
        }
        "unanswered" => watch.unanswered(&serde_json::from_str(rest).expect(line)),
        "end" => watch.end(EndOfSession::Lingering),
        _ => panic!("{line}"),
    }
}

fn stdio(watch: &mut Watch, sender: Sender, text: &str) {
    watch.frame(sender, Channel::Stdio, text.as_bytes());
}

fn handshake(watch: &mut Watch, revision: Revision, capabilities: &str) {
    let (server, client) = capabilities.split_once(" / ").unwrap_or((capabilities, "{}"));
    let asked = format!(
        r#"{{"jsonrpc":"2.0","id":"h","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{client},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":"h","result":{{"protocolVersion":"{revision}","capabilities":{server},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    );
    stdio(watch, Sender::Client, &asked);
    stdio(watch, Sender::Server, &answer);
    stdio(watch, Sender::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
}

fn discover(watch: &mut Watch, capabilities: &str) {
    let asked = r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{$M}}"#;
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":"d","result":{{"supportedVersions":["2026-07-28"],"capabilities":{capabilities},$C}}}}"#
    );
    stdio(watch, Sender::Client, &expand(asked));
    stdio(watch, Sender::Server, &expand(&answer));
}

/// `NUMBER VERB STATUS | headers of the request | headers of the answer | body of the answer | metadata`.
fn facts(line: &str, bodies: &Bodies) -> HttpFacts {
    let mut parts = line.splitn(5, '|').map(str::trim);
    let mut head = parts.next().unwrap().split(' ');
    let headers = |part: Option<&str>| {
        let pairs = part.unwrap_or_default().split(';').filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.trim().to_owned(), value.to_owned())).collect()
    };
    let number = head.next().unwrap().parse().expect(line);
    HttpFacts {
        number,
        verb: head.next().unwrap().to_owned(),
        status: head.next().unwrap().parse().expect(line),
        body: bodies.get(&number).and_then(|body| serde_json::from_str::<Value>(body).ok()),
        sent: headers(parts.next()),
        headers: headers(parts.next()),
        answer: parts.next().unwrap_or_default().to_owned(),
        metadata: parts.next().and_then(|document| serde_json::from_str(document).ok()),
        ..HttpFacts::default()
    }
}

#[test]
fn each_wrong_server_breaks_the_rules_that_it_names_and_no_other() {
    judge(scripts(FILES));
}

#[test]
fn no_right_server_breaks_a_rule() {
    judge(scripts(RIGHT));
}

fn judge(scripts: Vec<Script>) {
    let mut failures = Vec::new();
    for script in scripts {
        let watch = play(&script);
        let found: BTreeSet<String> =
            watch.findings().iter().map(|finding| finding.rule.id.to_owned()).collect();
        if found != script.rules {
            let details: Vec<String> = watch
                .findings()
                .iter()
                .map(|finding| format!("{} {}", finding.rule.id, finding.reason))
                .collect();
            failures.push(format!(
                "{}: {:?} {} in {}: found {details:#?}",
                script.file, script.rules, script.title, script.revision
            ));
        }
    }
    assert!(failures.is_empty(), "{} wrong\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn each_observer_has_a_wrong_server() {
    let named: BTreeSet<String> =
        scripts(FILES).into_iter().flat_map(|script| script.rules).collect();
    let missing: Vec<&str> =
        rules::all().map(|rule| rule.id).filter(|id| !named.contains(*id)).collect();
    assert!(missing.is_empty(), "no wrong server for {}", missing.join(" "));
}
