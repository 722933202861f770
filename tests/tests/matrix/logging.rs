//! Log messages of at least a level, by `Log` and by `tracing`.

use std::sync::{Arc, Mutex};

use bowline::client::ClientBuilder;
use bowline::{Log, Server, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::deprecated::logging::LoggingLevel;
use tracing_subscriber::layer::SubscriberExt;

/// The log messages that a client got.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// Records messages of at least this level.
    fn from(&self, level: LoggingLevel) -> impl FnOnce(ClientBuilder) -> ClientBuilder {
        let heard = Arc::clone(&self.0);
        move |client| {
            client.on_log(level, move |message| {
                let text = message.data.parse::<String>().unwrap();
                heard.lock().unwrap().push(format!("{}: {text}", message.level));
            })
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Deploy the site
#[tool]
fn deploy(log: Log) -> &'static str {
    log.debug("looking");
    log.info("building");
    log.warning(format_args!("{} tests were skipped", 3));
    log.error("one link is dead");
    "deployed"
}

fn deployer() -> Server {
    Server::new("deployer", "1.0.0").tools(tools![deploy])
}

// spec: LOG-19
#[bowline::test(every_revision)]
async fn a_client_gets_no_log_messages_below_its_level(t: Harness) {
    let heard = Heard::default();
    let client = t.connect(deployer()).client(heard.from(LoggingLevel::Warning)).await;
    assert_eq!(client.call("deploy", ()).await.unwrap().text(), "deployed");
    assert_eq!(heard.take(), ["warning: 3 tests were skipped", "error: one link is dead"]);
}

#[bowline::test(every_revision, stateless)]
async fn a_client_with_the_lowest_level_gets_every_log_message(t: Harness) {
    let heard = Heard::default();
    let client = t.connect(deployer()).client(heard.from(LoggingLevel::Debug)).await;
    client.call("deploy", ()).await.unwrap();
    // A server without sessions cannot keep a log level, so it does not declare logging.
    let hears = t.case().transport.has_server_push();
    assert_eq!(heard.take().len(), if hears { 4 } else { 0 });
    assert_eq!(client.capabilities().logging.is_some(), hears);
}

#[bowline::test(every_revision)]
async fn a_call_may_have_its_own_log_level_in_modern_requests(t: Harness) {
    let heard = Heard::default();
    let client = t.connect(deployer()).client(heard.from(LoggingLevel::Warning)).await;
    client.call("deploy", ()).log_level(LoggingLevel::Error).await.unwrap();
    let expected = if t.revision().has_log_level_per_request() { 1 } else { 2 };
    assert_eq!(heard.take().len(), expected);
}

#[bowline::test(every_revision)]
async fn tracing_events_of_handlers_become_log_messages(t: Harness) {
    let chat = Tool::new("chat", || async {
        tracing::info!("packing");
        tracing::warn!("careful");
    });
    let server = Server::new("chatty", "1.0.0").tool(chat);
    let events = tracing_subscriber::registry().with(server.trace_layer());
    let _installed = tracing::subscriber::set_default(events);
    let heard = Heard::default();
    let client = t.connect(server).client(heard.from(LoggingLevel::Warning)).await;
    client.call("chat", ()).await.unwrap();
    assert_eq!(heard.take(), ["warning: careful"]);
}
