//! Whether the servers behind a gateway work, as far as their last calls tell, and why not.
//!
//! A merged list leaves out a server that fails, and callers hear no cause, which may hold addresses
//! and output of the server. So the operator hears of it here: when a server begins to fail, and when
//! it works again.

use std::fmt;
use std::sync::{Arc, Mutex};

use bowline_proto::request::{Request, Response};
use bowline_proto::sync::lock;
use bowline_proto::upstream::Upstream;
use bowline_types::error::{ErrorObject, code};
use bowline_types::method::Method;

use crate::lanes::Lanes;
use crate::layered::{UpstreamLayer, call};
use crate::refusal::{UpstreamFailure, is_list};
use crate::resource_owners::ResourceOwners;

/// A change of the health of a server behind a gateway. Both texts are for the operator: the cause
/// may hold addresses and output of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamChange<'a> {
    /// The server does not work, for this cause.
    Failing(&'a str),
    /// The server works again.
    Working,
}

/// Reports changes of the health of servers, by their names.
#[derive(Clone, Default)]
pub(crate) struct HealthReporter(Option<Arc<Report>>);

type Report = dyn Fn(&str, UpstreamChange<'_>) + Send + Sync;

impl HealthReporter {
    pub(crate) fn new(report: impl Fn(&str, UpstreamChange<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }
}

impl fmt::Debug for HealthReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HealthReporter").field(&self.0.is_some()).finish()
    }
}

/// The health of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Health(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: String,
    report: HealthReporter,
    failure: Mutex<Option<Failure>>,
}

#[derive(Clone, Debug)]
struct Failure {
    cause: String,
    /// The list that failed; `None` if the server does not run.
    list: Option<Method>,
}

impl Health {
    pub(crate) fn new(server: impl Into<String>, report: HealthReporter) -> Self {
        Self(Arc::new(Inner { server: server.into(), report, failure: Mutex::default() }))
    }

    /// Why the server does not work, as far as that is known.
    pub(crate) fn cause(&self, lanes: &Lanes) -> Option<String> {
        lanes.problem().or_else(|| lock(&self.0.failure).as_ref().map(|it| it.cause.clone()))
    }

    /// Notes how a call ended.
    pub(crate) fn note(&self, method: Method, response: &Response, lanes: &Lanes) {
        match response {
            Ok(_) => self.note_answer(method, lanes),
            Err(error) => {
                if let Some(failure) = failure(method, error, lanes) {
                    self.note_failure(failure);
                }
            }
        }
    }

    fn note_answer(&self, method: Method, lanes: &Lanes) {
        let mut failure = lock(&self.0.failure);
        let is_answered = |it: &Failure| match it.list {
            Some(list) => list == method,
            None => lanes.problem().is_none(),
        };
        if failure.as_ref().is_some_and(is_answered) {
            *failure = None;
            drop(failure);
            self.report(UpstreamChange::Working);
        }
    }

    fn note_failure(&self, failure: Failure) {
        let cause = failure.cause.clone();
        if lock(&self.0.failure).replace(failure).is_none() {
            self.report(UpstreamChange::Failing(&cause));
        }
    }

    fn report(&self, change: UpstreamChange<'_>) {
        if let Some(report) = &self.0.report.0 {
            report(&self.0.server, change);
        }
    }
}

/// What an error tells about its server. A list that fails is missing from the lists of the gateway;
/// errors of other calls may be the caller's.
fn failure(method: Method, error: &ErrorObject, lanes: &Lanes) -> Option<Failure> {
    let is_of_gateway = || error.parse_data::<UpstreamFailure>().is_some();
    let problem = lanes.problem().filter(|_| is_of_gateway());
    if let Some(cause) = problem {
        return Some(Failure { cause, list: None });
    }
    let is_of_caller = matches!(error.code, code::METHOD_NOT_FOUND | code::INVALID_PARAMS);
    let is_missing = is_list(method) && !is_of_caller;
    is_missing.then(|| Failure { cause: error.message.to_string(), list: Some(method) })
}

/// Notes the health of an upstream, and compares its resources with those of others. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct HealthMonitor {
    lanes: Lanes,
    health: Health,
    /// With the place of this server among the others.
    owners: (Arc<ResourceOwners>, usize),
}

impl HealthMonitor {
    pub(crate) fn new(
        (lanes, health): (Lanes, Health),
        owners: (Arc<ResourceOwners>, usize),
    ) -> Self {
        Self { lanes, health, owners }
    }
}

impl UpstreamLayer for HealthMonitor {
    async fn answer(self, mut upstream: impl Upstream, request: Request) -> Response {
        let method = request.parts.method;
        let response = call(&mut upstream, request).await;
        self.health.note(method, &response, &self.lanes);
        if let (Method::ResourcesList, Ok(page)) = (method, &response) {
            let (owners, server) = &self.owners;
            owners.note(*server, page);
        }
        response
    }
}
