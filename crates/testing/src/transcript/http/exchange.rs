//! One HTTP request on a connection of its own, and what comes back.

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

use super::super::stage::Heard;
use super::events::{Event, Events};
use super::inbox::Inbox;
use super::message::SESSION_ID;

/// What a request is for, and so what may come back.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// It carries a message; these are the ids of the requests in it.
    Post { is_modern: bool, ids: Vec<Value> },
    /// It opens a stream, on which answers may come in 2024-11-05 only.
    Stream { answers: bool },
    /// It ends a session.
    Delete,
}

/// One HTTP request under way.
pub(super) struct Exchange {
    number: usize,
    progress: watch::Receiver<Progress>,
    tasks: [AbortHandle; 2],
}

/// How far an answer has come.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Set when the head has come.
    status: Option<u16>,
    session: Option<String>,
    /// Whether the first event of a stream has come.
    has_event: bool,
    /// Where the stream of 2024-11-05 says that messages are to be posted.
    endpoint: Option<String>,
    /// Whether the answer to a request has come.
    has_answer: bool,
    is_over: bool,
}

impl Exchange {
    /// Sends a request. What comes back goes to a stream of the inbox.
    ///
    /// # Errors
    ///
    /// If nobody listens at the address.
    pub(super) async fn send(
        address: SocketAddr,
        request: Request<Full<Bytes>>,
        purpose: Purpose,
        inbox: &Inbox,
    ) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("the server is gone: {error}");
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| failed(&error))?;
        let connection = tokio::spawn(connection).abort_handle();
        let (told, progress) = watch::channel(Progress::default());
        let number = inbox.open();
        let reader = Reader { number, purpose, inbox: inbox.clone(), progress: told };
        let reading = tokio::spawn(async move {
            let read = match sender.send_request(request).await {
                Ok(response) => reader.read(response).await,
                Err(error) => Err(format!("the request is not answered: {error}")),
            };
            reader.end(read.err());
        });
        Ok(Self { number, progress, tasks: [reading.abort_handle(), connection] })
    }

    /// The number of its stream.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Waits for the head of the answer.
    pub(super) async fn answered(&mut self) {
        self.wait(|progress| progress.status.is_some()).await;
    }

    /// Waits for the first event of a stream; gives the status, and where to post if it says.
    pub(super) async fn begun(&mut self) -> (Option<u16>, Option<String>) {
        self.wait(|progress| progress.has_event).await;
        let progress = self.progress.borrow();
        (progress.status, progress.endpoint.clone())
    }

    /// Waits for the end of the answer.
    pub(super) async fn over(&mut self) {
        self.wait(|progress| progress.is_over).await;
    }

    /// Closes the connection.
    pub(super) fn cut(self) {
        drop(self);
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.progress.borrow().status
    }

    /// The session that the answer opens.
    pub(super) fn session(&self) -> Option<String> {
        self.progress.borrow().session.clone()
    }

    pub(super) fn has_answer(&self) -> bool {
        self.progress.borrow().has_answer
    }

    pub(super) fn is_over(&self) -> bool {
        self.progress.borrow().is_over
    }

    async fn wait(&mut self, mut is_so: impl FnMut(&Progress) -> bool) {
        // A reader that is gone says nothing more.
        let _ = self.progress.wait_for(|progress| progress.is_over || is_so(progress)).await;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// Reads what comes back.
struct Reader {
    number: usize,
    purpose: Purpose,
    inbox: Inbox,
    progress: watch::Sender<Progress>,
}

impl Reader {
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
            self.hear(Heard::Answer { status: status.as_u16(), is_usual, text });
        }
        Ok(())
    }

    async fn read_events(&self, mut body: Incoming) -> Result<(), String> {
        let mut events = Events::default();
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

    fn take(&self, event: Event) -> Result<(), String> {
        match event.name.as_deref() {
            Some("endpoint") => {
                self.progress.send_modify(|progress| progress.endpoint = Some(event.data));
            }
            None | Some("message") if event.data.is_empty() => {}
            None | Some("message") => {
                self.check_place(&event.data)?;
                self.note_answer(&event.data);
                self.hear(Heard::Message(event.data));
            }
            Some(name) => return Err(format!("an event of the unknown kind `{name}`")),
        }
        self.progress.send_modify(|progress| progress.has_event = true);
        Ok(())
    }

    /// Answers come where their requests went, and on the GET stream there are none.
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
            false => Err(format!("an answer on a stream of something else: {text}")),
        }
    }

    fn note_answer(&self, text: &str) {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let is_answer = value.is_array() || value.get("method").is_none();
        self.progress.send_modify(|progress| progress.has_answer |= is_answer);
    }

    /// Whether an answer that is no stream has the status that the rules want.
    fn is_usual(&self, status: u16, text: &str) -> bool {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let is_modern = matches!(self.purpose, Purpose::Post { is_modern: true, .. });
        usual(is_modern, &value).contains(&status)
    }

    fn hear(&self, heard: Heard) {
        self.inbox.push(self.number, heard);
    }

    fn end(self, wrong: Option<String>) {
        if let Some(wrong) = wrong {
            self.hear(Heard::Wrong(wrong));
        }
        self.inbox.close(self.number);
        self.progress.send_modify(|progress| progress.is_over = true);
    }
}

/// The statuses that an answer may have. On 2026-07-28 some errors have one of their own; which of
/// the others refuse the request, and which are what it came to, is for the transcript to say.
fn usual(is_modern: bool, answer: &Value) -> &'static [u16] {
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
        assert_eq!(usual(true, &error(-32601)), [404]);
        assert_eq!(usual(false, &error(-32601)), [200, 400]);
        assert_eq!(usual(true, &error(-32022)), [400]);
        assert_eq!(usual(true, &error(429)), [429]);
        assert_eq!(usual(false, &error(429)), [200, 429]);
        assert_eq!(usual(true, &json!({ "error": { "code": -32600 } })), [400]);
        assert_eq!(usual(true, &json!({ "id": 1, "result": {} })), [200]);
    }
}
