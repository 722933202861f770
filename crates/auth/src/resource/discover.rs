//! Finds the metadata of the authorization server that the operator configured.

use http::StatusCode;

use crate::error::{Error, Kind};
use crate::fetch::{FetchRequest, Fetcher};
use crate::metadata::server::{ServerMetadata, addresses};
use crate::url::Url;

/// Fetches the document of an issuer from the first of its addresses that has one.
///
/// # Errors
///
/// If no address has a document, or the first one that has one is malformed or names another issuer.
pub(super) async fn discover(issuer: &str, fetcher: &dyn Fetcher) -> Result<ServerMetadata, Error> {
    let url = Url::parse(issuer)?;
    url.check_confidential(Kind::Metadata, "issuer of the authorization server")?;
    let mut missing = Error::fetch("the authorization server has no metadata document");
    for address in addresses(&url)? {
        match fetcher.fetch(FetchRequest::get(address)).await {
            Ok(answer) if answer.status == StatusCode::OK => {
                return ServerMetadata::parse(answer.json()?, issuer);
            }
            Ok(_) => {}
            Err(error) => missing = missing.with_source(error),
        }
    }
    Err(missing)
}
