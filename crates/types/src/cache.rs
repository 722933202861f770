//! Caching hints: how long and for which callers a result may be reused (since 2026-07-28).
//!
//! Hints are written strictly and read leniently. A hint that cannot be read means "do not reuse,
//! do not share", because a bad hint must never make a result unreadable.

use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::RawJson;

/// The caching hints of a result: the members `ttlMs` and `cacheScope`. The default is "do not reuse".
///
/// ```
/// use std::time::Duration;
///
/// use bowline_types::cache::CacheHint;
///
/// let hint = CacheHint::public(Duration::from_secs(60));
/// let json = serde_json::to_string(&hint).unwrap();
/// assert_eq!(json, r#"{"ttlMs":60000,"cacheScope":"public"}"#);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CacheHint {
    /// How long the result is fresh after its receipt. Zero means not at all.
    pub ttl: Duration,
    /// Which callers may receive the stored result.
    pub scope: CacheScope,
}

/// Which callers may receive a stored result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// All callers: the result is the same for everyone.
    Public,
    /// Only callers with the same authorization.
    #[default]
    Private,
}

impl CacheHint {
    /// A result that may be reused for all callers for this long.
    pub fn public(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Public }
    }

    /// A result that may be reused for the same caller for this long.
    pub fn private(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Private }
    }

    /// The time in milliseconds, as it is sent; at most 2^53 − 1.
    pub fn ttl_ms(self) -> u64 {
        u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX).min(MAX_TTL_MS)
    }
}

/// The largest integer that every JSON reader keeps exact (2^53 − 1).
const MAX_TTL_MS: u64 = 9_007_199_254_740_991;

impl CacheScope {
    /// The string on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

impl Serialize for CacheHint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("CacheHint", 2)?;
        members.serialize_field("ttlMs", &self.ttl_ms())?;
        members.serialize_field("cacheScope", self.scope.as_str())?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for CacheHint {
    /// Reads the hints from the members of a whole result.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members {
            #[serde(default)]
            ttl_ms: RawJson,
            #[serde(default)]
            cache_scope: RawJson,
        }

        let members = Members::deserialize(deserializer)?;
        // The specification reads a negative number as zero; so is everything that is not a number.
        let ttl_ms = members.ttl_ms.parse::<f64>().map_or(0, |number| number as u64);
        let scope = match members.cache_scope.as_str() {
            r#""public""# => CacheScope::Public,
            _ => CacheScope::Private,
        };
        Ok(Self { ttl: Duration::from_millis(ttl_ms.min(MAX_TTL_MS)), scope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> CacheHint {
        serde_json::from_str(text).unwrap()
    }

    // spec: CACHE-3, CACHE-4
    #[test]
    fn hints_are_written_as_milliseconds_and_a_word() {
        let hint = CacheHint::public(Duration::from_micros(1_500_999));
        let text = r#"{"ttlMs":1500,"cacheScope":"public"}"#;
        assert_eq!(serde_json::to_string(&hint).unwrap(), text);
        let hint = CacheHint::private(Duration::MAX);
        let text = r#"{"ttlMs":9007199254740991,"cacheScope":"private"}"#;
        assert_eq!(serde_json::to_string(&hint).unwrap(), text);
    }

    #[test]
    fn hints_are_read_out_of_a_whole_result() {
        let text = r#"{"tools":[],"ttlMs":60000,"cacheScope":"public","resultType":"complete"}"#;
        assert_eq!(read(text), CacheHint::public(Duration::from_secs(60)));
    }

    // spec: CACHE-9
    #[test]
    fn a_missing_or_negative_time_is_zero() {
        for text in [r#"{}"#, r#"{"ttlMs":-5}"#, r#"{"ttlMs":null}"#, r#"{"ttlMs":-0.1}"#] {
            assert_eq!(read(text).ttl, Duration::ZERO, "{text}");
        }
    }

    #[test]
    fn unreadable_hints_mean_do_not_reuse_and_do_not_share() {
        for text in [r#"{"ttlMs":"60","cacheScope":1}"#, r#"{"ttlMs":[],"cacheScope":"everyone"}"#]
        {
            assert_eq!(read(text), CacheHint::default(), "{text}");
        }
        assert_eq!(read(r#"{"ttlMs":1e300}"#).ttl_ms(), MAX_TTL_MS);
    }
}
