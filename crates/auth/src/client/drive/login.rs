//! Runs the state machine of a login.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::sync::lock;
use tokio::time::{Instant, sleep};

use super::single_flight::{FlightKey, FlightKind, Role, run_once};
use super::{Authorizer, Held, Shared};
use crate::challenge::Challenge;
use crate::client::dpop::DpopKey;
use crate::client::flow::{Flow, Goal, Input, Output};
use crate::client::moment::Moment;
use crate::client::record::{Record, TokenKind};
use crate::client::store::{StoreKey, StoredRecord};
use crate::client::visit::PageVisit;
use crate::error::{Error, Kind};
use crate::scope::Scopes;
use crate::secret::Secret;

/// How long the user may take at the page.
const LONGEST_VISIT: Duration = Duration::from_secs(600);
/// The pause after an answer that does not belong to the login. Any page can send such answers, as
/// often as it likes, so they do not end the login; and the right one must not wait long behind them.
const FORGERY_PAUSE: Duration = Duration::from_millis(10);
/// How often a record is written again if another program wrote it meanwhile.
const MOST_WRITES: usize = 5;

impl Authorizer {
    /// Logs in, or waits for a login that is under way.
    pub(super) async fn log_in(
        &self,
        challenge: Option<Challenge>,
        granted: Scopes,
    ) -> Result<Role, Error> {
        self.log_in_at(challenge, granted, self.0.offers_origin).await
    }

    /// Logs in without waiting for a refusal of the MCP server. Asks for the scopes that a login has
    /// already, and for those of the plan.
    ///
    /// # Errors
    ///
    /// If the login fails, or the MCP server does not name its authorization server.
    pub async fn log_in_now(&self) -> Result<(), Error> {
        let held = self.0.reload().await?;
        let granted = held.as_ref().and_then(|it| it.tokens()).map(|it| it.scopes.clone());
        let document = lock(&self.0.document).clone();
        let challenge = document.map(|it| Challenge::new("Bearer").with("resource_metadata", &it));
        // A server that demands nothing and names no authorization server is not taken for its own.
        let offers_origin = self.0.offers_origin && granted.is_some();
        self.log_in_at(challenge, granted.unwrap_or_default(), offers_origin).await.map(drop)
    }

    async fn log_in_at(
        &self,
        challenge: Option<Challenge>,
        granted: Scopes,
        offers_origin: bool,
    ) -> Result<Role, Error> {
        let shared = self.0.clone();
        run_once(self.0.flight_key(FlightKind::Login), || async move {
            let goal = Goal { offers_origin, ..shared.goal(challenge, granted).await? };
            Login { shared: &shared, visit: None, deadline: Instant::now() }.run(goal).await
        })
        .await
    }
}

impl Shared {
    pub(super) fn flight_key(&self, kind: FlightKind) -> FlightKey {
        let store = Arc::as_ptr(&self.plan.store.store).cast::<()>().addr();
        (store, self.pointer.to_text(), kind)
    }

    async fn goal(&self, challenge: Option<Challenge>, granted: Scopes) -> Result<Goal, Error> {
        let assertion = match self.plan.grant.assertion() {
            Some(source) => Some((source.0)().await?),
            None => None,
        };
        let pointer = self.store().load(&self.pointer).await?;
        let issuer = pointer.as_ref().and_then(|it| it.text.expose().split_once(' '));
        let held = self.load().await.ok().flatten();
        let kind = held.as_ref().and_then(|held| held.tokens()).map(|tokens| tokens.kind);
        Ok(Goal {
            mcp: self.mcp.clone(),
            challenge,
            granted,
            pinned: issuer.map(|(issuer, _)| issuer.to_owned()),
            offers_origin: self.offers_origin,
            assertion,
            is_bound: kind == Some(TokenKind::DPoP),
            key: DpopKey::generate()?,
        })
    }

    /// Replaces a record, whatever version it has: a login is newer than all else.
    pub(super) async fn write(
        &self,
        key: &StoreKey,
        text: &Secret<String>,
        moment: &Moment,
    ) -> Result<u64, Error> {
        let version = moment.number("version");
        for _ in 0..MOST_WRITES {
            let seen = self.store().load(key).await?.map(|record| record.version);
            let record = StoredRecord { version, text: text.clone() };
            if self.store().swap(key, seen, Some(record)).await? {
                return Ok(version);
            }
        }
        Err(Error::store("other programs keep replacing the record"))
    }

    /// The record of the first issuer that has one. A record that cannot be read is as good as none.
    async fn recall(
        &self,
        resource: &str,
        issuers: &[String],
    ) -> Result<Option<Box<Record>>, Error> {
        for issuer in issuers {
            if let Ok(Some(held)) = self.load_record(issuer, resource).await {
                return Ok(Some(Box::new(held.record)));
            }
        }
        Ok(None)
    }

    /// Writes the record, remembers its issuer, and holds it.
    async fn keep(&self, record: Record, moment: &Moment) -> Result<(), Error> {
        let key = self.pointer.record(record.server.issuer(), &record.resource);
        let version = self.write(&key, &record.to_text()?, moment).await?;
        if record.tokens.is_some() {
            let pointer = format!("{} {}", record.server.issuer(), record.resource);
            self.write(&self.pointer, &Secret::new(pointer), moment).await?;
            self.hold(Some(Arc::new(Held { key, version, record })));
        }
        Ok(())
    }
}

/// One login.
struct Login<'a> {
    shared: &'a Shared,
    visit: Option<Box<dyn PageVisit>>,
    /// The end of the visit, however many forged answers come.
    deadline: Instant,
}

impl Login<'_> {
    async fn run(mut self, goal: Goal) -> Result<(), Error> {
        let mut flow = Flow::new(self.shared.plan.clone(), goal);
        let mut input = Input::Begin;
        loop {
            let moment = Moment::of_system()?;
            input = match flow.step(input, &moment) {
                Output::Fetch(request) => Input::Fetched(self.shared.fetcher.fetch(request).await),
                Output::Recall { resource, issuers } => {
                    Input::Recalled(self.shared.recall(&resource, &issuers).await?)
                }
                Output::Listen(port) => self.listen(port).await?,
                Output::Visit(page, redirect) => {
                    self.deadline = Instant::now() + LONGEST_VISIT;
                    self.visiting()?.show(&page, &redirect).await?;
                    self.answer().await?
                }
                Output::Await => {
                    sleep(FORGERY_PAUSE).await;
                    self.answer().await?
                }
                Output::Save(record) => {
                    self.shared.keep(*record, &moment).await?;
                    Input::Saved
                }
                Output::Done => {
                    self.shared.logins.succeeded();
                    return Ok(());
                }
                Output::Refused(error) => return Err(error),
            };
        }
    }

    async fn listen(&mut self, port: Option<u16>) -> Result<Input, Error> {
        let none = || Error::new(Kind::Visit, "there is no way to bring the user to a page");
        let visitor = self.shared.visitor.as_ref().ok_or_else(none)?;
        let visit = self.visit.insert(visitor.prepare(port).await?);
        Ok(Input::Listening(visit.redirect().clone()))
    }

    fn visiting(&mut self) -> Result<&mut Box<dyn PageVisit>, Error> {
        self.visit.as_mut().ok_or_else(|| Error::visit("no visit was prepared"))
    }

    async fn answer(&mut self) -> Result<Input, Error> {
        let answer = tokio::time::timeout_at(self.deadline, self.visiting()?.answer());
        match answer.await {
            Ok(answer) => Ok(answer?.map_or(Input::Abandoned, Input::Returned)),
            Err(_) => Ok(Input::Late),
        }
    }
}
