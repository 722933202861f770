//! `bowline check`: whether a server keeps the rules of the protocol.

use std::time::Duration;

use bowline_check::drive::{CheckError, CheckOptions, CheckReport, CheckedServer, check};
use bowline_check::report;
use bowline_check::rule::Rule;
use bowline_check::rules;
use bowline_gateway::config::Launch;
use bowline_ops::hints;

use crate::exit::{Exit, Failure, of_connection};
use crate::interrupt::interruptible;
use crate::logins::quoted;
use crate::print::{self, TerminalText, json, line, lines, text};
use crate::target::{Target, TargetArgs};

/// Checks a server against the rules of every revision it speaks
///
/// Opens a few sessions, sends what clients send and what servers have to refuse, and watches every
/// message. Tools are called only if they declare that they change nothing (`readOnlyHint`), or if
/// `--call` names them. Exits with 6 if a MUST is broken, with 3 if the server goes away before all
/// steps are taken, and with 5 if `--deadline` ends the check before that or a request other than the
/// call of a tool is not answered within `--timeout`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline check [OPTIONS] TARGET
       bowline check [OPTIONS] -- COMMAND…")]
pub(crate) struct Args {
    /// The server
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Prints the report as JSON
    #[arg(long)]
    json: bool,
    /// Also calls this tool, even without `readOnlyHint`; can be repeated
    #[arg(long = "call", value_name = "TOOL")]
    callable: Vec<String>,
    /// Leaves this rule out of the report, such as RPC-19; can be repeated
    #[arg(long = "ignore", value_name = "RULE")]
    ignored: Vec<String>,
    /// Counts a broken MUST that the specification only implies (†) as a violation, too
    #[arg(long)]
    strict: bool,
    /// Timeout of each request in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    timeout: u64,
    /// Time limit of the whole check in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    deadline: u64,
    #[command(flatten)]
    server: TargetArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline check -- bowline demo --stdio
  bowline check http://127.0.0.1:3000/mcp
  bowline check --revision 2025-11-25 -- npx -y some-server
  bowline check --call echo --format junit -- ./server > report.xml
  bowline check --ignore RPC-19 -- ./server
";

/// The formats of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For CI systems: a test case for each rule
    Junit,
    /// For code scanning: SARIF 2.1.0
    Sarif,
}

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let ignored = self.ignored.iter().map(|id| rule(id)).collect::<Result<Vec<_>, _>>()?;
        let mut target = self.server.take(&mut self.words)?;
        if let Some(word) = self.words.first() {
            return Err(Failure::usage(text!("unexpected argument `{word}`: give one server"))
                .hint("a command with arguments comes last, after `--`, or is quoted"));
        }
        target.add_login_header().await?;
        let options = self.options(&target);
        let label = target.public_label.clone();
        let server = checked(&target);
        let launch = target.launch;
        let mut report = interruptible(async {
            let progress = |step: &str| print::progress(line(step));
            let report = check(&server, &options, progress).await;
            print::progress("");
            report.map_err(|error| failure(&error, &launch))
        })
        .await?;
        ignored.into_iter().for_each(|rule| report.ignore(rule));
        self.print(&report, &label);
        if report.violations().next().is_some() {
            return Ok(Exit::Violation);
        }
        self.incomplete(&report, &launch).map_or(Ok(Exit::Done), Err)
    }

    /// Why a check without violations is no success.
    fn incomplete(&self, report: &CheckReport, launch: &Launch) -> Option<Failure> {
        if let Some(early) = report.early_ends.first() {
            let failure = Failure::new(Exit::Unreachable, text!("not complete: {early}"));
            return Some(match launch {
                Launch::Command(_) => failure.hint(hints::OUTPUT),
                Launch::Http(_) => failure,
            });
        }
        if report.is_cut_short {
            let text = text!("not complete: {} s were over before all steps", self.deadline);
            let failure = Failure::new(Exit::Timeout, text);
            return Some(failure.hint("`--deadline SECONDS` gives the check more time"));
        }
        if let Some(late) = report.late.iter().find(|it| !it.is_call()) {
            let text = text!("not complete: {late} was not answered within {} s", self.timeout);
            return Some(Failure::new(Exit::Timeout, text).hint(hints::TIME));
        }
        let tool = report.unlisted.first()?;
        let failure = Failure::new(Exit::Refused, text!("the server has no tool `{tool}`"));
        Some(failure.hint("`bowline list` shows the tools"))
    }

    fn options(&self, target: &Target) -> CheckOptions {
        let mut options = CheckOptions::default();
        options.timeout = Duration::from_secs(self.timeout.max(1));
        options.deadline = Duration::from_secs(self.deadline.max(1));
        options.callable.clone_from(&self.callable);
        options.is_strict = self.strict;
        if !target.revisions.is_empty() {
            options.revisions.clone_from(&target.revisions);
        }
        options
    }

    fn print(&self, found: &CheckReport, label: &str) {
        match if self.json { Format::Json } else { self.format } {
            Format::Text => print::text(lines(report::human(found))),
            Format::Json => json::print(&report::json(found)),
            Format::Junit => print::served(&report::junit(found, label)),
            Format::Sarif => json::print(&report::sarif(found, label)),
        }
    }
}

/// The rule with this id, whatever its case and with or without `†`.
fn rule(id: &str) -> Result<&'static Rule, Failure> {
    let wanted = id.trim_end_matches('†').to_ascii_uppercase();
    rules::named(&wanted).ok_or_else(|| {
        let ids: Vec<&str> = rules::all().map(|rule| rule.id).collect();
        Failure::usage(text!("`--ignore {id}` names no rule")).suggesting(&wanted, &ids)
    })
}

/// Why a server could not be checked, and what the user can do about it.
fn failure(error: &CheckError, launch: &Launch) -> Failure {
    let exit = match error {
        _ if error.is_unauthorized() => Exit::Unauthorized,
        _ if error.is_timeout() => Exit::Timeout,
        _ if error.is_invalid_answer() => Exit::Violation,
        _ => Exit::Unreachable,
    };
    let text = error.to_string();
    let hint: TerminalText = match (launch, error.http_status(), error.connect_failure()) {
        (Launch::Http(launch), Some(401), _) => text!("bowline login {}", quoted(&launch.url)),
        (_, Some(404 | 405 | 410), _) => hints::PATH.into(),
        (_, _, Some(cause)) => of_connection(cause).into(),
        _ if error.is_timeout() => hints::TIME.into(),
        _ if error.is_ended() => hints::OUTPUT.into(),
        (Launch::Command(_), ..) => "is this a server that speaks MCP on standard output?".into(),
        (Launch::Http(_), ..) => hints::ADDRESS.into(),
    };
    Failure::new(exit, lines(text)).hint(hint)
}

fn checked(target: &Target) -> CheckedServer {
    match &target.launch {
        Launch::Command(launch) => {
            CheckedServer::Command(launch.command().stderr(target.stderr_of_child()))
        }
        Launch::Http(launch) => {
            CheckedServer::Url { url: launch.url.clone(), headers: launch.headers.clone() }
        }
    }
}
