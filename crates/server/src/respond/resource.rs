//! What reading a resource may return.

use std::borrow::Cow;

use bowline_types::error::code;
use bowline_types::resource::{ReadResourceResult, ResourceContents};
use bytes::Bytes;
use serde::Serialize;

use super::Json;
use crate::error::{Error, HandlerError, Result};
use crate::signature::HandlerSignature;

/// Something that reading a resource may return.
///
/// Contents without a media type get that of the resource. An empty list of contents means that
/// there is no such resource; for an empty directory, return one item of text that says so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the contents of a resource",
    label = "not the contents of a resource",
    note = "resources hold text, bytes (`Vec<u8>`, `Bytes`), `Json<T>`, `ResourceContents`, \
            `Vec<ResourceContents>`, `ReadResourceResult`, or an `Option` or `Result` of one of these"
)]
pub trait IntoResourceResult {
    /// Adds what this type declares about its handler, such as the media type. By default nothing.
    fn describe(signature: &mut HandlerSignature) {
        _ = signature;
    }

    /// The result as it is sent, for a resource that was read at this URI.
    ///
    /// # Errors
    ///
    /// If the resource could not be read, or does not exist ([`Error::not_found`]).
    fn into_resource_result(self, uri: &str) -> Result<ReadResourceResult>;
}

impl<T: IntoResourceResult, E: HandlerError> IntoResourceResult for Result<T, E> {
    fn describe(signature: &mut HandlerSignature) {
        T::describe(signature);
    }

    fn into_resource_result(self, uri: &str) -> Result<ReadResourceResult> {
        self.map_err(HandlerError::into_handler_error)?.into_resource_result(uri)
    }
}

impl<T: IntoResourceResult> IntoResourceResult for Option<T> {
    fn describe(signature: &mut HandlerSignature) {
        T::describe(signature);
    }

    fn into_resource_result(self, uri: &str) -> Result<ReadResourceResult> {
        self.ok_or_else(Error::not_found)?.into_resource_result(uri)
    }
}

impl<T: Serialize> IntoResourceResult for Json<T> {
    fn describe(signature: &mut HandlerSignature) {
        signature.gives_media_type("application/json");
    }

    fn into_resource_result(self, uri: &str) -> Result<ReadResourceResult> {
        let text = serde_json::to_string(&self.0).map_err(|error| {
            let message = format!("the contents cannot be written as JSON: {error}");
            Error::rpc(code::INTERNAL_ERROR, message)
        })?;
        Ok(ResourceContents::text(uri, text).into())
    }
}

impl IntoResourceResult for ReadResourceResult {
    fn into_resource_result(self, _: &str) -> Result<ReadResourceResult> {
        Ok(self)
    }
}

impl IntoResourceResult for ResourceContents {
    fn into_resource_result(self, _: &str) -> Result<ReadResourceResult> {
        Ok(self.into())
    }
}

impl IntoResourceResult for Vec<ResourceContents> {
    fn into_resource_result(self, _: &str) -> Result<ReadResourceResult> {
        Ok(ReadResourceResult::new(self))
    }
}

/// Contents that are text.
macro_rules! text {
    ($($type:ty)*) => {
        $(
            impl IntoResourceResult for $type {
                fn describe(signature: &mut HandlerSignature) {
                    signature.gives_media_type("text/plain");
                }

                fn into_resource_result(self, uri: &str) -> Result<ReadResourceResult> {
                    Ok(ResourceContents::text(uri, self).into())
                }
            }
        )*
    };
}

text!(String &'static str Cow<'static, str>);

/// Contents that are bytes.
macro_rules! bytes {
    ($($type:ty)*) => {
        $(
            impl IntoResourceResult for $type {
                fn describe(signature: &mut HandlerSignature) {
                    signature.gives_media_type("application/octet-stream");
                }

                fn into_resource_result(self, uri: &str) -> Result<ReadResourceResult> {
                    Ok(ResourceContents::blob(uri, &self).into())
                }
            }
        )*
    };
}

bytes!(Vec<u8> Bytes &'static [u8]);
