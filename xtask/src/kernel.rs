//! What the kernel of this machine can do, so that tests of it are not skipped unnoticed.
//!
//! Tests probe the kernel themselves, and are skipped if it lacks a feature. These checks use other
//! means than the tests: a defect of a probe is then a failure, not a skipped test.

use std::fs;

/// The variable that lists the features whose tests must run.
pub(crate) const DEMAND: &str = "BOWLINE_DEMAND_KERNEL";

/// The features of this machine, in the form of the variable.
pub(crate) fn features() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let release = read("/proc/sys/kernel/osrelease");
    let modules = read("/sys/kernel/security/lsm");
    let features = [
        ("landlock", has_landlock(&release, &modules)),
        // Containers without a keyring see an empty list.
        ("keyring", !read("/proc/keys").is_empty()),
    ];
    let present = features.into_iter().filter(|(_, is_present)| *is_present);
    present.map(|(name, _)| name).collect::<Vec<_>>().join(",")
}

/// Whether a kernel of this release, with these security modules, has all that `bowline sandbox`
/// needs. Many containers hide the list of modules; it is empty then.
fn has_landlock(release: &str, modules: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return false };
    let is_listed =
        modules.trim().is_empty() || modules.trim().split(',').any(|it| it == "landlock");
    (major, minor) >= (6, 12) && is_listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landlock_is_demanded_of_new_kernels_that_have_it() {
        for (release, modules, expected) in [
            ("6.12.0-amd64\n", "lockdown,capability,landlock,yama\n", true),
            ("7.0.3\n", "", true),
            ("6.12.0\n", "lockdown,capability,yama\n", false),
            ("6.8.0-45-generic\n", "landlock\n", false),
            ("5.15.0\n", "", false),
            ("", "", false),
        ] {
            assert_eq!(has_landlock(release, modules), expected, "{release} {modules}");
        }
    }
}
