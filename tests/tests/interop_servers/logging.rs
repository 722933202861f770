//! Log messages, of the level that the client asked for.

use bowline_types::deprecated::logging::LoggingLevel;

use crate::connected_client::ConnectedClient;
use crate::peer::Feature;

// spec: LOG-2
pub(crate) async fn check(connected: &ConnectedClient) {
    assert!(connected.client.capabilities().supports_logging());
    connected.notes.take(|noted| &mut noted.logs);
    connected.client.call("chatter", ()).await.unwrap();
    let mut expected = vec![LoggingLevel::Info, LoggingLevel::Warning, LoggingLevel::Error];
    if !connected.has(Feature::LogLevel) {
        expected.insert(0, LoggingLevel::Debug);
    }
    let logs = connected.noted(|noted| &mut noted.logs, expected.len()).await;
    let levels: Vec<_> = logs.iter().map(|(level, ..)| *level).collect();
    assert_eq!(levels, expected);
    for (level, logger, data) in logs {
        assert_eq!(logger.as_deref(), Some("peer"));
        assert!(data.contains(&format!("a {level}")), "{data}");
    }
}
