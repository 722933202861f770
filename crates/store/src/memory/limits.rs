//! How much the memory backend keeps.

/// The limits of a [`MemoryBackend`](super::MemoryBackend).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// The most bytes of all values and logs together. To make room, the logs that expire first
    /// drop their items. A write that does not fit even then fails.
    pub bytes: usize,
    /// The most bytes of one log. Beyond that it drops its oldest items.
    pub log_bytes: usize,
    /// The most items of one log. Beyond that it drops its oldest.
    pub log_items: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self { bytes: 256 * 1024 * 1024, log_bytes: 1024 * 1024, log_items: 1024 }
    }
}

/// The bytes that an item or a value counts in addition to its content and its key, so that very
/// many small ones are limited too.
pub(super) const OVERHEAD: usize = 64;
