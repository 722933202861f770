//! Checks the visitors of web pages that handlers sent users to.

use bowline_proto::request::Owner;

use super::Server;
use crate::extract::ticket_admits;

impl Server {
    /// Whether a ticket belongs to the visitor of a page, who was asked to visit it. `visitor` is the
    /// signed-in user of the page, as known to the issuer that also authenticates callers. A ticket
    /// expires after [`state_expiry`](Self::state_expiry).
    ///
    /// Callers without credentials are all the same [`Owner`], for example over standard input and
    /// output.
    pub fn admits(&self, ticket: &str, visitor: &Owner) -> bool {
        self.build().is_ok_and(|service| ticket_admits(service.sealer(), ticket, visitor))
    }
}
