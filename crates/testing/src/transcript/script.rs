//! Parses a transcript file: a header, then lines that are played in order.
//!
//! Everything that can be checked without playing is checked here, so a mistake in a file is
//! reported with its line before anything runs. Placeholders are left as they are: their values
//! depend on the revision.

use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_types::revision::Revision;

/// A parsed file, before it is played in one of its revisions. The header is what comes before the
/// first line that is played.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) title: String,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) side: Side,
    /// The server that it is for; without one, the default server.
    pub(crate) server: Option<String>,
    /// The application whose client is under test; without one, a sans-IO client is.
    pub(crate) host: Option<String>,
    /// The capabilities of the client under test, as written.
    pub(crate) client: String,
    /// Limits that differ from the default, as written.
    pub(crate) limits: String,
    pub(crate) lines: Vec<Line>,
}

/// A side of a connection; in a transcript, the side under test. Messages of a play say by which
/// side they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client. If it is under test, lines with `<` are sent to it and lines with `>` are expected.
    Client,
    /// The server. If it is under test, lines with `>` are sent to it and lines with `<` are expected.
    Server,
}

/// One line of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its number in the file, from 1.
    pub(crate) number: usize,
    pub(crate) kind: LineKind,
}

/// What a line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// `> {…}`: a message of the client.
    ClientMessage(String),
    /// `> raw …`: bytes of the client, without an added newline.
    ClientBytes(Vec<u8>),
    /// `> end`: the client closes its direction of the connection.
    ClientClose,
    /// `< {…}`: a message of the server.
    ServerMessage(String),
    /// `<~ {…}`: a message of the server, in any order with adjacent lines of this kind.
    ServerMessageUnordered(String),
    /// `<http 400 {…}`: a message that the server sends over HTTP only. With a status, it is the body
    /// of an HTTP response.
    ServerMessageOverHttp(Option<u16>, String),
    /// `< raw …`: bytes of the server.
    ServerBytes(Vec<u8>),
    /// `.. 10s`: virtual time advances.
    Advance(Duration),
    /// `! …`: an action of the user of the side under test.
    Action(String),
    /// `= …`: an event that the side under test reports to its user.
    Event(String),
    /// `@initialize`: the whole handshake, with the capabilities in braces.
    Handshake(String),
}

impl Script {
    /// Parses the text of a file.
    ///
    /// # Errors
    ///
    /// Names the line that is not valid, and why.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self {
            title: String::new(),
            revisions: Vec::new(),
            side: Side::Server,
            server: None,
            host: None,
            client: String::new(),
            limits: String::new(),
            lines: Vec::new(),
        };
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            script.line(line, number).map_err(|reason| format!("line {number}: {reason}"))?;
        }
        script.checked()
    }

    /// Applies the header `limits:` to the default limits.
    ///
    /// # Errors
    ///
    /// Names the limit that is unknown or whose value is not valid.
    pub(crate) fn limits(&self, usual: Limits) -> Result<Limits, String> {
        let mut limits = usual;
        for word in self.limits.split_whitespace() {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("`{word}`: write `name=number`"))?;
            let count = || value.parse::<usize>().map_err(|error| format!("`{word}`: {error}"));
            match name {
                "frame" => limits.frame = count()?,
                "depth" => limits.depth = count()?,
                "batch" => limits.batch = count()?,
                "in_flight" => limits.in_flight = count()?,
                "subscriptions" => limits.subscriptions = count()?,
                "questions" => limits.questions = count()?,
                "questions_per_minute" => limits.questions_per_minute = count()?,
                "requests_per_minute" => limits.requests_per_minute = count()?,
                "logs_per_minute" => limits.logs_per_minute = count()?,
                "result" => limits.result = count()?,
                "elicitations" => limits.elicitations = count()?,
                "rounds" => limits.rounds = count()?,
                "noise" => limits.noise = count()?,
                "question_timeout" => limits.question_timeout = duration(value)?,
                "request_timeout" => limits.request_timeout = duration(value)?,
                "request_deadline" => limits.request_deadline = duration(value)?,
                "probe_timeout" => limits.probe_timeout = duration(value)?,
                _ => return Err(format!("a transcript cannot set the limit `{name}`")),
            }
        }
        Ok(limits)
    }

    /// The first word decides. A line of another form belongs to the header, as long as no message
    /// has come.
    fn line(&mut self, line: &str, number: usize) -> Result<(), String> {
        let kind = match line.split_once(' ').unwrap_or((line, "")) {
            ("", "") => return Ok(()),
            ("#", comment) => {
                if self.title.is_empty() {
                    self.title = comment.trim().to_owned();
                }
                return Ok(());
            }
            (">", "end") => LineKind::ClientClose,
            (">", rest) => match rest.strip_prefix("raw ") {
                Some(raw) => LineKind::ClientBytes(unescape(raw)?),
                None => LineKind::ClientMessage(rest.to_owned()),
            },
            ("<", rest) => match rest.strip_prefix("raw ") {
                Some(raw) => LineKind::ServerBytes(unescape(raw)?),
                None => LineKind::ServerMessage(rest.to_owned()),
            },
            ("<http", rest) => over_http(rest)?,
            ("<~", rest) => LineKind::ServerMessageUnordered(rest.to_owned()),
            ("..", time) => LineKind::Advance(duration(time)?),
            ("!", action) => LineKind::Action(action.to_owned()),
            ("=", event) => LineKind::Event(event.to_owned()),
            _ if line.starts_with("@initialize") => LineKind::Handshake(handshake(line)?),
            _ if self.lines.is_empty() => return self.header(line),
            _ => return Err(format!("`{line}` begins with none of `>`, `<`, `..`, `!`, `=`, `#`")),
        };
        self.lines.push(Line { number, kind });
        Ok(())
    }

    /// An unknown header is an error, since a typing mistake would otherwise test less than it
    /// seems.
    fn header(&mut self, line: &str) -> Result<(), String> {
        let (name, value) = line.split_once(':').ok_or_else(|| format!("`{line}` is no header"))?;
        let value = value.trim();
        match name {
            "revision" => self.revisions = revisions(value)?,
            // `cargo xtask ledger` reads the ids of the rules that the file tests.
            "spec" => {}
            "server" => self.server = Some(value.to_owned()),
            "host" => self.host = Some(value.to_owned()),
            "limits" => self.limits = value.to_owned(),
            "client" => self.client = value.to_owned(),
            "side" => {
                self.side = match value {
                    "client" => Side::Client,
                    "server" => Side::Server,
                    _ => return Err("`side` is `client` or `server`".to_owned()),
                };
            }
            _ => return Err(format!("the header `{name}` is unknown")),
        }
        Ok(())
    }

    /// Refuses a file without a title, a revision or messages.
    fn checked(self) -> Result<Self, String> {
        if self.title.is_empty() {
            return Err("it lacks a line `# …` with its title".to_owned());
        }
        if self.revisions.is_empty() {
            return Err("it lacks the header `revision:`".to_owned());
        }
        if self.lines.is_empty() {
            return Err("it has no messages".to_owned());
        }
        self.limits(Limits::default())?;
        Ok(self)
    }
}

/// Parses dates, or `legacy` for every revision with a handshake.
fn revisions(text: &str) -> Result<Vec<Revision>, String> {
    if text == "legacy" {
        return Ok(Revision::ALL.into_iter().filter(|revision| revision.has_handshake()).collect());
    }
    text.split_whitespace().map(|date| date.parse().map_err(|error| format!("{error}"))).collect()
}

/// Parses an optional status and the message.
fn over_http(text: &str) -> Result<LineKind, String> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    match first.parse() {
        Ok(status) if !rest.is_empty() => {
            Ok(LineKind::ServerMessageOverHttp(Some(status), rest.to_owned()))
        }
        Ok(_) => Err(format!("`<http {text}`: a message must follow the status")),
        Err(_) => Ok(LineKind::ServerMessageOverHttp(None, text.to_owned())),
    }
}

/// Returns the text in the braces of `@initialize{…}`.
fn handshake(line: &str) -> Result<String, String> {
    let rest = line.strip_prefix("@initialize").unwrap_or_default();
    let inside = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match inside {
        Some(extras) => Ok(extras.to_owned()),
        None if rest.is_empty() => Ok(String::new()),
        None => Err(format!("`{line}`: write `@initialize` or `@initialize{{…}}`")),
    }
}

/// A number and a unit: `ms`, `s` or `m`.
fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = text.split_at(split);
    let wrong = || format!("`{text}` is not a duration; write `10s` or `10ms`");
    let count: u64 = count.parse().map_err(|_| wrong())?;
    match unit {
        "ms" => Ok(Duration::from_millis(count)),
        "s" => Ok(Duration::from_secs(count)),
        "m" => Ok(Duration::from_secs(count.saturating_mul(60))),
        _ => Err(wrong()),
    }
}

/// Replaces the escapes `\n`, `\r`, `\t`, `\\` and `\xFF`.
fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (byte, length) = match after.as_bytes() {
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b't', ..] => (b'\t', 1),
            [b'\\', ..] => (b'\\', 1),
            [b'x', ..] => {
                let digits = after.get(1..3).ok_or("`\\x` needs two digits")?;
                let byte = u8::from_str_radix(digits, 16);
                (byte.map_err(|error| format!("`\\x{digits}`: {error}"))?, 3)
            }
            _ => return Err("after `\\` comes `n`, `r`, `t`, `\\` or `xFF`".to_owned()),
        };
        bytes.push(byte);
        rest = after.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# A call.\n# More of it.\nrevision: 2025-03-26 2026-07-28\nspec: TOOL-33\n\
        server: kit\nlimits: frame=200 question_timeout=5s\n\n@initialize{elicitation}\n> {\"id\":1}\n\
        # A word on the way.\n> raw {}\\r\\n\\xff\\\\\n.. 10s\n< {\"id\":1}\n<~ {\"id\":2}\n<http 400 {\"id\":3}\n\
        <http {\"id\":4}\n! stop\n= ready\n> end\n";

    #[test]
    fn a_file_has_a_header_and_lines() {
        let script = Script::parse(FILE).unwrap();
        assert_eq!(script.title, "A call.");
        assert_eq!(script.revisions, [Revision::V2025_03_26, Revision::V2026_07_28]);
        assert_eq!(script.server.as_deref(), Some("kit"));
        let limits = script.limits(Limits::default()).unwrap();
        assert_eq!((limits.frame, limits.question_timeout), (200, Duration::from_secs(5)));
        let lines: Vec<_> = script.lines.into_iter().map(|line| (line.number, line.kind)).collect();
        let expected = [
            (8, LineKind::Handshake("elicitation".to_owned())),
            (9, LineKind::ClientMessage("{\"id\":1}".to_owned())),
            (11, LineKind::ClientBytes(b"{}\r\n\xff\\".to_vec())),
            (12, LineKind::Advance(Duration::from_secs(10))),
            (13, LineKind::ServerMessage("{\"id\":1}".to_owned())),
            (14, LineKind::ServerMessageUnordered("{\"id\":2}".to_owned())),
            (15, LineKind::ServerMessageOverHttp(Some(400), "{\"id\":3}".to_owned())),
            (16, LineKind::ServerMessageOverHttp(None, "{\"id\":4}".to_owned())),
            (17, LineKind::Action("stop".to_owned())),
            (18, LineKind::Event("ready".to_owned())),
            (19, LineKind::ClientClose),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn legacy_means_every_revision_with_a_handshake() {
        let script = Script::parse("# A.\nrevision: legacy\n> {}\n").unwrap();
        assert_eq!(script.revisions.len(), 4);
        assert!(script.revisions.iter().all(|revision| revision.has_handshake()));
    }

    #[test]
    fn a_parse_error_names_the_line_and_the_reason() {
        for (text, reason) in [
            ("revision: legacy\n> {}\n", "its title"),
            ("# A.\n> {}\n", "`revision:`"),
            ("# A.\nrevision: legacy\n", "no messages"),
            ("# A.\nrevision: 2024\n", "line 2: `2024` is not a known revision"),
            ("# A.\ncolour: red\n", "line 2: the header `colour`"),
            ("# A.\nrevision: legacy\nside: left\n", "line 3"),
            ("# A.\nrevision: legacy\n> {}\nwhat\n", "line 4: `what`"),
            ("# A.\nrevision: legacy\n.. 10\n", "`10` is not a duration"),
            ("# A.\nrevision: legacy\n> raw \\q\n", "after `\\`"),
            ("# A.\nrevision: legacy\n@initialize(x)\n", "`@initialize(x)`"),
            ("# A.\nrevision: legacy\n<http 400\n", "`<http 400`"),
            ("# A.\nrevision: legacy\nlimits: speed=9\n> {}\n", "`speed`"),
            ("# A.\nrevision: legacy\nlimits: frame=many\n> {}\n", "`frame=many`"),
        ] {
            let error = Script::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }
}
