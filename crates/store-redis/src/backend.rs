//! The handle that a server gets.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_store::backend::{
    Appended, Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogItem, LogSlice, Mark,
    MarkStep, NewItem, Position, Result, Version, Written,
};
use bytes::Bytes;
use redis::{Cmd, PushKind, Value, cmd};

use crate::failure::Failure;
use crate::keys::{Kind, Names, are_together};
use crate::link::{AfterLoss, Link, Reply, Request};
use crate::listeners::Listeners;
use crate::options::{RedisDurability, RedisLimits, RedisOptions};
use crate::pushes::PushHandler;
use crate::renewals::Renewals;
use crate::scripts::{APPEND, FENCED, FIND, HEAD, LOOK, NOT_FOUND, PUT, READ, RENEW};
use crate::server::Server;

/// Expiries are cut to this: a hundred years in milliseconds.
const FOREVER: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// Lua counts exactly up to here.
const LAST_POSITION: u64 = (1 << 53) - 2;

/// The keys that a scan has found.
type Scanned = std::result::Result<BTreeSet<Key>, Failure>;

/// How long a scan of all keys may take.
const SCAN: Duration = Duration::from_millis(900);

/// Stores everything in Redis (7.0 or later) or Valkey. Cheap to clone.
///
/// All servers with the same database and prefix share sessions, events and tasks. While the database
/// is out of reach, every operation fails within a second; operations succeed again within two seconds
/// after it is back. By default a failover may lose the last second: see
/// [`RedisDurability`](crate::RedisDurability).
///
/// ```no_run
/// use bowline_store::backend::{Backend, Expect, Key};
/// use bowline_store_redis::Redis;
/// # use std::time::Duration;
///
/// # async fn example() -> Result<(), bowline_store::Error> {
/// let store = Redis::connect("redis://localhost:6379").await?;
/// let key = Key::new(["greeting"]);
/// store.put(&key, "hello".into(), Duration::from_secs(60), Expect::Anything).await?;
/// # Ok(())
/// # }
/// ```
///
/// The database must not evict keys when its memory is full (`maxmemory-policy noeviction`, which is
/// the default), and must support RESP3. In a cluster, keys with the same second part are on the same
/// server; log, mark and topic of one [`append`](Backend::append) must have the same second part.
#[derive(Clone)]
pub struct Redis {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<Link>,
    /// For writes that wait for replicas or the disk: until then the database runs nothing else that
    /// comes on the same connection.
    waiting_writes: Arc<Link>,
    listeners: Listeners,
    names: Names,
    limits: RedisLimits,
    renewals: Arc<Renewals>,
}

impl Redis {
    /// Connects to the database that a URL names, and checks that it is fit to be a store.
    ///
    /// The URL is `redis://user:password@host:port/database`, with `rediss` for TLS. All but the host
    /// may be left out. For a cluster, name any of its servers. Several hosts, separated by commas, are
    /// tried in turn; one that does not answer in its share of the time, or is a replica, is skipped.
    ///
    /// Call it in a tokio runtime that lives as long as the store.
    ///
    /// # Errors
    ///
    /// If the URL is invalid, if the database cannot be reached or refuses the password, if it is older
    /// than Redis 7.0, if it is a replica, or if it evicts keys when its memory is full.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::options(url).connect().await
    }

    /// As [`connect`](Self::connect), with the URL in the variable `BOWLINE_STORE_URL`, and the password
    /// in the file that `BOWLINE_STORE_PASSWORD_FILE` names, if it is set.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect), and if `BOWLINE_STORE_URL` is not set.
    pub async fn from_env() -> Result<Self> {
        RedisOptions::from_env()?.connect().await
    }

    /// Options for a connection to the database that a URL names.
    pub fn options(url: &str) -> RedisOptions {
        RedisOptions::new(url)
    }

    pub(crate) async fn open(options: RedisOptions) -> Result<Self> {
        let (names, limits) = (Names::new(&options.prefix), options.limits.clone());
        let server = Arc::new(Server::new(options)?);
        let renewals = Arc::new(Renewals::default());
        let link = || {
            let renewals = renewals.clone();
            let handler: PushHandler = Arc::new(move |info| {
                if info.kind == PushKind::Disconnection {
                    renewals.clear();
                }
            });
            Link::new(server.clone(), handler)
        };
        let (link, waiting_writes) = (Arc::new(link()), Arc::new(link().confirmed()));
        let listeners = Listeners::new(server);
        let inner = Inner { link, waiting_writes, listeners, names, limits, renewals };
        let store = Self { inner: Arc::new(inner) };
        store
            .inner
            .link
            .connection()
            .await
            .map_err(|failure| store.error("open a store", failure))?;
        Ok(store)
    }

    fn error(&self, operation: &str, failure: Failure) -> Error {
        failure.into_error(operation, &self.inner.link.server().place)
    }

    async fn read_request(&self, operation: &str, request: Request) -> Result<Value> {
        let sent = self.inner.link.send(request, AfterLoss::Repeat).await;
        Ok(sent.map_err(|failure| self.error(operation, failure))?.value)
    }

    async fn read_value(&self, operation: &str, key: &Key) -> Result<Option<Entry>> {
        let command = cmd("GET").arg(self.name(Kind::Value, key)).to_owned();
        let value = self.read_request(operation, Request::Command(command)).await?;
        self.entry(operation, value)
    }

    async fn write_request(
        &self,
        operation: &str,
        request: Request,
        after_loss: AfterLoss,
    ) -> Result<Reply> {
        let link = match self.inner.link.server().durability() {
            RedisDurability::Memory => &self.inner.link,
            RedisDurability::Replicated(_) | RedisDurability::Fsync => &self.inner.waiting_writes,
        };
        let sent = link.send(request, after_loss).await;
        sent.map_err(|failure| self.error(operation, failure))
    }

    /// A write whose reply was lost, and of which it cannot be known whether it took effect.
    fn lost(&self, operation: &str) -> Error {
        let reason = "the reply was lost, and it is not known whether it took effect";
        self.error(operation, Failure::Unfit(reason.to_owned()))
    }

    fn name(&self, kind: Kind, key: &Key) -> String {
        self.inner.names.of(kind, key)
    }

    /// Sets a value whatever there is. The reply tells nothing, so if it is lost, the value does.
    async fn set(&self, key: &Key, value: &Bytes, expiry: u64) -> Result<Written> {
        let (name, head) = (self.name(Kind::Value, key), random()?);
        let command = if expiry == 0 {
            cmd("UNLINK").arg(&name).to_owned()
        } else {
            cmd("SET").arg(&name).arg(with_head(&head, value)).arg("PX").arg(expiry).to_owned()
        };
        let after_loss = AfterLoss::Send(look(&name, &head, expiry));
        let reply = self.write_request("put", Request::Command(command), after_loss).await?;
        if reply.is_second && reply.value != Value::Int(1) {
            return Err(self.lost("put"));
        }
        Ok(Written::Yes(version(&head)))
    }

    async fn compare_and_set(
        &self,
        key: &Key,
        value: &Bytes,
        expiry: u64,
        expected: Option<Version>,
    ) -> Result<Written> {
        let (name, head) = (self.name(Kind::Value, key), random()?);
        let expected = expected.map(|version| version.0.to_be_bytes());
        let request = || {
            let mut arguments = Cmd::new();
            arguments.arg(1).arg(&name).arg(&head).arg(&**value).arg(expiry);
            arguments.arg(expected.as_ref().map_or(&[][..], |version| version));
            Request::Script(&PUT, arguments)
        };
        // A version never comes back, so setting it again has no second effect. But a value that is
        // absent may have been there in between.
        let after_loss = match expected {
            Some(_) => AfterLoss::Repeat,
            None => AfterLoss::Send(look(&name, &head, expiry)),
        };
        let reply = self.write_request("put", request(), after_loss).await?;
        match reply.value {
            Value::Int(1) => Ok(Written::Yes(version(&head))),
            _ if reply.is_second => Err(self.lost("put")),
            _ => Ok(Written::Conflict),
        }
    }

    /// The arguments of [`APPEND`].
    fn append_request(&self, log: &Key, item: &NewItem, heads: &[Vec<u8>; 2]) -> Request {
        let limits = &self.inner.limits;
        let mut arguments = Cmd::new();
        arguments.arg(1 + usize::from(item.mark.is_some())).arg(self.name(Kind::Log, log));
        if let Some(mark) = &item.mark {
            arguments.arg(self.name(Kind::Value, &mark.key));
        }
        arguments.arg(&heads[0]).arg(item.value.as_deref().unwrap_or_default());
        arguments.arg(milliseconds(item.expiry));
        arguments.arg(item.above.0).arg(limits.log_bytes).arg(limits.log_items);
        match &item.tell {
            Some((topic, value)) => arguments.arg(self.name(Kind::Topic, topic)).arg(&**value),
            None => arguments.arg("").arg(""),
        };
        let (step, owner) = match &item.mark {
            Some(Mark { step: MarkStep::Begin, owner, .. }) => ("begin", &**owner),
            Some(Mark { step: MarkStep::Continue, owner, .. }) => ("continue", &**owner),
            Some(Mark { step: MarkStep::End, owner, .. }) => ("end", &**owner),
            None => ("", &[][..]),
        };
        arguments.arg(step).arg(owner).arg(&heads[1]).arg(u8::from(item.value.is_some()));
        Request::Script(&APPEND, arguments)
    }

    /// What to do when the reply of an append is lost. Its token shows whether the item is there. To
    /// keep a log twice is harmless, but not to set a mark, or to look for one that is gone.
    fn after_lost_append(&self, log: &Key, item: &NewItem, token: &[u8]) -> AfterLoss {
        let step = item.mark.as_ref().map(|mark| mark.step);
        match (&item.value, step) {
            (None, None | Some(MarkStep::Continue)) => AfterLoss::Repeat,
            (None, Some(MarkStep::Begin | MarkStep::End)) => AfterLoss::Fail,
            (Some(_), _) => {
                let mut arguments = Cmd::new();
                arguments.arg(1).arg(self.name(Kind::Log, log)).arg(token);
                arguments.arg(milliseconds(item.expiry));
                AfterLoss::Send(Request::Script(&FIND, arguments))
            }
        }
    }

    async fn append_item(&self, log: &Key, item: &NewItem) -> Result<Appended> {
        let topic = item.tell.as_ref().map(|(topic, _)| topic);
        let others = item.mark.as_ref().map(|mark| &mark.key).into_iter().chain(topic);
        if others.into_iter().any(|other| !are_together(log, other)) {
            return Err(Error::new(
                "cannot append in Redis: the keys of a log, its mark and its topic must have the \
                 same second part, so that a cluster keeps them on one server",
            ));
        }
        if item.above.0 > LAST_POSITION {
            return Err(Error::new("cannot append in Redis: the position is too large"));
        }
        let heads = [random()?, random()?];
        let after_loss = self.after_lost_append(log, item, &heads[0]);
        let request = self.append_request(log, item, &heads);
        match self.write_request("append", request, after_loss).await?.value {
            Value::Int(FENCED) => Ok(Appended::Fenced),
            Value::Int(NOT_FOUND) => Err(self.lost("append")),
            Value::Int(position) => Ok(Appended::At(Position(position.unsigned_abs()))),
            other => Err(self.unexpected("append", &other)),
        }
    }

    /// Reads the keys of every primary. For maintenance: it takes as long as there are keys.
    async fn scan_all(&self, prefix: &Key, after: Option<&Key>) -> Scanned {
        let connection = self.inner.link.connection().await?;
        let mut found = BTreeSet::new();
        let pattern = self.inner.names.pattern(prefix);
        for (place, _) in connection.ask_all::<String>(cmd("INFO").arg("server")).await? {
            let mut cursor = "0".to_owned();
            loop {
                let mut command = cmd("SCAN");
                command.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(1000);
                command.arg("TYPE").arg("string");
                let page = connection.ask_at(&place, &command).await?;
                let (next, names): (String, Vec<String>) =
                    redis::from_redis_value(page).map_err(redis::RedisError::from)?;
                let keys = names.iter().filter_map(|name| self.inner.names.key(name));
                found.extend(keys.filter(|key| {
                    key.as_str().starts_with(prefix.as_str())
                        && after.is_none_or(|after| key > after)
                }));
                if next == "0" {
                    break;
                }
                cursor = next;
            }
        }
        Ok(found)
    }

    fn unexpected(&self, operation: &str, value: &Value) -> Error {
        // Without its content, which may be a secret.
        let kind = match value {
            Value::Nil => "nothing",
            Value::Int(_) => "a number",
            Value::Array(_) => "an array",
            _ => "another type",
        };
        self.error(operation, Failure::Unfit(format!("it answered with {kind}")))
    }

    fn entry(&self, operation: &str, value: Value) -> Result<Option<Entry>> {
        match value {
            Value::Nil => Ok(None),
            Value::BulkString(stored) if stored.len() >= HEAD => {
                let version = version(&stored);
                Ok(Some(Entry { value: Bytes::from(stored).slice(HEAD..), version }))
            }
            other => Err(self.unexpected(operation, &other)),
        }
    }

    fn slice(&self, value: Value) -> Result<LogSlice> {
        let Value::Array(parts) = value else { return Err(self.unexpected("read", &value)) };
        let mut parts = parts.into_iter();
        let mut number = || match parts.next() {
            Some(Value::Int(number)) => Ok(number.unsigned_abs()),
            _ => Err(self.unexpected("read", &Value::Nil)),
        };
        let (oldest, next, first) = (Position(number()?), Position(number()?), number()?);
        let item = |(position, part)| match part {
            Value::BulkString(stored) if stored.len() >= HEAD => Ok(LogItem {
                position: Position(position),
                value: Bytes::from(stored).slice(HEAD..),
            }),
            other => Err(self.unexpected("read", &other)),
        };
        let items = (first..).zip(parts).map(item).collect::<Result<_>>()?;
        Ok(LogSlice { oldest, next, items })
    }
}

impl RedisOptions {
    /// Connects, and checks that the database is fit to be a store.
    ///
    /// # Errors
    ///
    /// As [`Redis::connect`].
    pub async fn connect(self) -> Result<Redis> {
        Redis::open(self).await
    }
}

impl fmt::Debug for Redis {
    /// Its hosts, without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("hosts", &self.inner.link.server().place)
            .finish_non_exhaustive()
    }
}

impl Backend for Redis {
    fn longest_value(&self) -> Option<usize> {
        Some(self.inner.limits.value_bytes)
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.read_value("get", key))
    }

    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            let began = Instant::now();
            if let Some(version) = self.inner.renewals.recent(key, expiry, began) {
                let entry = self.read_value("renew", key).await?;
                if entry.as_ref().is_none_or(|entry| entry.version == version) {
                    return Ok(entry);
                }
            }
            let mut arguments = Cmd::new();
            arguments.arg(1).arg(self.name(Kind::Value, key)).arg(milliseconds(expiry));
            let value = self.read_request("renew", Request::Script(&RENEW, arguments)).await?;
            let entry = self.entry("renew", value)?;
            if let Some(entry) = &entry {
                self.inner.renewals.note(key, entry.version, expiry, began);
            }
            Ok(entry)
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        Box::pin(async move {
            let most = self.inner.limits.value_bytes;
            if value.len() > most {
                return Err(Error::new(format!(
                    "cannot put in Redis: the value has {} bytes, and at most {most} are allowed",
                    value.len()
                )));
            }
            let began = Instant::now();
            let written = match expect {
                Expect::Anything => self.set(key, &value, milliseconds(expiry)).await?,
                Expect::Absent => {
                    self.compare_and_set(key, &value, milliseconds(expiry), None).await?
                }
                Expect::Version(version) => {
                    self.compare_and_set(key, &value, milliseconds(expiry), Some(version)).await?
                }
            };
            if let Written::Yes(version) = written {
                self.inner.renewals.note(key, version, expiry, began);
            }
            Ok(written)
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let mut command = cmd("UNLINK");
            command.arg(self.name(Kind::Value, key)).arg(self.name(Kind::Log, key));
            // Not repeated: the second reply would tell nothing of the first.
            let request = Request::Command(command);
            match self.write_request("delete", request, AfterLoss::Fail).await?.value {
                Value::Int(count) => Ok(count > 0),
                other => Err(self.unexpected("delete", &other)),
            }
        })
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move {
            let found = tokio::time::timeout(SCAN, self.scan_all(prefix, after)).await;
            let found = found.unwrap_or(Err(Failure::Late(SCAN)));
            let found = found.map_err(|failure| self.error("scan", failure))?;
            Ok(found.into_iter().take(limit).collect())
        })
    }

    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(async move { self.append_item(log, &item).await })
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        Box::pin(async move {
            let mut arguments = Cmd::new();
            arguments.arg(1).arg(self.name(Kind::Log, log));
            arguments.arg(after.0.min(LAST_POSITION)).arg(limit.min(1 << 20));
            let value = self.read_request("read", Request::Script(&READ, arguments)).await?;
            self.slice(value)
        })
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let command =
                cmd("SPUBLISH").arg(self.name(Kind::Topic, topic)).arg(&*value).to_owned();
            let request = Request::Command(command);
            // Listeners are those of now, so nothing has to wait for replicas or a disk.
            let sent = self.inner.link.send(request, AfterLoss::Fail).await;
            sent.map(drop).map_err(|failure| self.error("publish", failure))
        })
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        Box::pin(async move {
            let listening = self.inner.listeners.listen(self.name(Kind::Topic, topic)).await;
            listening.map_err(|failure| self.error("listen", failure))
        })
    }
}

/// Finds out whether a value has the version that it was sent with.
fn look(name: &str, head: &[u8], expiry: u64) -> Request {
    let mut arguments = Cmd::new();
    arguments.arg(1).arg(name).arg(head).arg(expiry);
    Request::Script(&LOOK, arguments)
}

/// A part of a millisecond counts as a whole one: an entry never expires before its time.
fn milliseconds(expiry: Duration) -> u64 {
    u64::try_from(expiry.as_nanos().div_ceil(1_000_000)).unwrap_or(FOREVER).min(FOREVER)
}

/// A version or a token.
fn random() -> Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    getrandom::fill(&mut head)
        .map_err(|error| Error::new(format!("the system has no random numbers: {error}")))?;
    Ok(head)
}

fn version(stored: &[u8]) -> Version {
    let head = stored.first_chunk().copied().unwrap_or_default();
    Version(u64::from_be_bytes(head))
}

fn with_head(head: &[u8], value: &[u8]) -> Vec<u8> {
    [head, value].concat()
}
