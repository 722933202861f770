//! Plays every transcript in every revision of its header: on a sans-IO connection, in memory, over
//! a socket, against a child process, and over HTTP.
//!
//! Transcripts that do not hold over HTTP are [excused](EXCUSED) by name. An excuse for a
//! transcript that passes is a failure.
//!
//! Every message of the side under test is also checked against the official schema of its
//! revision. `UPDATE=1 cargo test -p bowline-tests --test transcripts` writes the real messages
//! into the files.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use std::{env, future, io, panic};

use bowline_testing::ServerUnderTest;
use bowline_testing::schema::Schemas;
use bowline_testing::transcript::{SentMessage, Setup, Side, Transcript};
use bowline_tests::sample;
use bowline_transport::serve::serve;
use bowline_transport::stdio::Stdio;
use bowline_types::revision::Revision;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// The argument that makes this binary the server of a transcript instead of a test.
const SERVE: &str = "--serve-transcript";

/// Transcripts that do not hold over HTTP, and why. Where the server only answers differently over
/// HTTP, the transcript has a line `<http` instead.
const EXCUSED: [(&str, &str); 6] = [
    ("cancellation/end_of_turn", NO_CONNECTION),
    ("cancellation/makes_room", NO_CONNECTION),
    ("elicitation/asked_after_end_of_input", NO_END_OF_INPUT),
    ("elicitation/end_of_input", NO_END_OF_INPUT),
    ("lifecycle/end_while_running", NO_END_OF_INPUT),
    ("sampling/end_of_input_legacy", NO_END_OF_INPUT),
];

const NO_CONNECTION: &str =
    "`in_flight` counts the calls of one connection, and requests of 2026-07-28 share none";
const NO_END_OF_INPUT: &str =
    "a client cannot close one direction; it deletes its session, which ends what runs there";

/// How long to wait for an expected message over HTTP.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for a message of an excused transcript, which does not come.
const LITTLE_PATIENCE: Duration = Duration::from_millis(200);

// Sockets, memory and HTTP carry the same transcripts as stdio, with the same handshakes and
// `_meta`. Over HTTP each play also checks that a message without an answer is 202, that a stream
// ends after its answer, and that no answer comes on the GET stream.
// spec: TR-3, TR-4, HTTP-10, HTTP-26, HTTP-43
fn main() -> ExitCode {
    keep_quiet_about_crashes();
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(SERVE) {
        return be_the_server(&arguments.next().unwrap_or_default());
    }
    let arguments = Arguments::from_args();
    let trials = trials(&Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts"));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Suppresses the report of panics that transcripts cause on purpose.
fn keep_quiet_about_crashes() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        if panicked.payload_as_str() != Some(sample::CRASH) {
            report(panicked);
        }
    }));
}

/// Runs as the server of a transcript, over standard input and output.
fn be_the_server(path: &str) -> ExitCode {
    let transcript = Transcript::read(path).unwrap();
    let subject = subject(&transcript);
    let config = subject.config().clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served =
        runtime.block_on(async { serve(Stdio::take()?, subject, config, future::pending()).await });
    served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn subject(transcript: &Transcript) -> ServerUnderTest {
    let server = sample::server(transcript.server());
    let limits = transcript.limits(server.config().limits().clone());
    ServerUnderTest::build(&server.limits(limits)).unwrap()
}

fn trials(directory: &Path) -> Vec<Trial> {
    let schemas = Schemas::find().map(Arc::new).map_err(|error| error.to_string());
    let mut trials = Vec::new();
    let mut names = Vec::new();
    for path in Transcript::find(directory).unwrap_or_default() {
        let name = path.strip_prefix(directory).unwrap_or(&path).with_extension("");
        let name = name.display().to_string();
        names.push(name.clone());
        match Transcript::read(&path) {
            Ok(transcript) => trials.extend(trials_of(&name, &transcript, &schemas)),
            Err(failure) => trials.push(Trial::test(name, move || Err(failure.to_string().into()))),
        }
    }
    trials.push(Trial::test("there_are_transcripts", enough(trials.len())));
    trials.push(Trial::test("every_excuse_names_a_transcript", move || excuses(&names)));
    trials
}

/// Without this check, a missing directory would pass.
fn enough(found: usize) -> impl FnOnce() -> Result<(), Failed> {
    move || if found > 100 { Ok(()) } else { Err(format!("only {found} were found").into()) }
}

fn excuses(names: &[String]) -> Result<(), Failed> {
    eprintln!("{} of {} transcripts are excused over HTTP", EXCUSED.len(), names.len());
    match EXCUSED.iter().find(|(excused, _)| !names.iter().any(|name| name == excused)) {
        Some((excused, _)) => Err(format!("there is no transcript `{excused}`").into()),
        None => Ok(()),
    }
}

fn trials_of(
    name: &str,
    transcript: &Transcript,
    schemas: &Result<Arc<Schemas>, String>,
) -> Vec<Trial> {
    let stages: &[&str] = match (transcript.side(), transcript.fits_process()) {
        (Side::Client, _) if transcript.host().is_some() => &["host"],
        (Side::Client, _) => &["machine"],
        (Side::Server, true) => &["machine", "duplex", "socket", "stdio", "http"],
        (Side::Server, false) => &["machine", "duplex", "socket", "http"],
    };
    let mut trials = Vec::new();
    for revision in transcript.revisions() {
        for stage in stages {
            let excuse = EXCUSED.iter().find(|(excused, _)| *stage == "http" && *excused == name);
            if let Some((_, reason)) = excuse {
                trials.push(excused(
                    &format!("{name}::{revision}::http"),
                    transcript,
                    *revision,
                    reason,
                ));
                continue;
            }
            let (transcript, schemas, revision) = (transcript.clone(), schemas.clone(), *revision);
            let name = format!("{name}::{revision}::{stage}");
            trials.push(Trial::test(name, move || play(&transcript, revision, stage, &*schemas?)));
        }
    }
    trials
}

/// A trial that passes if the transcript fails.
fn excused(name: &str, transcript: &Transcript, revision: Revision, reason: &'static str) -> Trial {
    let transcript = transcript.clone();
    Trial::test(name, move || {
        let stage = Setup::Http { patience: LITTLE_PATIENCE };
        match transcript.play(revision, &subject(&transcript), stage) {
            Ok(_) => Err(format!("it passes, although excused because {reason}").into()),
            Err(_) => Ok(()),
        }
    })
}

fn play(
    transcript: &Transcript,
    revision: Revision,
    stage: &str,
    schemas: &Schemas,
) -> Result<(), Failed> {
    let served = || subject(transcript);
    let said = match (transcript.side(), stage) {
        (Side::Client, "host") => {
            transcript.play_host_or_update(revision, || sample::host(transcript.host()))?
        }
        (Side::Client, _) | (_, "machine") => transcript.play_or_update(revision, served)?,
        (Side::Server, "duplex") => transcript.play(revision, &served(), Setup::Duplex)?,
        (Side::Server, "socket") => transcript.play(revision, &served(), Setup::Socket)?,
        (Side::Server, "http") => {
            let said = transcript.play(revision, &served(), Setup::Http { patience: PATIENCE })?;
            said.into_iter().map(|message| with_id(message, revision)).collect()
        }
        (Side::Server, _) => {
            transcript.play(revision, &served(), Setup::Process(itself(transcript)?))?
        }
    };
    schemas.check(revision, transcript.side(), &said)?;
    Ok(())
}

/// Makes a message of HTTP valid for the schemas: in every revision HTTP may omit the id
/// of an error, where the schemas of older revisions need one.
fn with_id(mut message: SentMessage, revision: Revision) -> SentMessage {
    if revision.has_errors_without_id() {
        return message;
    }
    let Ok(Value::Object(mut members)) = serde_json::from_str(&message.text) else {
        return message;
    };
    if members.contains_key("error") && !members.contains_key("id") {
        members.insert("id".to_owned(), Value::Null);
        message.text = Value::Object(members).to_string();
    }
    message
}

/// The command that runs this binary as the server of a transcript.
fn itself(transcript: &Transcript) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(SERVE).arg(transcript.path());
    Ok(command)
}
