//! Proves to a web page which user its visitor is.
//!
//! An attacker who learns a URL can trick another person into opening it. So a page that accepts
//! input must know that its visitor is the user who was asked. A ticket is sealed like the state of
//! a call and bound to the caller: an attacker can neither forge nor change it, nor use the ticket of
//! another caller.

use std::time::SystemTime;

use bowline_proto::request::Owner;
use bowline_types::error::code;
use bowline_types::method::Method;
use bowline_types::read::ReadError;

use super::Ask;
use crate::error::{Error, Result};
use crate::seal::{Binding, Sealer};

impl Ask {
    /// A text to put into the URL of a page. The page gives it to [`Server::admits`](crate::Server::admits), which checks
    /// that the visitor is the user who was asked. The same in all rounds of a call.
    ///
    /// ```
    /// use bowline_server::{Ask, Result};
    ///
    /// async fn connect(ask: Ask) -> Result<&'static str> {
    ///     let ticket = ask.ticket().await?;
    ///     let url = format!("https://mail.example.com/connect?ticket={ticket}");
    ///     ask.url("Connect your mail", url).await?;
    ///     Ok("Tell me when you are done")
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub async fn ticket(&self) -> Result<String> {
        let seal = || async {
            let failed = |error: &dyn std::fmt::Display| {
                Error::rpc(code::INTERNAL_ERROR, format!("no ticket can be made: {error}"))
            };
            let binding = binding(&self.call.parts().owner).map_err(|error| failed(&error))?;
            let sealer = &self.call.shared().sealer;
            sealer.seal(&[], &binding, SystemTime::now()).map_err(|error| failed(&error))
        };
        self.once("the ticket of the visitor", seal).await
    }
}

/// Whether a ticket belongs to a visitor, and has not expired.
pub(crate) fn ticket_admits(sealer: &Sealer, ticket: &str, visitor: &Owner) -> bool {
    binding(visitor).is_ok_and(|binding| sealer.open(ticket, &binding, SystemTime::now()).is_ok())
}

/// What a ticket is bound to: nothing but its owner, and apart from the states of calls.
fn binding(owner: &Owner) -> Result<Binding, ReadError> {
    Binding::new(owner, Method::ElicitationCreate, "ticket", b"{}")
}
