//! What a built server shares with all of its calls.

use std::sync::Arc;

use bowline_proto::limits::Limits;

use crate::seal::Sealer;
use crate::states::States;

/// What a built server shares with all of its calls.
pub(crate) struct ServerShared {
    /// What the server was given with `.state(..)`.
    pub(crate) states: States,
    /// The [`Registry`](crate::Registry) and the [`Notify`](crate::Notify) of the server, for their
    /// extractors. By type, so that calls do not depend on the features in the registry.
    pub(crate) handles: States,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) limits: Limits,
    /// Whether clients may reuse results only for the caller that they were sent to.
    pub(crate) is_private: bool,
}
