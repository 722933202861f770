//! The connection with which a bridge begins.

use bowline_transport::duplex::duplex;

use super::*;

/// A bridge to a program that is not there, which begins with this connection.
async fn dial() -> (TargetDial, Client) {
    let (near, far) = duplex();
    tokio::spawn(async move { Server::new("first", "1.0.0").serve(far).await });
    let client = Client::connect(near).await.unwrap();
    let mut words = vec!["./no-such-program".to_owned()];
    let target = crate::target::TargetArgs::default().take(&mut words).unwrap();
    let dial = TargetDial { target, first: FirstConnection::default(), layer: None };
    dial.first.keep(client.clone(), Lanes::every_question());
    (dial, client)
}

async fn dialled(dial: &TargetDial) -> Result<Client, DialError> {
    dial.dial(Lanes::every_question(), &GatewayLimits::default()).await
}

#[tokio::test]
async fn the_first_connection_is_used_once() {
    let (dial, _client) = dial().await;
    assert!(!dialled(&dial).await.unwrap().is_closed());
    assert!(dialled(&dial).await.unwrap_err().to_string().contains("no-such-program"));
}

#[tokio::test]
async fn a_first_connection_without_calls_is_closed_like_any_other() {
    let (dial, client) = dial().await;
    dial.first.clone().close_after(Duration::ZERO).await;
    assert!(client.is_closed());
    assert!(dialled(&dial).await.is_err());
}
