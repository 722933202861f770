//! How a connection is made, and what is required of the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bowline_store::backend::{self, Error};
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo, SingleNodeRoutingInfo};
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, FromRedisValue,
    IntoConnectionInfo as _, Pipeline, ProtocolVersion, RedisResult, TlsCertificates, Value, cmd,
};

use crate::failure::Failure;
use crate::options::{RedisDurability, RedisOptions};
use crate::pushes::{PushHandler, Pushes};

/// How long making a connection may take, with all that is checked.
pub(crate) const CONNECT: Duration = Duration::from_millis(750);

/// The database as the options describe it.
pub(crate) struct Server {
    options: RedisOptions,
    nodes: Vec<ConnectionInfo>,
    /// Its hosts and ports, for errors.
    pub(crate) place: String,
    /// Whether every server of it has `WAITAOF`.
    can_wait_for_disk: AtomicBool,
}

/// A connection, to one server or to all of a cluster. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// A connection, and what arrives on it unasked.
type Connected = (Connection, Arc<Pushes>);

impl Server {
    pub(crate) fn new(options: RedisOptions) -> backend::Result<Self> {
        let nodes = options.urls().into_iter().map(|url| {
            let node = url.as_str().into_connection_info();
            node.map_err(|error| {
                Error::new(format!(
                    "the URL of the Redis store is wrong ({error}); \
                     it looks like `redis://user:password@host:6379/0`, with `rediss` for TLS"
                ))
            })
        });
        let nodes = nodes.collect::<backend::Result<Vec<_>>>()?;
        let place: Vec<_> = nodes.iter().map(|node| node.addr().to_string()).collect();
        if nodes.iter().any(|node| matches!(node.addr(), ConnectionAddr::TcpTls { .. })) {
            choose_cryptography();
        }
        let settings = TcpSettings::default().set_nodelay(true);
        let nodes = nodes.into_iter().map(|node| node.set_tcp_settings(settings.clone())).collect();
        Ok(Self {
            options,
            nodes,
            place: place.join(","),
            can_wait_for_disk: AtomicBool::new(true),
        })
    }

    /// What a write has to wait for by a command of its own.
    pub(crate) fn durability(&self) -> RedisDurability {
        match self.options.durability {
            // The database waits before it replies, as was checked.
            RedisDurability::Fsync if !self.can_wait_for_disk.load(Ordering::Relaxed) => {
                RedisDurability::Memory
            }
            durability => durability,
        }
    }

    /// Connects, and checks that the database is fit to be a store.
    pub(crate) async fn connect(&self, handler: &PushHandler) -> Result<Connected, Failure> {
        let begin = Instant::now();
        let nodes = self.nodes_with_password()?;
        let mut failure = Failure::Unfit("the URL names no host".to_owned());
        for (number, node) in nodes.iter().enumerate() {
            // A host that does not answer leaves time for the next ones.
            let time =
                CONNECT.saturating_sub(begin.elapsed()).div_f64((nodes.len() - number) as f64);
            let connecting = self.connect_to(node, time, handler);
            match tokio::time::timeout(time, connecting).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = Failure::Late(CONNECT),
            }
        }
        Err(failure)
    }

    async fn connect_to(
        &self,
        node: &ConnectionInfo,
        time: Duration,
        handler: &PushHandler,
    ) -> Result<Connected, Failure> {
        let client = match self.certificates()? {
            Some(certificates) => Client::build_with_tls(node.clone(), certificates)?,
            None => Client::open(node.clone())?,
        };
        // Of this attempt: if it fails, the next host has nothing to do with it.
        let mut pushes = Pushes::new(handler);
        let receiver = pushes.clone();
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(1024)
            .set_push_sender(move |info| {
                receiver.receive(info);
                Ok::<_, redis::aio::SendError>(())
            });
        let single = client.get_multiplexed_async_connection_with_config(&config).await?;
        let mut connection = Connection::Single(single);
        let info: String = connection.ask(cmd("INFO").arg("cluster")).await?;
        if field(&info, "cluster_enabled") == Some("1") {
            pushes = Pushes::new(handler);
            connection = self.connect_to_cluster(node, time, &pushes).await?;
        } else {
            let info: String = connection.ask(cmd("INFO").arg("replication")).await?;
            if field(&info, "role") == Some("slave") {
                return Err(Failure::Replica(node.addr().to_string()));
            }
        }
        self.check(&connection).await?;
        Ok((connection, pushes))
    }

    async fn connect_to_cluster(
        &self,
        node: &ConnectionInfo,
        time: Duration,
        pushes: &Arc<Pushes>,
    ) -> Result<Connection, Failure> {
        let receiver = pushes.clone();
        // Without retries: the library would repeat a write whose reply was lost. It begins with the
        // node that has answered, and waits for the others of the cluster no longer than for half of
        // the time, as it fails only if none can be reached.
        let mut builder = ClusterClientBuilder::new([node.clone()])
            .use_protocol(ProtocolVersion::RESP3)
            .tcp_settings(TcpSettings::default().set_nodelay(true))
            .connection_timeout(time / 2)
            .response_timeout(CONNECT)
            .overall_response_timeout(None)
            .retries(0)
            .push_sender(move |info| {
                receiver.receive(info);
                Ok::<_, redis::aio::SendError>(())
            });
        if let Some(certificates) = self.certificates()? {
            builder = builder.certs(certificates);
        }
        Ok(Connection::Cluster(builder.build()?.get_async_connection().await?))
    }

    fn nodes_with_password(&self) -> Result<Vec<ConnectionInfo>, Failure> {
        let password = match &self.options.password_file {
            None => None,
            Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
                let path = path.display();
                Failure::Unfit(format!("cannot read the password file `{path}`: {error}"))
            })?),
        };
        let node = |node: &ConnectionInfo| {
            let mut settings = node.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
            if let Some(password) = &password {
                settings = settings.set_password(password.trim_end_matches(['\r', '\n']));
            }
            node.clone().set_redis_settings(settings)
        };
        Ok(self.nodes.iter().map(node).collect())
    }

    fn certificates(&self) -> Result<Option<TlsCertificates>, Failure> {
        let Some(path) = &self.options.ca_file else { return Ok(None) };
        let certificates = std::fs::read(path).map_err(|error| {
            let path = path.display();
            Failure::Unfit(format!("cannot read the certificates `{path}`: {error}"))
        })?;
        Ok(Some(TlsCertificates { client_tls: None, root_cert: Some(certificates) }))
    }

    /// Refuses a database that is too old, drops keys, or cannot keep what it should.
    async fn check(&self, connection: &Connection) -> Result<(), Failure> {
        let mut oldest = (u32::MAX, 0);
        for (place, info) in connection.ask_all::<String>(cmd("INFO").arg("server")).await? {
            let version = field(&info, "redis_version").unwrap_or("?");
            let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
            let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
            if number < (7, 0) {
                return Err(Failure::Unfit(format!(
                    "{place} is Redis {version}; Redis 7.0 or Valkey 7.2 is needed"
                )));
            }
            oldest = oldest.min(number);
        }
        for (place, info) in connection.ask_all::<String>(cmd("INFO").arg("memory")).await? {
            let policy = field(&info, "maxmemory_policy").unwrap_or("noeviction");
            if policy != "noeviction" {
                return Err(Failure::Unfit(format!(
                    "{place} drops keys when its memory is full (`maxmemory-policy {policy}`), \
                     and a log that was dropped would begin again at its first position; \
                     set `maxmemory-policy noeviction`, or use a database of its own"
                )));
            }
        }
        match self.options.durability {
            RedisDurability::Fsync => self.check_disk(connection, oldest >= (7, 2)).await,
            _ => Ok(()),
        }
    }

    /// Before 7.2, `WAITAOF` does not exist. Then every write has to wait for the disk.
    async fn check_disk(&self, connection: &Connection, can_wait: bool) -> Result<(), Failure> {
        self.can_wait_for_disk.store(can_wait, Ordering::Relaxed);
        for (place, info) in connection.ask_all::<String>(cmd("INFO").arg("persistence")).await? {
            if field(&info, "aof_enabled") != Some("1") {
                return Err(Failure::Unfit(format!(
                    "{place} keeps nothing on its disk, as `RedisDurability::Fsync` demands; \
                     set `appendonly yes`"
                )));
            }
        }
        if can_wait {
            return Ok(());
        }
        let settings: Vec<(String, HashMap<String, String>)> =
            connection.ask_all(cmd("CONFIG").arg("GET").arg("appendfsync")).await?;
        for (place, setting) in settings {
            if setting.get("appendfsync").map(String::as_str) != Some("always") {
                return Err(Failure::Unfit(format!(
                    "{place} is older than Redis 7.2 and cannot say when its disk has a write, as \
                     `RedisDurability::Fsync` demands; set `appendfsync always`, or use a newer one"
                )));
            }
        }
        Ok(())
    }
}

impl Connection {
    /// Asks one server: of a cluster the one that has the first key of the command.
    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        match self {
            Self::Single(connection) => command.query_async(&mut connection.clone()).await,
            Self::Cluster(connection) => command.query_async(&mut connection.clone()).await,
        }
    }

    /// Sends commands together to the server that has the first key of them, or to the one that will
    /// have it.
    pub(crate) async fn ask_together(
        &self,
        commands: &Pipeline,
        asking: Option<&str>,
    ) -> RedisResult<Vec<Value>> {
        let count = commands.len();
        let replies = match (self, asking) {
            (Self::Single(connection), _) => {
                connection.clone().req_packed_commands(commands, 0, count).await?
            }
            (Self::Cluster(connection), None) => {
                connection.clone().req_packed_commands(commands, 0, count).await?
            }
            (Self::Cluster(connection), Some(place)) => {
                let mut all = Pipeline::new();
                all.cmd("ASKING");
                for command in commands.cmd_iter() {
                    all.add_command(command.clone());
                }
                connection.clone().route_pipeline(all, 1, count, node(place)).await?
            }
        };
        replies.into_iter().map(Value::extract_error).collect()
    }

    /// Asks every primary. Returns their addresses with their answers.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        command: &Cmd,
    ) -> RedisResult<Vec<(String, T)>> {
        match self {
            Self::Single(_) => Ok(vec![("the server".to_owned(), self.ask(command).await?)]),
            Self::Cluster(connection) => {
                let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                let answers = connection.clone().route_command(command.clone(), all).await?;
                Ok(redis::from_redis_value(answers)?)
            }
        }
    }

    /// Asks the server at an address that [`ask_all`](Self::ask_all) returned.
    pub(crate) async fn ask_at(&self, place: &str, command: &Cmd) -> RedisResult<Value> {
        let Self::Cluster(connection) = self else { return self.ask(command).await };
        let node = RoutingInfo::SingleNode(node(place));
        connection.clone().route_command(command.clone(), node).await?.extract_error()
    }
}

/// The server of a cluster at `host:port`.
fn node(place: &str) -> SingleNodeRoutingInfo {
    let (host, port) = place.rsplit_once(':').unwrap_or((place, ""));
    SingleNodeRoutingInfo::ByAddress {
        host: host.to_owned(),
        port: port.parse().unwrap_or_default(),
    }
}

/// A line of what `INFO` returns.
fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// The client library takes the cryptography that is set for the process, and panics if there is none
/// and two were compiled in.
fn choose_cryptography() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails if another thread was faster, and then one is set too.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
