//! Bare hyper: reads the body and answers it.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::message::{Answer, Server};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Serves every path of an address, until the process ends.
pub(crate) async fn serve(
    address: &str,
    server: Server,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let listener = TcpListener::bind(address).await?;
    let server = Arc::new(server);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let service = service_fn(|request| respond(&server, request));
            // An error of one connection does not affect the others.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(
    server: &Server,
    request: Request<Incoming>,
) -> Result<Response<Content>, hyper::Error> {
    match *request.method() {
        Method::POST => {}
        Method::GET => return Ok(response("text/event-stream", Content::Silence)),
        _ => return Ok(Response::new(Content::nothing())),
    }
    let text = request.into_body().collect().await?.to_bytes();
    let mut out = Vec::with_capacity(text.len() + 128);
    let Ok(answer) = server.answer(&text, &mut out) else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let written = Bytes::from(out);
    Ok(match answer {
        Answer::None => status(StatusCode::ACCEPTED),
        Answer::Written => json(written, Bytes::new()),
        Answer::Until(end) => json(written, end),
        Answer::OpensSession(end) => {
            let mut response = json(written, end);
            // The server keeps no state, so all sessions have one id.
            response.headers_mut().insert(SESSION, HeaderValue::from_static("ceiling"));
            response
        }
    })
}

fn json(begin: Bytes, end: Bytes) -> Response<Content> {
    response("application/json", Content::Parts { begin, end })
}

fn response(media_type: &'static str, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

fn status(status: StatusCode) -> Response<Content> {
    let mut response = Response::new(Content::nothing());
    *response.status_mut() = status;
    response
}

/// The body of an answer.
enum Content {
    /// Two pieces; the second is shared by all answers with the same end.
    Parts { begin: Bytes, end: Bytes },
    /// A stream that stays open and sends nothing.
    Silence,
}

impl Content {
    fn nothing() -> Self {
        Self::Parts { begin: Bytes::new(), end: Bytes::new() }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Self::Parts { begin, end } = self.get_mut() else { return Poll::Pending };
        let next = std::mem::replace(begin, std::mem::take(end));
        Poll::Ready((!next.is_empty()).then(|| Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Parts { begin, end } if begin.is_empty() && end.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Parts { begin, end } => SizeHint::with_exact((begin.len() + end.len()) as u64),
            Self::Silence => SizeHint::default(),
        }
    }
}
