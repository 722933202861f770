//! The folders of the user, by the conventions of the operating system.
//!
//! A relative path in a variable is ignored, as the XDG Base Directory Specification demands: it would
//! name another folder in each working folder, which a stranger may have filled.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The home.
pub fn home() -> Option<PathBuf> {
    env::home_dir().filter(|path| path.is_absolute())
}

/// For data of programs, such as logins.
pub fn data() -> Option<PathBuf> {
    match env::consts::OS {
        "macos" => below_home("Library/Application Support"),
        "windows" => variable("LOCALAPPDATA"),
        _ => variable("XDG_DATA_HOME").or_else(|| below_home(".local/share")),
    }
}

/// For what programs remember, and can find out again.
pub fn state() -> Option<PathBuf> {
    match cfg!(windows) {
        true => variable("LOCALAPPDATA"),
        false => variable("XDG_STATE_HOME").or_else(|| below_home(".local/state")),
    }
}

/// For the settings of programs that follow the conventions of Unix.
pub fn config() -> Option<PathBuf> {
    match cfg!(windows) {
        true => variable("APPDATA"),
        false => variable("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
    }
}

/// For the settings of programs with windows.
pub fn settings() -> Option<PathBuf> {
    match cfg!(target_os = "macos") {
        true => below_home("Library/Application Support"),
        false => config(),
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    absolute(env::var_os(name))
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

fn below_home(path: &str) -> Option<PathBuf> {
    home().map(|home| home.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_names_a_folder() {
        let root = env::current_dir().unwrap();
        assert_eq!(absolute(Some(root.clone().into())), Some(root));
        for other in [Some("data"), Some("./data"), Some(""), None] {
            assert_eq!(absolute(other.map(OsString::from)), None, "{other:?}");
        }
    }
}
