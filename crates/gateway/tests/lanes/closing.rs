//! What has ended when a gateway is closed, for servers that take long to end. In virtual time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline_client::Client;
use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{
    Dial, DialError, Gateway, GatewayLimits, GatewayOptions, Lanes, client_builder,
};
use bowline_proto::limits::Limits;
use bowline_proto::transmit::Transmit;
use bowline_transport::duplex::{Duplex, duplex};
use bowline_transport::error::Error;
use bowline_transport::transport::{Transport, Writer};
use bowline_types::capability::ClientCapabilities;
use futures_core::future::BoxFuture;
use tokio::time::sleep;

use crate::support::{echo, file};

/// A server whose connections take 5 seconds to end; counts those that have not ended.
#[derive(Clone, Default)]
struct Slow(Arc<AtomicUsize>);

impl Slow {
    fn running(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn lanes(&self) -> Lanes {
        Lanes::new("slow", Arc::new(self.clone()), GatewayLimits::default())
    }
}

impl Dial for Slow {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let (near, far) = duplex();
        tokio::spawn(echo().serve(far));
        self.0.fetch_add(1, Ordering::Relaxed);
        let connection = SlowConnection { near, running: self.0.clone() };
        let builder = client_builder(declared, limits);
        Box::pin(async move { Ok(builder.connect(connection).await?) })
    }

    fn is_process(&self) -> bool {
        true
    }
}

struct SlowConnection {
    near: Duplex,
    running: Arc<AtomicUsize>,
}

struct SlowWriter {
    writer: <Duplex as Transport>::Writer,
    running: Arc<AtomicUsize>,
}

impl Transport for SlowConnection {
    type Reader = <Duplex as Transport>::Reader;
    type Writer = SlowWriter;

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (reader, writer) = self.near.split(limits);
        (reader, SlowWriter { writer, running: self.running })
    }
}

impl Writer for SlowWriter {
    async fn write(&mut self, queue: &mut VecDeque<Transmit>) -> Result<(), Error> {
        self.writer.write(queue).await
    }

    async fn close(&mut self) {
        self.writer.close().await;
        sleep(Duration::from_secs(5)).await;
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_close_waits_for_the_first() {
    let server = Slow::default();
    let lanes = server.lanes();
    lanes.start().await.unwrap();
    let first = lanes.clone();
    tokio::spawn(async move { first.close().await });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.running(), 1);
    lanes.close().await;
    assert_eq!(server.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_close_waits_for_a_server_that_is_stopped_because_it_is_idle() {
    let server = Slow::default();
    let lanes = server.lanes();
    lanes.start().await.unwrap();
    sleep(GatewayLimits::default().idle + Duration::from_secs(1)).await;
    assert_eq!(server.running(), 1, "it takes long to end");
    lanes.close().await;
    assert_eq!(server.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_is_closed_waits_for_the_servers_of_its_earlier_loads() {
    const FILE: &str =
        r#"{ "mcpServers": { "slow": { "command": "x" }, "other": { "command": "y" } } }"#;
    const OTHER: &str = r#"{ "mcpServers": { "other": { "command": "y" } } }"#;
    let server = Slow::default();
    let dial = server.clone();
    let options =
        GatewayOptions::new(ConfigVariables::none()).dialled_by(move |_, _| Arc::new(dial.clone()));
    let gateway = Gateway::with_options(&file(FILE), options).unwrap();
    gateway.servers()[0].1.start().await.unwrap();
    gateway.reload(&file(OTHER)).unwrap();
    sleep(Duration::from_secs(1)).await;
    // Forgets the earlier servers that have ended.
    gateway.reload(&file(FILE)).unwrap();
    gateway.reload(&file(OTHER)).unwrap();
    assert_eq!(server.running(), 1);
    let first = gateway.clone();
    tokio::spawn(async move { first.close().await });
    sleep(Duration::from_secs(1)).await;
    gateway.close().await;
    assert_eq!(server.running(), 0);
}
