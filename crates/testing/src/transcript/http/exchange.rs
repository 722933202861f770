//! One HTTP request on its own connection, and its response.
//!
//! A connection for each request, so that nothing of one can delay another. The response is read in
//! a task, checked as it comes, and its messages go to the inbox. A rule that the response breaks
//! becomes an output of its own, which fails the play.

use std::net::SocketAddr;

use bowline_types::error::code;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::super::side_under_test::Output;
use super::client_message::SESSION_ID;
use super::inbox::StreamInbox;
use super::sse::{SseEvent, SseReader};

/// What a request is for, which decides what its response may have.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// It carries a message with requests of these ids.
    Post { is_modern: bool, ids: Vec<Value> },
    /// It opens the GET stream, on which answers may come in 2024-11-05 only.
    Stream { answers: bool },
    /// It ends a session.
    Delete,
}

/// One HTTP request whose response is being read. Dropping it closes the connection, as a client
/// does that hangs up.
pub(super) struct HttpExchange {
    number: usize,
    progress: watch::Receiver<Progress>,
    tasks: [AbortHandle; 2],
}

/// What has arrived of a response. What the play may wait for, while messages wait in the inbox.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Set when the head has arrived.
    status: Option<u16>,
    session: Option<String>,
    /// Whether the first event of a stream has arrived.
    has_event: bool,
    /// The URL for POSTs in the `endpoint` event of 2024-11-05.
    endpoint: Option<String>,
    /// Whether the answer to a JSON-RPC request has arrived.
    has_answer: bool,
    is_over: bool,
}

impl HttpExchange {
    /// Sends a request. The messages of its response go to a new stream of the inbox.
    ///
    /// # Errors
    ///
    /// If the connection cannot be opened.
    pub(super) async fn send(
        address: SocketAddr,
        request: Request<Full<Bytes>>,
        purpose: Purpose,
        inbox: &StreamInbox,
    ) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("the server is gone: {error}");
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| failed(&error))?;
        let connection = tokio::spawn(connection).abort_handle();
        let (reported, progress) = watch::channel(Progress::default());
        let number = inbox.open();
        let reader = Reader { number, purpose, inbox: inbox.clone(), progress: reported };
        let reading = tokio::spawn(async move {
            let read = match sender.send_request(request).await {
                Ok(response) => reader.read(response).await,
                Err(error) => Err(format!("there is no response: {error}")),
            };
            reader.end(read.err());
        });
        Ok(Self { number, progress, tasks: [reading.abort_handle(), connection] })
    }

    /// The number of its stream in the inbox.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Waits for the head of the response.
    pub(super) async fn head(&mut self) {
        self.wait(|progress| progress.status.is_some()).await;
    }

    /// Waits for the first event of a stream; returns the status and the URL of an `endpoint` event.
    pub(super) async fn first_event(&mut self) -> (Option<u16>, Option<String>) {
        self.wait(|progress| progress.has_event).await;
        let progress = self.progress.borrow();
        (progress.status, progress.endpoint.clone())
    }

    /// Waits for the end of the response.
    pub(super) async fn ended(&mut self) {
        self.wait(|progress| progress.is_over).await;
    }

    /// Closes the connection.
    pub(super) fn abort(self) {
        drop(self);
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.progress.borrow().status
    }

    /// The session that the response opens.
    pub(super) fn session(&self) -> Option<String> {
        self.progress.borrow().session.clone()
    }

    pub(super) fn has_answer(&self) -> bool {
        self.progress.borrow().has_answer
    }

    pub(super) fn is_over(&self) -> bool {
        self.progress.borrow().is_over
    }

    async fn wait(&mut self, mut condition: impl FnMut(&Progress) -> bool) {
        // An error means that the reader was aborted.
        let _ = self.progress.wait_for(|progress| progress.is_over || condition(progress)).await;
    }
}

impl Drop for HttpExchange {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// Reads a response. Runs in the task of the exchange.
struct Reader {
    number: usize,
    purpose: Purpose,
    inbox: StreamInbox,
    progress: watch::Sender<Progress>,
}

impl Reader {
    ///
    /// # Errors
    ///
    /// The rule that the response breaks.
    async fn read(&self, response: Response<Incoming>) -> Result<(), String> {
        let header = |name| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let is_stream = header(CONTENT_TYPE).as_deref() == Some("text/event-stream");
        let (status, session) = (response.status(), header(SESSION_ID));
        self.progress.send_modify(|progress| {
            progress.status = Some(status.as_u16());
            progress.session = session;
        });
        let body = response.into_body();
        match is_stream {
            true if status == StatusCode::OK => self.read_events(body).await,
            true => Err(format!("a stream with the status {status}")),
            false => self.read_whole(status, body).await,
        }
    }

    /// 202 and 204 have no body, every other status has one (HTTP-10 to HTTP-13).
    async fn read_whole(&self, status: StatusCode, body: Incoming) -> Result<(), String> {
        let body = body.collect().await;
        let body = body.map_err(|error| format!("the body breaks off: {error}"))?.to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        let has_no_body = matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
        if has_no_body != text.is_empty() {
            return Err(format!("the status {status} with the body {text:?}"));
        }
        if !has_no_body {
            self.note_answer(&text);
            let is_usual = self.is_usual(status.as_u16(), &text);
            self.push(Output::HttpBody { status: status.as_u16(), is_usual, text });
        }
        Ok(())
    }

    /// A stream must end between two events.
    async fn read_events(&self, mut body: Incoming) -> Result<(), String> {
        let mut events = SseReader::default();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("the stream breaks off: {error}"))?;
            let Ok(piece) = frame.into_data() else { continue };
            events.push(&piece);
            while let Some(event) = events.next()? {
                self.take(event)?;
            }
        }
        if events.is_whole() { Ok(()) } else { Err("the stream ends within an event".to_owned()) }
    }

    /// Events without data only carry an id or keep the stream alive.
    fn take(&self, event: SseEvent) -> Result<(), String> {
        match event.name.as_deref() {
            Some("endpoint") => {
                self.progress.send_modify(|progress| progress.endpoint = Some(event.data));
            }
            None | Some("message") if event.data.is_empty() => {}
            None | Some("message") => {
                self.check_place(&event.data)?;
                self.note_answer(&event.data);
                self.push(Output::Message(event.data));
            }
            Some(name) => return Err(format!("an event of the unknown kind `{name}`")),
        }
        self.progress.send_modify(|progress| progress.has_event = true);
        Ok(())
    }

    /// Checks that an answer comes on the stream of its request, and none on the GET stream. The
    /// rule behind it is HTTP-43.
    fn check_place(&self, text: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let answers = match &value {
            Value::Array(answers) => answers.as_slice(),
            answer => std::slice::from_ref(answer),
        };
        let may_come = |id: &Value| match &self.purpose {
            Purpose::Post { ids, .. } => ids.contains(id),
            Purpose::Stream { answers } => *answers,
            Purpose::Delete => false,
        };
        let mut answers = answers.iter().filter(|answer| answer.get("method").is_none());
        match answers.all(|answer| may_come(&answer["id"])) {
            true => Ok(()),
            false => Err(format!("an answer on the stream of another request: {text}")),
        }
    }

    /// A play that shuts down waits only for POSTs that were answered.
    fn note_answer(&self, text: &str) {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let is_answer = value.is_array() || value.get("method").is_none();
        self.progress.send_modify(|progress| progress.has_answer |= is_answer);
    }

    /// Whether the specification has this status for this body.
    fn is_usual(&self, status: u16, text: &str) -> bool {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let is_modern = matches!(self.purpose, Purpose::Post { is_modern: true, .. });
        usual_statuses(is_modern, &value).contains(&status)
    }

    fn push(&self, output: Output) {
        self.inbox.push(self.number, output);
    }

    /// A broken rule is the last output of its stream.
    fn end(self, violation: Option<String>) {
        if let Some(violation) = violation {
            self.push(Output::Violation(violation));
        }
        self.inbox.close(self.number);
        self.progress.send_modify(|progress| progress.is_over = true);
    }
}

/// The statuses that a body may have. In 2026-07-28 some errors have a fixed status. For the others
/// both 200 and 400 are accepted; a transcript that cares has a line `<http`.
fn usual_statuses(is_modern: bool, answer: &Value) -> &'static [u16] {
    let Some(code) = answer["error"]["code"].as_i64() else { return &[200] };
    match code {
        _ if answer["id"].is_null() => &[400],
        code::METHOD_NOT_FOUND if is_modern => &[404],
        code::TOO_MANY_REQUESTS if is_modern => &[429],
        code::TOO_MANY_REQUESTS => &[200, 429],
        code::UNAVAILABLE => &[503],
        code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_PROTOCOL_VERSION
            if is_modern =>
        {
            &[400]
        }
        _ => &[200, 400],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_has_the_status_of_its_code() {
        let error = |code: i64| json!({ "id": 1, "error": { "code": code } });
        assert_eq!(usual_statuses(true, &error(-32601)), [404]);
        assert_eq!(usual_statuses(false, &error(-32601)), [200, 400]);
        assert_eq!(usual_statuses(true, &error(-32022)), [400]);
        assert_eq!(usual_statuses(true, &error(429)), [429]);
        assert_eq!(usual_statuses(false, &error(429)), [200, 429]);
        assert_eq!(usual_statuses(true, &json!({ "error": { "code": -32600 } })), [400]);
        assert_eq!(usual_statuses(true, &json!({ "id": 1, "result": {} })), [200]);
    }
}
