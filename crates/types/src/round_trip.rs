//! The check of most tests here: a type is written as it was read.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a text as `T`, and expects to write the same text.
#[track_caller]
pub(crate) fn round_trip<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    value
}
