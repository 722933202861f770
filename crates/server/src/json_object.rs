//! Values of a program that have to be JSON objects: settings, params.

use bowline_types::json::{Object, RawJson};
use bowline_types::text::excerpt;
use serde::Serialize;

/// A value as a JSON object.
///
/// # Errors
///
/// Says why it cannot be one, as the end of a sentence about settings or params.
pub(crate) fn object<T: Serialize + ?Sized>(value: &T) -> Result<Object, String> {
    let json = RawJson::from_value(value)
        .map_err(|error| format!("cannot be written as JSON: {error}"))?;
    Object::new(json)
        .map_err(|json| format!("are no JSON object, but `{}`", excerpt(json.as_str())))
}
