//! The name of a server does not change how the client behaves.

use bowline_client::{Client, ToolOutcome};
use serde_json::{Value, json};

use crate::peer::{DISCOVERED, Peer, builder, initialized, pair};

/// Names and versions for which a program might have a special case.
const PROGRAMS: [(&str, &str); 4] =
    [("scripted", "1"), ("bowline", "99.0.0"), ("", ""), ("everything", "0.0.1-beta")];

/// A server of either era under this name.
async fn met(info: &Value, modern: bool) -> (Client, Peer) {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        if modern {
            let mut result: Value = serde_json::from_str(DISCOVERED).unwrap();
            result["_meta"]["io.modelcontextprotocol/serverInfo"] = info.clone();
            peer.answer(&probe, &result.to_string()).await;
        } else {
            peer.refuse(&probe, -32601, "Method not found").await;
            let handshake = peer.request("initialize").await;
            let mut result: Value = serde_json::from_str(&initialized("2025-11-25")).unwrap();
            result["serverInfo"] = info.clone();
            peer.answer(&handshake, &result.to_string()).await;
            peer.notification("notifications/initialized").await;
        }
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    (client.unwrap(), peer)
}

/// The messages that the client sends, and the result that it reads.
async fn exchange((client, mut peer): (Client, Peer)) -> (Value, String) {
    let serve = async {
        let request = peer.request("tools/call").await;
        peer.answer(&request, &json!({ "content": [], "structuredContent": 1 }).to_string()).await;
        request.params
    };
    let (outcome, params) = tokio::join!(client.call("work", ()).into_future(), serve);
    (params, format!("{:?}", outcome.map(ToolOutcome::into_message)))
}

// spec: RQM-12, RQM-13
#[tokio::test(start_paused = true)]
async fn a_client_does_the_same_whatever_its_server_is_called() {
    for modern in [true, false] {
        let mut exchanges = Vec::new();
        for (name, version) in PROGRAMS {
            let info = json!({ "name": name, "version": version });
            exchanges.push(exchange(met(&info, modern).await).await);
        }
        assert!(exchanges.windows(2).all(|pair| pair[0] == pair[1]), "{exchanges:#?}");
    }
}
