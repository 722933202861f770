//! An open connection to the server.

use std::sync::Arc;

use bowline_client::{Client, Relay};

use super::table::{Link, Problem};
use crate::server_description::ServerDescription;
use crate::unavailable::Unavailable;

/// An open connection to the server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) relay: Relay,
    pub(super) met: Arc<ServerDescription>,
}

/// The connection of a lane, or why there is none.
pub(super) type Linked = Result<Link<Connection>, Problem<Connection>>;

impl From<Problem<Connection>> for Unavailable {
    fn from(problem: Problem<Connection>) -> Self {
        match problem {
            Problem::NotStarted(why) => why,
            Problem::Ended(connection) => Self::ended(&connection.client),
        }
    }
}
