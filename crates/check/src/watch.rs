//! Shows everything that happens in a session to all observers, and collects what they find.

use std::collections::BTreeMap;

use bowline_types::revision::Revision;
use serde_json::Value;

use crate::evidence::{EVIDENCE_OF_SESSION, Evidence};
use crate::json;
use crate::message::{Channel, HttpFacts, Sender, WireMessage, excerpt};
use crate::past::{Carrier, KnownServer, LastSent, Past, elicitation};
use crate::rule::{Rule, Verdict};
use crate::rules;
use crate::seen::{EndOfSession, Seen, Subject};
use crate::shape::{self, ShapeFault};

/// A rule that a server broke.
#[derive(Clone, Debug)]
pub struct BrokenRule {
    /// The rule.
    pub rule: &'static Rule,
    /// The revision that it was broken in.
    pub revision: Revision,
    /// What is wrong.
    pub reason: String,
    /// What was sent and what came.
    pub evidence: Evidence,
    /// What the client did meanwhile ([`Watch::begin_step`]).
    pub step: String,
    /// How often the same was found, and for the last of [`MOST_REASONS`] also any other.
    pub times: usize,
}

/// Ways to break one rule that are told apart in one session.
pub const MOST_REASONS: usize = 20;

/// How often a rule was kept and broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleCount {
    /// How often the rule applied and was kept.
    pub kept: usize,
    /// How often it was broken.
    pub broken: usize,
}

/// Watches one session.
#[derive(Debug)]
pub struct Watch {
    past: Past,
    findings: Vec<BrokenRule>,
    counts: BTreeMap<&'static str, RuleCount>,
    step: String,
    /// Bytes of evidence that may still be kept whole.
    room: usize,
}

impl Watch {
    /// Watches a new session. The revision is that of the client's first request; a handshake may
    /// agree on another one.
    pub fn new(carrier: Carrier, revision: Revision) -> Self {
        Self::knowing(carrier, revision, KnownServer::default())
    }

    /// The same, where earlier sessions with the server have shown something.
    pub fn knowing(carrier: Carrier, revision: Revision, known: KnownServer) -> Self {
        let past = Past::new(carrier, revision, known);
        Self {
            past,
            findings: Vec::new(),
            counts: BTreeMap::new(),
            step: String::new(),
            room: EVIDENCE_OF_SESSION,
        }
    }

    /// Names what the client does next; findings carry the name.
    pub fn begin_step(&mut self, step: &str) {
        step.clone_into(&mut self.step);
    }

    /// Takes a frame: a line of stdio, a body, or the data of an event.
    pub fn frame(&mut self, sender: Sender, channel: Channel, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let text = String::from_utf8_lossy(bytes).into_owned();
            if sender == Sender::Server {
                self.look(self.past.revision, Subject::Encoding(&text));
            }
            return;
        };
        match (json::parse(text), sender) {
            (Some((Value::Array(items), repeated)), _) => {
                if sender == Sender::Client && items.is_empty() {
                    self.past.note_refusable(channel, LastSent::Array);
                }
                for value in items {
                    let repeated_keys = repeated.clone();
                    self.message(&WireMessage {
                        sender,
                        channel,
                        value,
                        is_in_batch: true,
                        repeated_keys,
                    });
                }
            }
            (Some((value, repeated_keys)), _) => {
                self.message(&WireMessage {
                    sender,
                    channel,
                    value,
                    is_in_batch: false,
                    repeated_keys,
                });
            }
            (None, Sender::Client) => self.past.note_refusable(channel, LastSent::NoJson),
            (None, Sender::Server) => {
                self.look(self.past.revision, Subject::Text(text));
            }
        }
    }

    /// Takes facts of HTTP. Messages in bodies and streams are frames of their own: those of the
    /// client come before, those of the server after this.
    pub fn http(&mut self, facts: &HttpFacts) {
        let channel = match facts.verb.as_str() {
            "GET" => Channel::Get(facts.number),
            _ => Channel::Post(facts.number),
        };
        let asked = self.past.asked_on(channel);
        let revision = asked.map_or(self.past.revision, |asked| asked.revision);
        self.look(revision, Subject::Http(facts));
        self.past.note_http(facts);
    }

    /// Takes the id of an event on a stream of HTTP.
    pub fn event_id(&mut self, channel: Channel, id: &str) {
        self.look(self.past.revision, Subject::EventId(channel, id));
        self.past.event_ids.insert(id.to_owned());
        self.past.last_event = Some(id.to_owned());
        self.past.event_channels.entry(id.to_owned()).or_insert(channel);
    }

    /// Says that the client has waited long enough for the answer to a request. A server that may
    /// still be busy with an earlier request is not judged.
    pub fn unanswered(&mut self, id: &Value) {
        let Some(asked) = self.past.asked(id).filter(|asked| asked.is_open()).cloned() else {
            return;
        };
        if !self.past.is_busy_before(&asked) {
            self.look(asked.revision, Subject::Unanswered(&asked));
        }
        self.past.note_unanswered(&asked);
    }

    /// Says how the session ended.
    pub fn end(&mut self, end: EndOfSession) {
        self.look(self.past.revision, Subject::End(end));
    }

    /// What the session has shown.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// What was found so far.
    pub fn findings(&self) -> &[BrokenRule] {
        &self.findings
    }

    /// How often each rule was kept and broken, by its id.
    pub fn counts(&self) -> &BTreeMap<&'static str, RuleCount> {
        &self.counts
    }

    fn message(&mut self, message: &WireMessage) {
        let revision = self.past.revision_of(message);
        if message.sender == Sender::Server && !self.past.is_ambiguous(message) {
            let is_message = message.value.as_object().is_some_and(|members| {
                ["jsonrpc", "id", "method"].iter().any(|name| members.contains_key(*name))
            });
            match is_message {
                true => self.look(revision, Subject::Message(message)),
                false => self.look(revision, Subject::Text(&message.value.to_string())),
            }
        }
        self.past.note(message);
    }

    /// Asks every observer of the revision.
    fn look(&mut self, revision: Revision, subject: Subject<'_>) {
        let faults = match subject {
            Subject::Message(message) => faults(&self.past, revision, message),
            _ => Vec::new(),
        };
        let seen = Seen { revision, subject, past: &self.past, faults: &faults };
        let mut broken = Vec::new();
        for rule in rules::all().filter(|rule| rule.holds_in(revision)) {
            let verdict = rule.judge(&seen);
            let count = self.counts.entry(rule.id).or_default();
            match verdict {
                Verdict::Idle => {}
                Verdict::Kept => count.kept += 1,
                Verdict::Broken(reason) => {
                    count.broken += 1;
                    broken.push((rule, excerpt(&reason)));
                }
            }
        }
        for (rule, reason) in broken {
            let mut of_rule = self.findings.iter_mut().filter(|it| it.rule.id == rule.id);
            let mut known = 0;
            let same = of_rule.find(|it| {
                known += 1;
                it.reason == reason || known == MOST_REASONS
            });
            if let Some(finding) = same {
                finding.times += 1;
                continue;
            }
            let (evidence, step) = (Evidence::of(&seen, &mut self.room), self.step.clone());
            self.findings.push(BrokenRule { rule, revision, reason, evidence, step, times: 1 });
        }
    }
}

/// Compares a message of the server with the types of its method.
fn faults(past: &Past, revision: Revision, message: &WireMessage) -> Vec<ShapeFault> {
    let Some(name) = past.type_of(message) else { return Vec::new() };
    let (place, value) = match message.method() {
        Some(_) => ("params", message.params()),
        None => ("result", message.value.get("result").unwrap_or(&Value::Null)),
    };
    let mut found = shape::faults(revision, name, place, value);
    let questions = value.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    for (key, question) in questions {
        let params = question.get("params").unwrap_or(&Value::Null);
        let name = match question.get("method").and_then(Value::as_str) {
            Some("sampling/createMessage") => "CreateMessageRequest",
            Some("elicitation/create") => elicitation(params),
            _ => continue,
        };
        let place = format!("result.inputRequests.{key}.params");
        found.extend(shape::faults(revision, name, &place, params));
    }
    found
}
