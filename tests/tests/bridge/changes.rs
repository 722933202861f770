//! Changes of lists and resources.

use bowline::client::Change;
use bowline::{Resource, Server, Tool};

use crate::support::{ALL, cells};

fn server() -> Server {
    Server::new("far", "1.0.0")
        .tool(Tool::new("old", || async { "old" }))
        .resource(Resource::new("far://board", || async { "nothing" }))
}

#[tokio::test(start_paused = true)]
async fn changes_reach_the_caller_that_asked_for_them() {
    for cell in cells(&ALL) {
        let far = server();
        let client = cell.through(&far, |builder| builder).await;
        let subscribe = client.subscribe().tools().resource("far://board");
        let mut changes = subscribe.open().await.unwrap();
        assert!(changes.missing().is_empty(), "{cell:?}: {:?}", changes.missing());
        far.notify().resource_updated("far://board");
        let change = changes.next().await.unwrap().unwrap();
        assert_eq!(change, Change::Resource("far://board".to_owned()), "{cell:?}");
        far.registry().insert(Tool::new("new", || async { "new" })).unwrap();
        assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools, "{cell:?}");
        assert_eq!(client.tools().all().await.unwrap().len(), 2, "{cell:?}");
    }
}
