//! What the kernel that runs the tests can do.
//!
//! A test of a feature that the kernel lacks is skipped. `BOWLINE_DEMAND_KERNEL` lists the features
//! (`landlock,keyring`) whose tests fail instead; `cargo xtask test` sets it to those that this
//! machine has.

#![allow(dead_code, reason = "each program of tests needs a part of it")]

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope,
};

/// Whether the kernel enforces everything that `bowline sandbox` promises. Restricts nothing.
pub(crate) fn has_landlock() -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V6));
    let rules = rules.and_then(|rules| rules.scope(Scope::Signal)).and_then(Ruleset::create);
    has("landlock", rules.map(drop))
}

/// The user who runs the tests.
pub(crate) fn user() -> u32 {
    use std::os::unix::fs::MetadataExt as _;

    std::fs::metadata("/proc/self").expect("a system has processes").uid()
}

/// The option that a sandbox needs if the tests run as root.
pub(crate) fn as_root() -> &'static [&'static str] {
    if user() == 0 { &["--as-root"] } else { &[] }
}

/// Whether this process may keep secrets in the keyring of the kernel. Containers often may not.
#[cfg(feature = "keyring")]
pub(crate) fn has_keyring() -> bool {
    use keyring_core::api::CredentialStoreApi as _;

    let keyring = linux_keyutils_keyring_store::Store::new();
    let kept = keyring.and_then(|keyring| {
        let name = std::process::id().to_string();
        // The first one only gives this thread a keyring.
        keyring.build("bowline-test", &name, None)?;
        let entry = keyring.build("bowline-test", &name, None)?;
        entry.set_secret(b"secret")?;
        entry.delete_credential()
    });
    has("keyring", kept)
}

/// Whether the tests of a feature must run.
pub(crate) fn is_demanded(feature: &str) -> bool {
    let demanded = std::env::var("BOWLINE_DEMAND_KERNEL").unwrap_or_default();
    demanded.split(',').any(|it| it == feature)
}

#[allow(clippy::print_stderr)]
fn has<E: std::fmt::Display>(feature: &str, probe: Result<(), E>) -> bool {
    let Err(error) = probe else { return true };
    assert!(!is_demanded(feature), "no {feature}: {error}");
    eprintln!("skipped: this kernel has no {feature}: {error}");
    false
}
