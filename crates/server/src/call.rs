//! One call, as extractors see it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bowline_proto::limits::Limits;
use bowline_proto::request::{Outgoing, Parts, Request};
use bytes::Bytes;

use crate::contract::Contract;
use crate::error::Result;
use crate::extract::{Rounds, States};
use crate::seal::Sealer;
use crate::sync::Signal;

/// One call: everything that extractors take their values from. Cheap to clone.
#[derive(Clone)]
pub struct Call(Arc<Inner>);

struct Inner {
    parts: Parts,
    feature: Called,
    kit: Arc<Kit>,
    /// The answers so far, once somebody asks where asking means to run again (2026-07-28).
    rounds: OnceLock<Rounds>,
    /// Raised when the call is over, however it ended.
    over: Signal,
}

/// What is called, and with what.
pub(crate) struct Called {
    pub(crate) name: Arc<str>,
    pub(crate) arguments: Bytes,
    pub(crate) contract: Arc<Contract>,
}

/// What a server gives each of its calls.
pub(crate) struct Kit {
    pub(crate) states: States,
    pub(crate) sealer: Sealer,
    pub(crate) limits: Limits,
}

impl Call {
    pub(crate) fn new(request: Request, feature: Called, kit: Arc<Kit>) -> Self {
        let (rounds, over) = Default::default();
        Self(Arc::new(Inner { parts: request.parts, feature, kit, rounds, over }))
    }

    /// Everything about the request but its params.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// The name of the tool that is called.
    pub fn name(&self) -> &str {
        &self.0.feature.name
    }

    /// The JSON text of the arguments: always an object.
    pub fn arguments(&self) -> &[u8] {
        &self.0.feature.arguments
    }

    /// What the server was given as state of this type.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.kit.states.get()
    }

    pub(crate) fn contract(&self) -> &Contract {
        &self.0.feature.contract
    }

    pub(crate) fn kit(&self) -> &Kit {
        &self.0.kit
    }

    pub(crate) fn rounds(&self) -> Option<&Rounds> {
        self.0.rounds.get()
    }

    /// Makes sure that there are answers so far, if only none.
    pub(crate) fn begin_rounds(&self) -> Result<()> {
        if self.rounds().is_none() {
            self.set_rounds(Rounds::first()?);
        }
        Ok(())
    }

    /// Takes the answers so far, unless somebody else has begun to ask meanwhile.
    pub(crate) fn set_rounds(&self, rounds: Rounds) {
        _ = self.0.rounds.set(rounds);
    }

    /// Says something that may get lost, unless the call is over.
    pub(crate) fn mention(&self, outgoing: Outgoing) {
        if !self.over().is_raised() {
            _ = self.parts().outbox.emit(outgoing);
        }
    }

    pub(crate) fn over(&self) -> &Signal {
        &self.0.over
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("name", &self.name()).field("parts", self.parts()).finish()
    }
}
