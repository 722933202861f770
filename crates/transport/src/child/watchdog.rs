//! Ends our children when we die without a chance to do it ourselves.
//!
//! A signal that cannot be caught leaves no time for goodbyes, and a child that does not read its
//! input never learns that we are gone. So one small shell process per client process, started
//! with the first child, holds the end of a pipe and the list of groups; when the pipe ends, it
//! takes their shutdown over. Where there is no shell, children are left to notice by themselves.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps a list of groups by `+id` and `-id`, and at the end of its input ends those still on it:
/// a second to notice the end of their own input, a second for `SIGTERM`, then `SIGKILL`.
///
/// It ignores what a terminal sends to everyone, and leaves at once when the list is empty.
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

/// Starts the watchdog if it does not run, so that the next child is guarded without delay.
pub(super) fn start() {
    watchdog().ensure();
}

/// Has a group ended if we die.
pub(super) fn guard(group: i32) {
    let mut watchdog = watchdog();
    watchdog.groups.insert(group);
    watchdog.tell(&format!("+{group}\n"));
}

/// Forgets a group, whose number may soon be somebody else's.
pub(super) fn release(group: i32) {
    let mut watchdog = watchdog();
    watchdog.groups.remove(&group);
    watchdog.tell(&format!("-{group}\n"));
}

struct Watchdog {
    process: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
}

impl Watchdog {
    fn ensure(&mut self) {
        if self.process.is_none() {
            // If there is no shell, we do without.
            self.process = spawn(&self.groups).ok();
        }
    }

    fn tell(&mut self, line: &str) {
        let Some((child, pipe)) = &mut self.process else {
            return self.ensure();
        };
        if pipe.write_all(line.as_bytes()).is_ok() {
            return;
        }
        // Somebody killed it. The next one is told the whole list.
        let _ = child.kill();
        let _ = child.wait();
        self.process = None;
        self.ensure();
    }
}

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
    WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner)
}
