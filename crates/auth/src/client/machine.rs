//! Grants of programs: the client's own credentials, and a token of the platform.

use crate::form::Form;
use crate::secret::Secret;

/// The grant type of an assertion (RFC 7523).
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// The members of a request with the client's own credentials.
pub(crate) fn credentials_form(resource: &str) -> Form {
    Form::new().with("grant_type", "client_credentials").with("resource", resource)
}

/// The members of a request with an assertion.
pub(crate) fn assertion_form(assertion: &Secret<String>, resource: &str) -> Form {
    Form::new()
        .with("grant_type", JWT_BEARER)
        .with("assertion", assertion.expose())
        .with("resource", resource)
}
