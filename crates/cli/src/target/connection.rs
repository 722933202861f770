//! Connects to a target, with a stored login if there is one.

use std::time::Duration;

use bowline::Client;
use bowline::client::{ClientBuilder, Error};
use bowline_gateway::ServerCredential;
use bowline_gateway::config::Launch;
use bowline_transport::child::Stderr;
use bowline_types::revision::Revision;

use super::Target;
use crate::exit::Failure;
use crate::logins::TargetLogin;
use crate::print::text;
use crate::request::late;
use crate::wire::Trace;

impl Target {
    /// Shows the messages of its connections in a trace, if there is one.
    #[must_use]
    pub(crate) fn traced(mut self, trace: Option<Trace>) -> Self {
        self.watch.trace = trace;
        self
    }

    /// Where the standard error of a command goes.
    pub(crate) fn stderr_of_child(&self) -> Stderr {
        if self.watch.is_verbose { Stderr::Inherit } else { Stderr::default() }
    }

    /// Connects with this configuration. A stored login is used, and no page is opened. Returns the
    /// login too, which explains later failures.
    ///
    /// # Errors
    ///
    /// If the server cannot be started or reached, or demands authorization.
    pub(crate) async fn connect(
        self,
        builder: ClientBuilder,
    ) -> Result<(Client, TargetLogin), Failure> {
        let login = TargetLogin::of(&self.label, &self.launch)?;
        match self.connect_with(builder, login.credential()).await {
            Ok(client) => Ok((client, login)),
            Err(failure) => Err(login.explain(failure)),
        }
    }

    /// The same, with this much time for everything.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect), or if the time is over.
    pub(crate) async fn connect_within(
        self,
        timeout: Duration,
        builder: ClientBuilder,
    ) -> Result<(Client, TargetLogin), Failure> {
        let noise = self.watch.noise.clone();
        let connected = tokio::time::timeout(timeout, self.connect(builder)).await;
        connected.unwrap_or_else(|_| {
            Err(noise.iter().fold(late(timeout), |failure, noise| noise.explain(failure)))
        })
    }

    /// Adds the credential of a stored login to the headers, for commands that send requests of
    /// their own.
    ///
    /// # Errors
    ///
    /// If the stored logins cannot be read, or the token is bound to a key.
    pub(crate) async fn add_login_header(&mut self) -> Result<(), Failure> {
        let login = TargetLogin::of(&self.label, &self.launch)?;
        let (Launch::Http(launch), Some(value)) = (&mut self.launch, login.header().await?) else {
            return Ok(());
        };
        launch.headers.push(("Authorization".to_owned(), value));
        Ok(())
    }

    /// Connects with this credential.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub(crate) async fn connect_with(
        self,
        builder: ClientBuilder,
        credential: Option<ServerCredential>,
    ) -> Result<Client, Failure> {
        let mut builder = self.watch.clone().begin(builder).label(&self.label);
        if !self.revisions.is_empty() {
            builder = builder.revisions(self.revisions.iter().copied());
        }
        if let Some(bytes) = self.message.bytes() {
            builder = builder.longest_message(bytes);
        }
        self.launch.connect(builder, credential, self.stderr_of_child()).await.map_err(|error| {
            let failure = explained(error, &self.revisions);
            self.watch.noise.iter().fold(failure, |it, noise| noise.explain(it))
        })
    }
}

/// The failure to connect; names the option if it left out the revisions of the server.
fn explained(error: Error, revisions: &[Revision]) -> Failure {
    let is_left_out = error.is_other_revision() && !revisions.is_empty();
    let failure = Failure::from(error);
    if !is_left_out {
        return failure;
    }
    let named: Vec<String> = revisions.iter().map(|it| format!("--revision {it}")).collect();
    failure.hint(text!("`{}` leaves out the revisions of this server", named.join(" ")))
}
