//! A server over HTTP in its own thread, for tests that start other programs.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use bowline_server::http::Http;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A server that listens on a loopback port until it is dropped.
pub struct Serving {
    url: String,
    /// Both are `Some` until the drop.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Serves on a free port.
    ///
    /// # Panics
    ///
    /// Panics if the server cannot be built or cannot listen.
    pub fn start(http: Http) -> Self {
        let (report, reported) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = Runtime::new().expect("a runtime can be built");
            runtime.block_on(async {
                let bound = http.listen("127.0.0.1:0").await.expect("the server listens");
                report.send(bound.address()).expect("`start` waits for the address");
                // A message and a dropped sender both mean: stop.
                bound.serve_until(async { drop(stopped.await) }).await;
            });
        });
        let address = reported.recv().expect("the server starts").expect("the address is known");
        Self { url: format!("http://{address}/mcp"), stop: Some(stop), thread: Some(thread) }
    }

    /// The URL of the server.
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
