//! Errors and `Debug` never show a secret, whatever a server answers.

use super::network::{AS, Network};
use super::{LoginPolicy, authorizer, send_with};
use crate::client::plan::{Browser, Enterprise, IdentityProvider, Machine, Plan, Workload};
use crate::secret::Secret;

/// Texts that the secrets of the network contain: `https://as.example!code1` and so on.
const MARKS: &[&str] = &["!secret", "!access", "!refresh", "!code", "canary"];

fn check(text: &str) {
    for mark in MARKS {
        assert!(!text.contains(mark), "{text}");
    }
}

#[tokio::test]
async fn no_secret_is_in_any_error_or_debug_output() {
    let echoes = [
        (400, r#"{"error":"invalid_grant","error_description":"ECHO"}"#),
        (400, r#"{"error":"ECHO"}"#),
        (500, "ECHO"),
        (200, "ECHO"),
        (200, r#"{"access_token":"canary\u0000","token_type":"Bearer","x":"ECHO"}"#),
        (200, r#"{"access_token":["canary"],"token_type":"Bearer"}"#),
        (200, r#"{"access_token":"canary","token_type":"canary"}"#),
    ];
    for (status, body) in echoes {
        for path in ["/token", "/register", "/revoke"] {
            let network = Network::new();
            let client = authorizer(Browser::new("app"), &network);
            let fault = |network: &Network| {
                // The server repeats the secrets that it was sent last.
                let sent = network.state().log.last().map(|(_, body)| body.clone());
                let echo = sent.unwrap_or_default().replace("%3A", ":").replace("%2F", "/");
                let echo = echo.replace("%21", "!");
                let body = body.replace("ECHO", &echo);
                network.state().faults.insert(path.to_owned(), (status, body));
            };
            if path == "/revoke" {
                send_with(&client, &network, "x", LoginPolicy::Allowed).await;
                fault(&network);
                let outcome = client.logout().await;
                check(&format!("{outcome:?}"));
                continue;
            }
            fault(&network);
            let (_, error) = send_with(&client, &network, "x", LoginPolicy::Allowed).await;
            check(&error.map(|error| format!("{error} {error:?}")).unwrap_or_default());
            check(&format!("{client:?}"));
        }
    }
}

// spec: OCC-7
#[test]
fn no_plan_shows_its_secrets() {
    let secret = || Secret::from("canary");
    let provider = IdentityProvider::new(AS, "id").secret(secret());
    let plans: [Plan; 4] = [
        Browser::new("app").client_with_secret(AS, "id", secret()).into(),
        Machine::secret(AS, "id", secret()).into(),
        Workload::new(AS, "id", || async { Ok(Secret::from("canary")) }).into(),
        Enterprise::new(provider, secret()).client(AS, "id", secret()).into(),
    ];
    for plan in plans {
        check(&format!("{plan:?} {plan:#?}"));
    }
}
