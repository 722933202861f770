//! Access tokens as credentials of an HTTP endpoint: joins the checks of `bowline-auth` with the
//! endpoint of `bowline-http`.

use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use bowline_auth::fetch::Fetcher;
use bowline_auth::resource::proof::DPOP_NONCE;
use bowline_auth::resource::verify::VerifyFn;
use bowline_auth::resource::{
    Admission, AdmittedCaller, Denied, FixedTokens, Introspection, Jwt, Presented, Rejection,
    Verified, Verify,
};
use bowline_http::client::GuardedFetcher;
use bowline_http::server::{Admit, CredentialRefusal, VerifiedCaller};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::HeaderMap;
use http::request::Parts;

use super::Authorization;

/// Admits callers with an access token.
struct TokenAdmit {
    admission: Admission,
    /// The system's time. Tokens state at which times they begin and end, so a clock that only counts
    /// from the start of the process would not do.
    now: fn() -> SystemTime,
}

impl TokenAdmit {
    /// Admits callers of the MCP server at a URL whose token verifies. What the verifier fetches comes
    /// from public addresses, and from the hosts that the operator configured.
    fn at(resource: &str, verify: Arc<dyn Verify>) -> Result<Arc<dyn Admit>, String> {
        let fetcher = Arc::new(GuardedFetcher::for_issuers(&verify.addresses()));
        Ok(Arc::new(Self::fetching(resource, verify, fetcher)?))
    }

    fn fetching(
        resource: &str,
        verify: Arc<dyn Verify>,
        fetcher: Arc<dyn Fetcher>,
    ) -> Result<Self, String> {
        let admission = Admission::new(resource, verify, fetcher);
        let admission = admission.map_err(|error| error.to_string())?;
        Ok(Self { admission, now: SystemTime::now })
    }
}

impl Admit for TokenAdmit {
    fn admit<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<VerifiedCaller, CredentialRefusal>> {
        Box::pin(async move {
            let now = (self.now)();
            match self.admission.admit(head, now).await {
                Ok(admitted) => Ok(caller(admitted, now)),
                Err(rejection) => Err(refusal(&rejection)),
            }
        })
    }

    fn insufficient_scope(&self, needed: &[String]) -> HeaderMap {
        self.admission.insufficient_scope(needed.iter().map(String::as_str)).headers()
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        let document = self.admission.document()?;
        (path == document.path() || path == document.root_path()).then(|| document.body())
    }
}

fn caller(admitted: AdmittedCaller, now: SystemTime) -> VerifiedCaller {
    let AdmittedCaller { claims, access, nonce, .. } = admitted;
    let expires = claims.expires;
    let mut caller = VerifiedCaller::new(claims).with_access(access);
    if let Some(expires) = expires {
        caller = caller.with_validity(expires.duration_since(now).unwrap_or_default());
    }
    match nonce {
        Some(nonce) => caller.with_header(DPOP_NONCE, nonce),
        None => caller,
    }
}

fn refusal(rejection: &Rejection) -> CredentialRefusal {
    CredentialRefusal::new(rejection.status, rejection.reason, rejection.headers())
}

/// Makes verifiers of tokens settings of an endpoint.
macro_rules! authorizes {
    ($($verifier:ty),*) => {
        $(impl Authorization for $verifier {
            fn admit_to(self: Arc<Self>, resource: &str) -> Result<Arc<dyn Admit>, String> {
                TokenAdmit::at(resource, self)
            }

            fn is_for_loopback_only(&self) -> bool {
                Verify::is_for_loopback_only(self)
            }
        })*
    };
}

authorizes!(Jwt, Introspection, FixedTokens, Arc<dyn Verify>);

impl<F, A, V> Authorization for VerifyFn<F>
where
    F: Fn(Presented) -> A + Send + Sync + 'static,
    A: Future<Output = Result<V, Denied>> + Send + 'static,
    V: Into<Verified>,
{
    fn admit_to(self: Arc<Self>, resource: &str) -> Result<Arc<dyn Admit>, String> {
        TokenAdmit::at(resource, self)
    }
}

#[cfg(test)]
mod tests;
