//! What attempts are about: files, sockets and a process outside the sandbox, of the same user.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::ChildStdout;

use super::*;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel/attempts.pl");

/// Makes `name=number` for the calls of the script.
macro_rules! numbers {
    ($($name:literal $number:ident,)*) => {
        [$(format!("{}={}", $name, libc::$number)),*]
    };
}

/// The numbers of the calls, and of those that `libc` does not name on all processors.
fn numbers() -> Vec<String> {
    let mut numbers = Vec::from(numbers![
        "add_key" SYS_add_key, "bpf" SYS_bpf, "clone" SYS_clone, "clone3" SYS_clone3,
        "exit" SYS_exit, "fanotify_init" SYS_fanotify_init, "fchmod" SYS_fchmod,
        "fchmodat" SYS_fchmodat, "fchown" SYS_fchown, "fchownat" SYS_fchownat,
        "fgetxattr" SYS_fgetxattr, "fremovexattr" SYS_fremovexattr, "fsetxattr" SYS_fsetxattr,
        "getxattr" SYS_getxattr, "inotify_add_watch" SYS_inotify_add_watch,
        "inotify_init1" SYS_inotify_init1, "io_uring_setup" SYS_io_uring_setup,
        "ioprio_set" SYS_ioprio_set, "kcmp" SYS_kcmp, "keyctl" SYS_keyctl,
        "lgetxattr" SYS_lgetxattr, "listxattr" SYS_listxattr, "llistxattr" SYS_llistxattr,
        "lremovexattr" SYS_lremovexattr, "lsetxattr" SYS_lsetxattr, "mount" SYS_mount,
        "mq_open" SYS_mq_open, "mq_unlink" SYS_mq_unlink, "msgctl" SYS_msgctl,
        "msgget" SYS_msgget, "msgrcv" SYS_msgrcv, "msgsnd" SYS_msgsnd, "openat2" SYS_openat2,
        "perf_event_open" SYS_perf_event_open, "pidfd_getfd" SYS_pidfd_getfd,
        "pidfd_open" SYS_pidfd_open, "pidfd_send_signal" SYS_pidfd_send_signal,
        "prctl" SYS_prctl, "prlimit64" SYS_prlimit64, "process_vm_readv" SYS_process_vm_readv,
        "ptrace" SYS_ptrace, "removexattr" SYS_removexattr, "request_key" SYS_request_key,
        "sched_setaffinity" SYS_sched_setaffinity, "sched_setattr" SYS_sched_setattr,
        "sched_setparam" SYS_sched_setparam, "sched_setscheduler" SYS_sched_setscheduler,
        "semctl" SYS_semctl, "semget" SYS_semget, "semop" SYS_semop,
        "semtimedop" SYS_semtimedop, "setns" SYS_setns, "setpriority" SYS_setpriority,
        "setxattr" SYS_setxattr, "shmat" SYS_shmat, "shmctl" SYS_shmctl, "shmget" SYS_shmget,
        "socketpair" SYS_socketpair,
        "syslog" SYS_syslog, "unshare" SYS_unshare, "userfaultfd" SYS_userfaultfd,
        "utimensat" SYS_utimensat,
    ]);
    #[cfg(target_arch = "x86_64")]
    numbers.extend(numbers![
        "futimesat" SYS_futimesat, "inotify_init" SYS_inotify_init, "utime" SYS_utime,
        "utimes" SYS_utimes,
    ]);
    let newer = ["fchmodat2=452", "setxattrat=463", "getxattrat=464", "listxattrat=465"];
    numbers.extend(newer.map(str::to_owned));
    numbers.extend(["removexattrat=466", "file_setattr=469"].map(str::to_owned));
    numbers
}

/// The names of all attempts.
pub(super) fn names() -> Vec<String> {
    let output = Command::new("perl").args([SCRIPT, "names"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Run::from(output).stdout.lines().map(str::to_owned).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct User(u32);

impl User {
    /// Who runs the tests.
    pub(super) fn current() -> Self {
        Self(kernel::user())
    }

    /// As whom attempts are made: as an ordinary user, and as root if the tests run as root.
    #[allow(clippy::print_stderr)]
    pub(super) fn all() -> Vec<Self> {
        let current = Self::current();
        if current.is_root() {
            return vec![Self(12_345), current];
        }
        eprintln!("skipped as root: the tests run as another user");
        vec![current]
    }

    pub(super) fn is_root(self) -> bool {
        self.0 == 0
    }

    /// Lets a command run as this user.
    fn runs(self, command: &mut Command) -> &mut Command {
        if self != Self::current() {
            command.uid(self.0).gid(self.0);
        }
        command.current_dir("/").env("BOWLINE_TEST_SECRET", "secret")
    }
}

/// A folder with a part that a sandbox may read, and a process that keeps the rest.
pub(super) struct Outside {
    user: User,
    folder: tempfile::TempDir,
    settings: Vec<String>,
    keeper: Child,
    /// Where the process writes; it stays open as long as the process.
    _output: BufReader<ChildStdout>,
}

impl Outside {
    pub(super) fn of(user: User) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [readable, private] = ["readable", "private"].map(|name| folder.path().join(name));
        for part in [&readable, &private] {
            fs::create_dir(part).unwrap();
        }
        let [file, script] = ["file", "attempts.pl"].map(|name| readable.join(name));
        fs::write(&file, "text").unwrap();
        fs::copy(SCRIPT, &script).unwrap();
        for path in [folder.path(), &readable, &private, &file, &script] {
            chown(path, Some(user.0), Some(user.0)).unwrap();
        }
        let mut settings = numbers();
        settings.push(format!("readable={}", file.display()));
        let mut perl = Command::new("perl");
        perl.arg(&script).arg("outside").arg(&private).args(&settings);
        perl.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = user.runs(&mut perl).spawn().unwrap();
        let mut output = BufReader::new(keeper.stdout.take().unwrap());
        let mut made = String::new();
        output.read_line(&mut made).unwrap();
        settings.push(format!("folder={}", private.display()));
        settings.extend(made.split_whitespace().map(str::to_owned));
        Self { user, folder, settings, keeper, _output: output }
    }

    /// Makes these attempts with descriptor 9 open, in a sandbox if there is an option for it; an
    /// empty one is none.
    pub(super) fn attempt(&self, names: &[&str], option: Option<&str>) -> Outcomes {
        let [readable, private] = ["readable", "private"].map(|name| self.folder.path().join(name));
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$@" 9< "$0""#]).arg(private.join("secret"));
        if let Some(option) = option {
            command.arg(self.program()).arg("sandbox").arg("--read").arg(&readable);
            command.args(["--read", "/dev/ptmx"]);
            command.args(self.user.is_root().then_some("--as-root"));
            command.args((!option.is_empty()).then_some(option));
            command.args(["--read", "--write"].contains(&option).then_some(&private));
            command.arg("--");
        }
        command.arg("perl").arg(readable.join("attempts.pl")).arg("try").arg(names.join(","));
        let output = self.user.runs(command.args(&self.settings).stdin(Stdio::null())).output();
        let run = Run::from(output.unwrap());
        assert_eq!(run.code, Some(0), "{run:?}");
        let lines = run.stdout.lines().map(|line| line.split_once(": ").unwrap());
        let outcomes: Outcomes = lines.map(|(name, end)| (name.into(), end.into())).collect();
        assert_eq!(outcomes.len(), names.len(), "{run:?}");
        // A mistake in the script would look like a refused call.
        let is_mistake = |end: &str| {
            let is_missing = cfg!(target_arch = "x86_64") && end.starts_with("no call ");
            is_missing || end.contains("attempts.pl line ")
        };
        assert!(!outcomes.values().any(|end| is_mistake(end)), "{outcomes:?}");
        outcomes
    }

    /// The command, where this user may run it: the folder of the build can be one of root alone.
    fn program(&self) -> PathBuf {
        let built = PathBuf::from(bowline_path());
        let mut probe = Command::new(&built);
        if self.user.runs(probe.arg("--version")).output().is_ok() {
            return built;
        }
        let copy = self.folder.path().join("bowline");
        if !copy.exists() {
            fs::copy(built, &copy).unwrap();
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
        }
        copy
    }
}

/// The process removes what it keeps when its input ends.
impl Drop for Outside {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
