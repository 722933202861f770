//! Notes for `gateway -v`: which servers are started, and what they answer.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use bowline::Client;
use bowline_gateway::{Dial, DialError, GatewayLimits};
use bowline_types::capability::ClientCapabilities;

use crate::print::{self, text};

/// Opens connections as another does, and prints a note for each.
pub(super) struct Announced {
    pub(super) name: String,
    pub(super) dial: Arc<dyn Dial>,
}

impl Dial for Announced {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> Pin<Box<dyn Future<Output = Result<Client, DialError>> + Send>> {
        let (name, begun) = (self.name.clone(), Instant::now());
        let verb = if self.is_process() { "starting" } else { "connecting to" };
        print::note(text!("{verb} `{name}`"));
        let dialled = self.dial.dial(declared, limits);
        Box::pin(async move {
            let client = dialled.await?;
            let server = client.server_info();
            let server = server.map(|it| format!("{} {}, ", it.name, it.version));
            let (server, revision) = (server.unwrap_or_default(), client.revision());
            let took = begun.elapsed().as_millis();
            print::note(text!("`{name}` answered after {took} ms: {server}{revision}"));
            Ok(client)
        })
    }

    fn is_process(&self) -> bool {
        self.dial.is_process()
    }
}
