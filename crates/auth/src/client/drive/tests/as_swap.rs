//! An MCP server that names another authorization server whenever it likes: no secret of one server
//! reaches another.

use proptest::prelude::*;

use super::network::{AS, Network, TWO};
use super::{LoginPolicy, authorizer, send_with};
use crate::client::plan::Browser;

/// What the adversary does between two messages.
#[derive(Clone, Copy, Debug)]
enum Move {
    Swap,
    RevokeAccess,
    RevokeAll,
    NeedScope,
    Nothing,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        Just(Move::Swap),
        Just(Move::RevokeAccess),
        Just(Move::RevokeAll),
        Just(Move::NeedScope),
        Just(Move::Nothing)
    ];
    prop::collection::vec(one, 1..12)
}

/// Panics if a request to one server carries what the other one issued.
fn check(network: &Network) {
    for (url, body) in &network.state().log {
        let own = if url.starts_with(AS) { AS } else { TWO };
        let other = if own == AS { TWO } else { AS };
        let decoded = crate::form::Form::parse(body);
        let text = format!("{body} {:?}", decoded.map(|form| form.encode().expose().clone()));
        let text = text.replace("%3A", ":").replace("%2F", "/").replace("%21", "!");
        assert!(!text.contains(&format!("{other}!")), "{url} got {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    // spec: PRM-11, PRM-12, REG-14, TOK-8, AUTH-7
    #[test]
    fn no_secret_crosses_issuers(moves in moves()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let network = Network::new();
            let client = authorizer(Browser::new("app"), &network);
            for step in moves {
                let mut operation = "x";
                match step {
                    Move::Swap => {
                        let mut state = network.state();
                        state.issuer = if state.issuer == AS { TWO.into() } else { AS.into() };
                    }
                    Move::RevokeAccess => network.revoke_access(),
                    Move::RevokeAll => network.revoke_all(),
                    Move::NeedScope => operation = "needs admin",
                    Move::Nothing => {}
                }
                let (status, error) =
                    send_with(&client, &network, operation, LoginPolicy::Allowed).await;
                assert!(status.is_success(), "{status} {error:?}");
            }
            client.logout().await.unwrap();
            check(&network);
        });
    }
}
