//! Errors that say what failed, where and what to do.
//!
//! They never name a key, because the id of a session is a credential, nor the URL.

use std::time::Duration;

use bowline_store::backend::Error;
use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::breaker::Pause;

/// Why an operation failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The database answered with an error, or the client library did.
    Redis(RedisError),
    /// There was no answer in time.
    Late(Duration),
    /// The connection failed before it was sent.
    Unsent,
    /// The database is left alone for a while, because it did not answer before.
    Pause(Pause),
    /// The server is a replica, and takes no writes.
    Replica(String),
    /// The database is not fit to be a store, or the options are wrong.
    Unfit(String),
}

/// What a failed attempt means for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The database has not run it, and may run it a moment later.
    Refused,
    /// The database has not got it, and may run it at once.
    Unsent,
    /// The database does not know the script.
    UnknownScript,
    /// It may have taken effect.
    Lost,
    /// It will fail again.
    Final,
}

impl Failure {
    pub(crate) fn verdict(&self) -> Verdict {
        let error = match self {
            Self::Redis(error) => error,
            Self::Late(_) => return Verdict::Lost,
            Self::Unsent => return Verdict::Unsent,
            Self::Replica(_) => return Verdict::Refused,
            Self::Pause(_) | Self::Unfit(_) => return Verdict::Final,
        };
        match error.kind() {
            ErrorKind::Server(ServerErrorKind::NoScript) => Verdict::UnknownScript,
            ErrorKind::Server(
                ServerErrorKind::Moved
                | ServerErrorKind::Ask
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::ReadOnly,
            )
            | ErrorKind::ClusterConnectionNotFound => Verdict::Refused,
            ErrorKind::Io | ErrorKind::Parse => Verdict::Lost,
            _ => Verdict::Final,
        }
    }

    /// Whether the database is out of reach, or in no state to answer.
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            // In a failover, no server is the primary for a while.
            Self::Late(_) | Self::Replica(_) => true,
            Self::Redis(error) => {
                let is_moving = matches!(
                    error.kind(),
                    ErrorKind::Server(
                        ServerErrorKind::Moved | ServerErrorKind::Ask | ServerErrorKind::TryAgain
                    )
                );
                !is_moving && matches!(self.verdict(), Verdict::Lost | Verdict::Refused)
            }
            // The operations that were sent know why.
            Self::Unsent | Self::Pause(_) | Self::Unfit(_) => false,
        }
    }

    /// The server that has the key already, while a cluster moves its slot.
    pub(crate) fn server_to_ask(&self) -> Option<String> {
        let Self::Redis(error) = self else { return None };
        let is_ask = error.kind() == ErrorKind::Server(ServerErrorKind::Ask);
        let (server, _) = error.redirect_node().filter(|_| is_ask)?;
        Some(server.to_owned())
    }

    /// Whether the connection is of no use any more.
    pub(crate) fn ends_connection(&self) -> bool {
        let error = match self {
            Self::Redis(error) => error,
            // It may be dead without a sign. And replies come in order: the next would wait as well.
            Self::Late(_) | Self::Unsent => return true,
            Self::Pause(_) | Self::Replica(_) | Self::Unfit(_) => return false,
        };
        let is_replica = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly);
        is_replica || error.is_unrecoverable_error()
    }

    /// What happened, and what to do.
    pub(crate) fn reason(&self) -> String {
        let fact = self.fact();
        self.advice().map_or(fact.clone(), |advice| format!("{fact}; {advice}"))
    }

    fn fact(&self) -> String {
        match self {
            Self::Redis(error) => error.to_string(),
            Self::Late(after) => format!("no answer within {} ms", after.as_millis()),
            Self::Unsent => "the connection failed before it was sent".to_owned(),
            Self::Pause(pause) => format!(
                "it failed several times ({}), the next attempt is in {} ms",
                pause.reason,
                pause.left.as_millis().max(1)
            ),
            Self::Replica(place) => format!("{place} is a replica, and takes no writes"),
            Self::Unfit(reason) => reason.clone(),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        let error = match self {
            Self::Redis(error) => error,
            Self::Replica(_) => return Some("name the primary"),
            Self::Late(_) | Self::Unsent | Self::Pause(_) | Self::Unfit(_) => return None,
        };
        let text = error.to_string();
        let code = error.code().unwrap_or_default();
        Some(match code {
            "OOM" => "the database is full: raise `maxmemory`, or lower the number of sessions",
            "NOAUTH" | "WRONGPASS" => "check the user and the password",
            "NOPERM" => {
                "allow the user `~bowline:* &bowline:* +@all`, or the command that is named"
            }
            "READONLY" => "this is a replica: name the primary",
            "LOADING" => "the database starts, and works when it has read its file",
            "CLUSTERDOWN" => "some slots of the cluster have no server",
            "MISCONF" => "the database cannot write its file: look at its log",
            _ if error.kind() == ErrorKind::AuthenticationFailed => {
                "check the user and the password"
            }
            _ if error.is_connection_refusal() => "is the database running, and the port right?",
            _ if text.contains("certificate") => {
                "the certificate is not trusted: name the file of its authority with `ca_file`"
            }
            _ => return None,
        })
    }

    /// As an error of the store.
    pub(crate) fn into_error(self, operation: &str, place: &str) -> Error {
        let text = format!("cannot {operation} in Redis at {place}: {}", self.reason());
        match self {
            Self::Redis(error) => Error::new(text).caused_by(error),
            _ => Error::new(text),
        }
    }
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}
