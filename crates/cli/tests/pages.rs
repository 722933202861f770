//! The pages of `docs/commands`: runs what they show, and compares what the command prints.
//!
//! `TRYCMD=overwrite cargo test -p bowline-cli --test pages` writes today's output into the pages.

use std::env;
use std::path::Path;

#[test]
fn every_page_shows_what_the_command_prints() {
    let bowline = Path::new(env!("CARGO_BIN_EXE_bowline"));
    let folder = bowline.parent().expect("a program lies in a folder");
    // The servers of the pages are `bowline demo --stdio`, found by the name of the program.
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(folders).expect("the folders of PATH have no separator in them");
    // The test gives the command a home folder without configuration and without logins.
    let home = tempfile::tempdir().expect("a folder for the user");
    let user = home.path().to_string_lossy();
    let cases = trycmd::TestCases::new();
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        cases.env(name, user.clone());
    }
    cases
        .register_bin("bowline", bowline)
        .env("PATH", path.to_string_lossy())
        .case("../../docs/commands/*.md");
    cases.run();
}
