//! What a guarded fetcher refuses to reach.

mod ssrf_addresses;
