//! Signals to a child and everything it started.
//!
//! Everything, as far as it stays in the process group that the child was given. Once the child is
//! reaped, its group keeps the number from being reused for as long as it has members; so it is
//! looked for members right before it is signalled, and never again once it was empty.

use std::process::{Child, Command};

#[cfg(unix)]
pub(super) use self::unix::Group;

#[cfg(not(unix))]
pub(super) use self::portable::Group;

#[cfg(unix)]
mod unix {
    #[cfg(target_os = "linux")]
    use std::fs;
    use std::os::unix::process::CommandExt;

    use nix::sys::signal::{Signal, killpg};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    use super::super::watchdog;
    use super::{Child, Command};

    /// The process group of a child, under the watchdog's eyes.
    #[derive(Debug)]
    pub(in super::super) struct Group {
        id: i32,
    }

    impl Group {
        /// Lets a command start in a group of its own.
        pub(in super::super) fn separate(command: &mut Command) {
            command.process_group(0);
        }

        /// The group that a child leads.
        pub(in super::super) fn of(child: &Child) -> Self {
            let id = child.id().cast_signed();
            watchdog::guard(id);
            Self { id }
        }

        /// Asks all members to exit.
        pub(in super::super) fn terminate(&self, _leader: &mut Child) {
            self.signal(Signal::SIGTERM);
        }

        /// Ends all members.
        pub(in super::super) fn kill(&self, _leader: &mut Child) {
            self.signal(Signal::SIGKILL);
        }

        /// Whether nobody is left whom we may signal. Only to be asked once the leader is reaped.
        pub(in super::super) fn is_empty(&self) -> bool {
            // Orphans come to us if we are the first process of a container, and somebody has to
            // reap them.
            while let Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) =
                waitpid(Pid::from_raw(-self.id), Some(WaitPidFlag::WNOHANG))
            {}
            killpg(Pid::from_raw(self.id), None).is_err() || !has_live_member(self.id)
        }

        fn signal(&self, signal: Signal) {
            // It fails only if nobody is left.
            let _ = killpg(Pid::from_raw(self.id), signal);
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            watchdog::release(self.id);
        }
    }

    /// Whether a member does more than wait to be reaped.
    ///
    /// Linux signals zombies without complaint, and in many a container nobody reaps orphans.
    #[cfg(target_os = "linux")]
    fn has_live_member(group: i32) -> bool {
        let Ok(processes) = fs::read_dir("/proc") else {
            return true;
        };
        let stats = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("stat")).ok());
        stats.into_iter().any(|stat| is_live_member(&String::from_utf8_lossy(&stat), group))
    }

    #[cfg(target_os = "linux")]
    fn is_live_member(stat: &str, group: i32) -> bool {
        // The fields are id, name, state, parent, group; the name may hold anything at all.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        let (state, id) = (fields.next(), fields.nth(1));
        let is_alive = !matches!(state, Some("Z" | "X"));
        is_alive && id.and_then(|id| id.parse().ok()) == Some(group)
    }

    /// Elsewhere a group of zombies cannot be signalled.
    #[cfg(not(target_os = "linux"))]
    fn has_live_member(_group: i32) -> bool {
        true
    }
}

#[cfg(not(unix))]
mod portable {
    use super::{Child, Command};

    /// Where there are no groups, the child alone.
    #[derive(Debug)]
    pub(in super::super) struct Group;

    impl Group {
        pub(in super::super) fn separate(_command: &mut Command) {}

        pub(in super::super) fn of(_child: &Child) -> Self {
            Self
        }

        pub(in super::super) fn terminate(&self, leader: &mut Child) {
            self.kill(leader);
        }

        pub(in super::super) fn kill(&self, leader: &mut Child) {
            // It fails only if the child is gone.
            let _ = leader.kill();
        }

        pub(in super::super) fn is_empty(&self) -> bool {
            true
        }
    }
}
