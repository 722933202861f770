//! The user for whom the tests run the command: one without configuration, logins and memory.

use std::path::Path;
use std::process::Command;

/// The variables that name folders of a user, and the folders below the home of the test's user.
const FOLDERS: [(&str, &str); 6] = [
    ("HOME", ""),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_RUNTIME_DIR", "run"),
];

/// The variables of this command that a user may have set.
const SETTINGS: [&str; 2] = ["BOWLINE_STORE_URL", "BOWLINE_STORE_PASSWORD_FILE"];

/// Runs a command away from the folders and settings of the user who runs the tests.
pub(crate) fn at_home<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    for name in SETTINGS {
        command.env_remove(name);
    }
    command.envs(FOLDERS.map(|(name, folder)| (name, home.join(folder))))
}
