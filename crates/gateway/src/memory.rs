//! Remembers across restarts which configured servers ask questions.
//!
//! Before a server is known to ask, its callers share a connection, and its first question may find
//! two callers that could answer; then it is refused. With this memory that happens once per entry,
//! not once per start. The file belongs to its user alone. Wrong content costs nothing but that first
//! question, so it is ignored, with a warning.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bowline_auth::private_file;
use bowline_proto::sync::lock;
use serde::{Deserialize, Serialize};

use crate::config::ServerEntry;

/// The most bytes of the file.
const MOST_BYTES: u64 = 1 << 20;

/// The most servers that are remembered.
const MOST_SERVERS: usize = 1000;

/// The servers that are known to ask questions, in a file.
#[derive(Debug)]
pub struct AskingServers {
    path: PathBuf,
    known: Mutex<BTreeSet<EntryName>>,
}

/// Names an entry of a configuration file. If the entry names another program, it is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct EntryName {
    file: PathBuf,
    at: String,
    address: String,
}

impl EntryName {
    fn of(entry: &ServerEntry) -> Self {
        let file = entry.file.canonicalize().unwrap_or_else(|_| entry.file.clone());
        Self { file, at: entry.at.clone(), address: entry.address() }
    }
}

/// The content of the file.
#[derive(Default, Serialize, Deserialize)]
struct Content {
    asking: BTreeSet<EntryName>,
}

impl AskingServers {
    /// Reads the file, if there is one. Also returns why its content is ignored, if it is.
    pub fn read(path: impl Into<PathBuf>) -> (Arc<Self>, Option<String>) {
        let path = path.into();
        let (known, warning) = match read(&path) {
            Ok(known) => (known, None),
            Err(error) => {
                (BTreeSet::new(), Some(format!("`{}` is ignored: {error}", path.display())))
            }
        };
        (Arc::new(Self { path, known: Mutex::new(known) }), warning)
    }

    /// Whether the server of an entry is known to ask.
    pub(crate) fn knows(&self, entry: &ServerEntry) -> bool {
        lock(&self.known).contains(&EntryName::of(entry))
    }

    /// Remembers that the server of an entry asks.
    pub(crate) fn remember(self: &Arc<Self>, entry: &ServerEntry) {
        let memory = self.clone();
        let name = EntryName::of(entry);
        let write = move || {
            let mut known = lock(&memory.known);
            // Without the lock another process may forget this server, and without the file it is
            // found out again after the next start.
            let _alone = lock_file(&memory.path);
            // Another process may have written meanwhile.
            known.extend(read(&memory.path).unwrap_or_default());
            if known.len() < MOST_SERVERS && known.insert(name) {
                let _ = write(&memory.path, &known);
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => _ = runtime.spawn_blocking(write),
            Err(_) => write(),
        }
    }
}

fn read(path: &Path) -> io::Result<BTreeSet<EntryName>> {
    let file = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        opened => opened?,
    };
    if is_writable_by_others(&file.metadata()?) {
        return Err(io::Error::other("other users can write it"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it is too long"));
    }
    let content: Content = serde_json::from_str(&text).map_err(io::Error::other)?;
    Ok(content.asking.into_iter().take(MOST_SERVERS).collect())
}

/// Waits until no other process writes the file. Locks a file beside it, because the file itself is
/// replaced.
fn lock_file(path: &Path) -> io::Result<fs::File> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it is in no folder"))?;
    private_file::create_folder(folder)?;
    private_file::lock(&path.with_extension("lock"))
}

fn write(path: &Path, known: &BTreeSet<EntryName>) -> io::Result<()> {
    let content = serde_json::to_vec_pretty(&Content { asking: known.clone() })?;
    private_file::replace(path, &content)
}

#[cfg(unix)]
fn is_writable_by_others(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o022 != 0
}

#[cfg(not(unix))]
fn is_writable_by_others(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, Dialect};

    fn entry(text: &str) -> ServerEntry {
        let text = format!(r#"{{ "mcpServers": {{ "a": {text} }} }}"#);
        ConfigFile::parse(&text, "c.json", Dialect::Bowline).unwrap().entries.remove(0)
    }

    #[test]
    fn a_server_that_asks_is_known_after_a_restart_unless_its_entry_names_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/bowline/asking.json");
        let (memory, warning) = AskingServers::read(&path);
        assert_eq!(warning, None);
        let server = entry(r#"{ "command": "x", "args": ["secret"] }"#);
        assert!(!memory.knows(&server));
        memory.remember(&server);
        let (memory, warning) = AskingServers::read(&path);
        assert_eq!(warning, None);
        assert!(memory.knows(&server));
        assert!(!memory.knows(&entry(r#"{ "command": "y" }"#)));
        assert!(!fs::read_to_string(&path).unwrap().contains("secret"));
    }

    #[test]
    fn two_processes_do_not_forget_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("asking.json");
        let (one, _) = AskingServers::read(&path);
        let (two, _) = AskingServers::read(&path);
        let servers = [entry(r#"{ "command": "x" }"#), entry(r#"{ "command": "y" }"#)];
        one.remember(&servers[0]);
        two.remember(&servers[1]);
        let (memory, _) = AskingServers::read(&path);
        assert!(servers.iter().all(|server| memory.knows(server)));
    }

    #[test]
    fn processes_that_write_at_the_same_time_do_not_forget_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("asking.json");
        let server = |number: usize| entry(&format!(r#"{{ "command": "x{number}" }}"#));
        std::thread::scope(|scope| {
            for number in 0..32 {
                let (memory, _) = AskingServers::read(&path);
                scope.spawn(move || memory.remember(&server(number)));
            }
        });
        let (memory, _) = AskingServers::read(&path);
        assert!((0..32).all(|number| memory.knows(&server(number))));
    }

    #[test]
    fn wrong_content_is_ignored_with_a_warning_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("asking.json");
        let server = entry(r#"{ "command": "x" }"#);
        for wrong in ["", "[]", "{", r#"{"asking":[1]}"#, &" ".repeat(1 << 21)] {
            fs::write(&path, wrong).unwrap();
            let (memory, warning) = AskingServers::read(&path);
            assert!(warning.unwrap().contains("asking.json` is ignored: "));
            assert!(!memory.knows(&server));
            memory.remember(&server);
            assert!(AskingServers::read(&path).0.knows(&server));
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_belongs_to_its_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/asking.json");
        let server = entry(r#"{ "command": "x" }"#);
        AskingServers::read(&path).0.remember(&server);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let (memory, warning) = AskingServers::read(&path);
        assert!(warning.unwrap().contains("other users can write it"));
        assert!(!memory.knows(&server));
    }
}
