//! Signals a child and the processes that it started.
//!
//! Reaches every process that stays in the child's process group. After the child is reaped, the
//! number of its group is not reused as long as the group has members. So members are looked for
//! right before each signal, and the group is not signalled again once it was empty.

#[cfg(unix)]
pub(super) use self::unix::ProcessGroup;

#[cfg(not(unix))]
pub(super) use self::portable::ProcessGroup;

#[cfg(unix)]
mod unix {
    #[cfg(target_os = "linux")]
    use std::fs;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use nix::sys::signal::{Signal, killpg};
    #[cfg(target_os = "linux")]
    use nix::sys::wait::{Id, waitid};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    use crate::child::watchdog;

    /// The process group of a child; the watchdog knows it until this is dropped.
    #[derive(Debug)]
    pub(in super::super) struct ProcessGroup {
        id: i32,
    }

    impl ProcessGroup {
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

        /// Whether the leader exited with a failure or was killed. It is not reaped, so the number
        /// of the group stays taken.
        #[cfg(target_os = "linux")]
        pub(in super::super) fn has_leader_failed(&self) -> bool {
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            match waitid(Id::Pid(Pid::from_raw(self.id)), flags) {
                Ok(WaitStatus::Exited(_, code)) => code != 0,
                Ok(WaitStatus::Signaled(..)) => true,
                _ => false,
            }
        }

        /// Other systems cannot tell without reaping it.
        #[cfg(not(target_os = "linux"))]
        pub(in super::super) fn has_leader_failed(&self) -> bool {
            false
        }

        /// Whether the group has no live member. Valid only after the leader is reaped.
        pub(in super::super) fn is_empty(&self) -> bool {
            // As the first process of a container, this process has to reap orphans.
            while let Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) =
                waitpid(Pid::from_raw(-self.id), Some(WaitPidFlag::WNOHANG))
            {}
            killpg(Pid::from_raw(self.id), None).is_err() || !has_live_member(self.id)
        }

        /// Reaches all members at once.
        fn signal(&self, signal: Signal) {
            // Fails only if the group has no members.
            let _ = killpg(Pid::from_raw(self.id), signal);
        }
    }

    impl Drop for ProcessGroup {
        fn drop(&mut self) {
            watchdog::release(self.id);
        }
    }

    /// Whether a member is not a zombie.
    ///
    /// On Linux a signal to a zombie succeeds, and in many containers no process reaps orphans.
    #[cfg(target_os = "linux")]
    fn has_live_member(group: i32) -> bool {
        let Ok(processes) = fs::read_dir("/proc") else {
            return true;
        };
        let stats = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("stat")).ok());
        stats.into_iter().any(|stat| is_live_member(&String::from_utf8_lossy(&stat), group))
    }

    /// Reads one line of `/proc/<id>/stat`.
    #[cfg(target_os = "linux")]
    fn is_live_member(stat: &str, group: i32) -> bool {
        // The fields are id, name, state, parent, group. The name is in parentheses and may contain
        // any character, also `)`.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        let (state, id) = (fields.next(), fields.nth(1));
        let is_alive = !matches!(state, Some("Z" | "X"));
        is_alive && id.and_then(|id| id.parse().ok()) == Some(group)
    }

    /// On other systems a signal to a group of zombies fails.
    #[cfg(not(target_os = "linux"))]
    fn has_live_member(_group: i32) -> bool {
        true
    }
}

#[cfg(not(unix))]
mod portable {
    use std::process::{Child, Command};

    /// Without process groups, the child alone.
    #[derive(Debug)]
    pub(in super::super) struct ProcessGroup;

    impl ProcessGroup {
        pub(in super::super) fn separate(_command: &mut Command) {}

        pub(in super::super) fn of(_child: &Child) -> Self {
            Self
        }

        pub(in super::super) fn terminate(&self, leader: &mut Child) {
            self.kill(leader);
        }

        pub(in super::super) fn kill(&self, leader: &mut Child) {
            // Fails only if the child is gone.
            let _ = leader.kill();
        }

        pub(in super::super) fn has_leader_failed(&self) -> bool {
            false
        }

        pub(in super::super) fn is_empty(&self) -> bool {
            true
        }
    }
}
