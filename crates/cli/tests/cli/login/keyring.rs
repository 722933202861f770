//! `bowline login --keyring`, with the keyring of the kernel.

use std::time::Duration;

use super::*;

/// The names of this login in the keyring of the kernel.
fn keys(protected: &Protected) -> usize {
    let home = protected.home.path().to_str().unwrap().to_owned();
    let keys = fs::read_to_string("/proc/keys").unwrap();
    keys.lines().filter(|key| key.contains(&home)).count()
}

// spec: REFR-4
#[test]
fn tokens_in_the_keyring_are_shared_and_renewed_by_all_processes_and_in_no_file() {
    // Every process renews such a token before its call; the server allows for wrong clocks.
    let authority = AuthorizationServer::start().lifetime(Duration::ZERO);
    let protected = Protected::with(authority);
    let login = protected.log_in(&["--keyring", &protected.url]);
    if !kernel::has_keyring() {
        // The tokens go nowhere else.
        assert!(login.code == Some(4) && protected.records().is_empty(), "{login:?}");
        assert!(login.stderr.contains("the keyring of the system: "), "{login:?}");
        return;
    }
    assert_eq!(login.code, Some(0), "{login:?}");
    protected.call_at_once();
    assert!(protected.refreshes() >= 1);
    assert_eq!(protected.authority.reuses(), 0, "a refresh token was spent twice");
    assert_eq!(protected.count(OAuthEndpoint::Authorize), 1);
    assert!(protected.records().is_empty());
    assert!(keys(&protected) >= 1);
    // A repeated login stays where it is.
    assert_eq!(protected.log_in(&[&protected.url]).code, Some(0));
    assert!(protected.records().is_empty());
    let out = protected.run(&["logout", &protected.url]);
    assert_eq!(out.stdout, format!("logged out of {}\n", protected.url), "{out:?}");
    assert_eq!(protected.run(&["list", &protected.url]).code, Some(4));
}

#[test]
fn a_login_that_moves_to_the_keyring_leaves_no_token_in_files() {
    let protected = Protected::start();
    assert_eq!(protected.log_in(&[&protected.url]).code, Some(0));
    let login = protected.log_in(&["--keyring", &protected.url]);
    if !kernel::has_keyring() {
        assert!(login.code == Some(4) && !protected.secrets().is_empty(), "{login:?}");
        return;
    }
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(protected.secrets().is_empty());
    assert_eq!(protected.run(&["call", &protected.url, "hello"]).stdout, "hello\n");
    assert_eq!(protected.run(&["logout", &protected.url]).code, Some(0));
}
