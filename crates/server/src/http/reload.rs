//! Reads the state keys again when the process gets SIGHUP, as operators expect of a server.

use bowline_types::text::{in_one_line, with_causes};

use crate::seal::StateKeys;

/// Reads the file of the keys again at each SIGHUP, and never resolves. A file with a mistake is
/// reported on stderr, and the old keys stay. Without a file SIGHUP ends the process as always.
pub(super) async fn reload_keys(keys: Option<StateKeys>) {
    if let Some(keys) = keys.filter(StateKeys::has_file) {
        // If no signal handler can be set, the program calls `StateKeys::reload` itself.
        let _ = at_each_signal(|| report(&keys)).await;
    }
    std::future::pending::<()>().await;
}

fn report(keys: &StateKeys) {
    if let Err(error) = keys.reload() {
        eprintln!("{}", line(&error));
    }
}

/// The line about a mistake. The file has a part of its text.
fn line(error: &(dyn std::error::Error + 'static)) -> String {
    in_one_line(&format!("the state keys stay as they are: {}", with_causes(error)))
}

#[cfg(unix)]
async fn at_each_signal(reload: impl Fn()) -> std::io::Result<()> {
    use std::os::unix::net::UnixStream;

    use signal_hook::consts::SIGHUP;
    use signal_hook::low_level::pipe;
    use tokio::io::AsyncReadExt as _;

    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    pipe::register(SIGHUP, sender)?;
    let mut receiver = tokio::net::UnixStream::from_std(receiver)?;
    // Several signals at once need one reload.
    while receiver.read(&mut [0; 64]).await? > 0 {
        reload();
    }
    Ok(())
}

#[cfg(not(unix))]
async fn at_each_signal(_: impl Fn()) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, SystemTime};

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use bowline_types::method::Method;
    use signal_hook::consts::SIGHUP;
    use signal_hook::low_level::raise;

    use super::*;
    use crate::seal::{Binding, Sealer};
    use crate::{Owner, Server};

    #[test]
    fn a_line_about_a_mistake_commands_no_terminal_and_stays_one() {
        let error = std::io::Error::other("`keys\u{1b}[2J\n` cannot be read");
        let expected = r"the state keys stay as they are: `keys\u{1b}[2J\n` cannot be read";
        assert_eq!(line(&error), expected);
    }

    #[tokio::test]
    async fn a_server_reads_its_key_file_again_at_sighup() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |byte| std::fs::write(&file, STANDARD.encode([byte; 32])).unwrap();
        write(1);
        let keys = StateKeys::file(file.path()).unwrap();
        let server = Server::new("api", "1.0.0").state_keys(keys.clone());
        let bound = server.http().listen("127.0.0.1:0").await.unwrap();
        let serving = tokio::spawn(bound.serve());
        // The task runs until it waits, and has set its handler by then.
        tokio::task::yield_now().await;
        let binding = Binding::new(&Owner::anonymous(), Method::ToolsCall, "a", b"{}").unwrap();
        let life = Duration::from_secs(60);
        let seal = |keys| Sealer::new(keys, life).seal(b"", &binding, SystemTime::now()).unwrap();
        let new = seal(StateKeys::from([[2; 32]]));
        let opens = || Sealer::new(keys.clone(), life).open(&new, &binding, SystemTime::now());
        assert!(opens().is_err());
        write(2);
        raise(SIGHUP).unwrap();
        let reloaded = async {
            while opens().is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(life, reloaded).await.unwrap();
        serving.abort();
    }
}
