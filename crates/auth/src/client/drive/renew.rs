//! Renews tokens, and ends logins.
//!
//! Several programs may have the same record. So a renewal takes the lock of the record, reads the
//! record again, and replaces only the version that it read. A refresh token is never used twice.

use std::sync::Arc;

use bowline_proto::sync::lock;

use super::single_flight::{FlightKind, run_once};
use super::{Authorizer, Held, Holding, Shared};
use crate::challenge::Challenge;
use crate::client::discover::{ResourceSearch, Step, Target};
use crate::client::moment::Moment;
use crate::client::plan::Grant;
use crate::client::record::{Record, Registered};
use crate::client::refresh::{Refresh, Renewal, revocations};
use crate::client::store::StoredRecord;
use crate::error::Error;

/// The most requests of one renewal: the first, and one with a nonce.
const MOST_REQUESTS: usize = 2;

impl Authorizer {
    /// Renews a token that expires soon: with its refresh token, or by a new login of a program.
    pub(super) async fn renew(&self, held: &Arc<Held>) -> Result<(), Error> {
        if !matches!(self.0.plan.grant, Grant::Code(_)) {
            let scopes = held.tokens().map(|tokens| tokens.scopes.clone());
            let document = lock(&self.0.document).clone();
            let challenge =
                document.map(|it| Challenge::new("Bearer").with("resource_metadata", &it));
            return self.log_in(challenge, scopes.unwrap_or_default()).await.map(|_| ());
        }
        let (shared, seen) = (self.0.clone(), held.clone());
        let key = self.0.flight_key(FlightKind::Renewal);
        run_once(key, || async move { shared.refresh(&seen).await }).await.map(|_| ())
    }

    /// The server refused a token. Renews it, if the server still names its issuer. Says whether there
    /// is a new token.
    pub(super) async fn renew_after_refusal(
        &self,
        challenge: Option<&Challenge>,
        held: &Arc<Held>,
    ) -> Result<bool, Error> {
        if !matches!(self.0.plan.grant, Grant::Code(_)) {
            return Ok(false);
        }
        let target = self.0.reread(challenge).await?;
        let record = &held.record;
        let is_same = target.issuers.iter().any(|issuer| issuer == record.server.issuer())
            && target.resource == record.resource;
        if !is_same {
            return Ok(false);
        }
        let (shared, seen) = (self.0.clone(), held.clone());
        let key = self.0.flight_key(FlightKind::Renewal);
        run_once(key, || async move { shared.refresh(&seen).await }).await?;
        let renewed = self.held().await?;
        Ok(renewed.is_some_and(|it| it.version != held.version && it.tokens().is_some()))
    }

    /// Ends the login: revokes its tokens at the authorization server, and deletes the record whatever
    /// the server answers.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn logout(&self) -> Result<(), Error> {
        let shared = &self.0;
        shared.logins.forget();
        let Some(held) = shared.load().await? else {
            shared.hold(None);
            return Ok(());
        };
        let _lock = shared.store().lock(&held.key).await?;
        // A renewal may have ended just before the lock was taken.
        if let Some(held) = shared.load().await? {
            let requests = revocations(&shared.plan, &held.record, &Moment::of_system()?);
            for request in requests.unwrap_or_default() {
                let _ = shared.fetcher.fetch(request).await;
            }
            shared.delete(&held).await?;
        }
        shared.hold(None);
        Ok(())
    }
}

impl Shared {
    /// Reads the document of the MCP server again.
    async fn reread(&self, challenge: Option<&Challenge>) -> Result<Target, Error> {
        let mut search = ResourceSearch::new(&self.mcp, challenge)?;
        let mut step = search.begin();
        loop {
            step = match step {
                Step::Fetch(request) => search.read(self.fetcher.fetch(*request).await)?,
                Step::Found(target) => return Ok(target),
                Step::Absent => return Ok(Target::origin(&self.mcp)),
            };
        }
    }

    /// Renews a record with its refresh token, unless another program has done so meanwhile.
    async fn refresh(&self, seen: &Held) -> Result<(), Error> {
        let _lock = self.store().lock(&seen.key).await?;
        let Some(current) = self.adopt(seen).await? else {
            return Err(Error::visit("another program ended the login"));
        };
        if current.version != seen.version {
            return Ok(());
        }
        let Some(mut refresh) = Refresh::new(&self.plan, &current.record) else {
            return Err(Error::visit("the login has no refresh token"));
        };
        for _ in 0..MOST_REQUESTS {
            let moment = Moment::of_system()?;
            let answer = self.fetcher.fetch(refresh.request(&moment)?).await?;
            match refresh.read(&answer, &moment)? {
                Renewal::Done(record) => return self.replace(&current, *record).await,
                Renewal::Repeat => {}
                Renewal::Spent(error) => {
                    let client = current.record.client.clone();
                    return self.forget(&current, client, error).await;
                }
                // The next login registers anew.
                Renewal::Unknown(error) => return self.forget(&current, None, error).await,
            }
        }
        Err(Error::visit("the authorization server keeps asking for another nonce"))
    }

    /// Reads a record again and holds it.
    async fn adopt(&self, seen: &Held) -> Result<Option<Arc<Held>>, Error> {
        let Some(issuer) = seen.key.issuer() else { return Ok(None) };
        let current = self.load_record(issuer, seen.key.resource()).await?.map(Arc::new);
        self.hold(current.clone());
        Ok(current)
    }

    /// Replaces the record that was read. If another program replaced it, that one counts.
    async fn replace(&self, current: &Held, record: Record) -> Result<(), Error> {
        let version = Moment::of_system()?.number("version");
        let stored = StoredRecord { version, text: record.to_text()? };
        let key = current.key.clone();
        if self.store().swap(&key, Some(current.version), Some(stored)).await? {
            self.hold(Some(Arc::new(Held { key, version, record })));
            return Ok(());
        }
        self.adopt(current).await.map(|_| ())
    }

    /// Forgets tokens that cannot be renewed, and keeps this registration. If another program has
    /// replaced them, its tokens are used: it was that program that spent the refresh token.
    async fn forget(
        &self,
        current: &Held,
        client: Option<Registered>,
        error: Error,
    ) -> Result<(), Error> {
        let record = Record { tokens: None, client, ..current.record.clone() };
        self.replace(current, record).await?;
        let held = lock(&self.held).clone();
        match held {
            Holding::Held(held) if held.tokens().is_some() => Ok(()),
            _ => Err(error),
        }
    }

    async fn delete(&self, held: &Held) -> Result<(), Error> {
        self.store().swap(&held.key, Some(held.version), None).await?;
        if let Some(pointer) = self.store().load(&self.pointer).await? {
            self.store().swap(&self.pointer, Some(pointer.version), None).await?;
        }
        Ok(())
    }
}
