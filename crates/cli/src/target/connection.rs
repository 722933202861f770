//! Connects to a target, with a stored login if there is one.

use std::time::Duration;

use bowline::Client;
use bowline::client::{ClientBuilder, Error, Result as ClientResult};
use bowline_types::revision::Revision;

use super::{Place, Target};
use crate::exit::{Exit, Failure};
use crate::logins::{self, Credential};
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

    /// Connects with this configuration. A stored login is used, and no page is opened.
    ///
    /// # Errors
    ///
    /// If the server cannot be started or reached, or demands authorization.
    pub(crate) async fn connect(self, builder: ClientBuilder) -> Result<Client, Failure> {
        let credential = match &self.place {
            Place::Url(url) => logins::stored(&self.label, url, &self.headers, &self.login)?,
            Place::Command(_) => None,
        };
        self.connect_with(builder, credential).await
    }

    /// The same, with this much time for everything.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect), or if the time is over.
    pub(crate) async fn connect_within(
        self,
        patience: Duration,
        builder: ClientBuilder,
    ) -> Result<Client, Failure> {
        let noise = self.watch.noise.clone();
        let connected = tokio::time::timeout(patience, self.connect(builder)).await;
        connected.unwrap_or_else(|_| {
            Err(noise.iter().fold(late(patience), |failure, noise| noise.explain(failure)))
        })
    }

    /// Adds the credential of a stored login to the headers, for commands that send requests of
    /// their own.
    ///
    /// # Errors
    ///
    /// If the stored logins cannot be read, or the token is bound to a key.
    pub(crate) async fn add_login_header(&mut self) -> Result<(), Failure> {
        let Place::Url(url) = &self.place else { return Ok(()) };
        let value = match logins::stored(&self.label, url, &self.headers, &self.login)? {
            None => return Ok(()),
            Some(Credential::Token(token)) => logins::bearer(&token),
            Some(Credential::Login(login)) => {
                if logins::status(&login).await?.is_some_and(|status| status.is_bound) {
                    let text = "the login is bound to a key (DPoP), which this command cannot use";
                    return Err(Failure::new(Exit::Unauthorized, text));
                }
                let headers = login.headers().await.map_err(|error| logins::unusable(&error))?;
                match headers.get("authorization").and_then(|value| value.to_str().ok()) {
                    Some(value) => value.to_owned(),
                    None => return Ok(()),
                }
            }
        };
        self.headers.push(("Authorization".to_owned(), value));
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
        credential: Option<Credential>,
    ) -> Result<Client, Failure> {
        let (login, watch, revisions) =
            (self.login.clone(), self.watch.clone(), self.revisions.clone());
        self.open(watch.clone().begin(builder), credential).await.map_err(|error| {
            let failure = explained(error, &revisions);
            let failure = watch.noise.iter().fold(failure, |it, noise| noise.explain(it));
            login.explain(failure)
        })
    }

    async fn open(
        self,
        builder: ClientBuilder,
        credential: Option<Credential>,
    ) -> ClientResult<Client> {
        let mut builder = builder.label(&self.label);
        if !self.revisions.is_empty() {
            builder = builder.revisions(self.revisions);
        }
        if let Some(bytes) = self.message.bytes() {
            builder = builder.longest_message(bytes);
        }
        match self.place {
            // Boxed: what a connection needs until it stands is many times what a command needs.
            Place::Command(command) => Box::pin(builder.connect(command)).await,
            Place::Url(url) => {
                let with = |builder: ClientBuilder<_>, (name, value): &(String, String)| {
                    builder.header(name, value)
                };
                let http = self.headers.iter().fold(builder.http(url), with);
                let http = match credential {
                    None => http,
                    Some(Credential::Login(login)) => http.auth(login),
                    Some(Credential::Token(token)) => {
                        http.header("Authorization", &logins::bearer(&token))
                    }
                };
                Box::pin(http.connect()).await
            }
        }
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
