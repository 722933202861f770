//! Log messages, of the level that the client asked for.

use bowline::types::deprecated::logging::LoggingLevel;

use crate::peer::Feature;
use crate::stage::Stage;

// spec: LOG-2
pub(crate) async fn check(stage: &Stage) {
    assert!(stage.client.capabilities().supports_logging());
    stage.notes.take(|noted| &mut noted.logs);
    stage.client.call("chatter", ()).await.unwrap();
    let mut expected = vec![LoggingLevel::Info, LoggingLevel::Warning, LoggingLevel::Error];
    if !stage.has(Feature::LogLevel) {
        expected.insert(0, LoggingLevel::Debug);
    }
    let logs = stage.noted(|noted| &mut noted.logs, expected.len()).await;
    let levels: Vec<_> = logs.iter().map(|(level, ..)| *level).collect();
    assert_eq!(levels, expected);
    for (level, logger, data) in logs {
        assert_eq!(logger.as_deref(), Some("peer"));
        assert!(data.contains(&format!("a {level}")), "{data}");
    }
}
