//! A server over HTTP, on a thread of its own, for programs that are started.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use bowline_server::http::Http;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A server that listens on this machine until it is dropped.
pub struct Serving {
    url: String,
    /// Both are there until the end.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Serves on a port that is free.
    ///
    /// # Panics
    ///
    /// If the server cannot be built, or nothing can be listened on.
    pub fn start(http: Http) -> Self {
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = Runtime::new().expect("there is a runtime");
            runtime.block_on(async {
                let bound = http.listen("127.0.0.1:0").await.expect("the server listens");
                tell.send(bound.address()).expect("somebody waits for the address");
                // Whether it was told or dropped, it is the end.
                bound.serve_until(async { drop(stopped.await) }).await;
            });
        });
        let address = told.recv().expect("the server starts").expect("the address is known");
        Self { url: format!("http://{address}/mcp"), stop: Some(stop), thread: Some(thread) }
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.take();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || !matches!(ended, Some(Err(_))), "the server crashed");
    }
}
