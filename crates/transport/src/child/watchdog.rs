//! Ends the children when this process is killed.
//!
//! `SIGKILL` leaves no time for a shutdown, and a child that does not read its input does not notice
//! that its client is gone. So the first child starts one small shell process, the watchdog. It
//! holds the end of a pipe and a list of process groups; when the pipe ends, it shuts the groups
//! down. Without a shell there is no watchdog, and children have to notice the end of their input.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard};

use bowline_proto::sync::lock;

/// Keeps a list of groups, changed by lines `+id` and `-id`. When its input ends, it waits a second
/// for the groups to end by themselves, sends `SIGTERM`, waits a second, and sends `SIGKILL`.
///
/// It ignores signals of the terminal, and exits at once when the list is empty.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM PIPE TSTP USR1 USR2
list=' '
while read -r line; do
    id=${line#?}
    case $line in
    +*) list="$list$id " ;;
    -*) case $list in *" $id "*) list="${list%% $id *} ${list#* $id }" ;; esac ;;
    esac
done
for signal in TERM KILL; do
    left=' '
    for id in $list; do kill -0 "-$id" && left="$left$id "; done
    list=$left
    [ "$list" = ' ' ] && exit
    sleep 1
    for id in $list; do kill "-$signal" "-$id"; done
done
"#;

static WATCHDOG: Mutex<Watchdog> = Mutex::new(Watchdog { process: None, groups: BTreeSet::new() });

/// Starts the watchdog if it does not run, so that the next child is on its list without delay.
pub(super) fn start() {
    watchdog().ensure();
}

/// Puts a group on the list: the watchdog ends it if this process dies.
pub(super) fn guard(group: i32) {
    let mut watchdog = watchdog();
    watchdog.groups.insert(group);
    watchdog.send(&format!("+{group}\n"));
}

/// Removes a group from the list, before the system gives its number to another group.
pub(super) fn release(group: i32) {
    let mut watchdog = watchdog();
    watchdog.groups.remove(&group);
    watchdog.send(&format!("-{group}\n"));
}

/// One for the whole process, made with the first child. It outlives its children, since starting a
/// shell takes time.
struct Watchdog {
    process: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
}

impl Watchdog {
    /// Does nothing if it runs.
    fn ensure(&mut self) {
        if self.process.is_none() {
            // Without a shell there is no watchdog.
            self.process = spawn(&self.groups).ok();
        }
    }

    /// Sends a line to the watchdog, and starts it again if it is gone.
    fn send(&mut self, line: &str) {
        let Some((child, pipe)) = &mut self.process else {
            return self.ensure();
        };
        if pipe.write_all(line.as_bytes()).is_ok() {
            return;
        }
        // It was killed. The next one starts with the whole list.
        let _ = child.kill();
        let _ = child.wait();
        self.process = None;
        self.ensure();
    }
}

/// In a group of its own, so that a signal to this process's group does not end it, and without an
/// environment that could hold secrets.
fn spawn(groups: &BTreeSet<i32>) -> io::Result<(Child, ChildStdin)> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "bowline-watchdog"])
        .env_clear()
        .envs(env::var_os("PATH").map(|path| ("PATH", path)))
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let mut pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    for group in groups {
        pipe.write_all(format!("+{group}\n").as_bytes())?;
    }
    Ok((child, pipe))
}

fn watchdog() -> MutexGuard<'static, Watchdog> {
    lock(&WATCHDOG)
}
