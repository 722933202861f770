//! The tables of docs/commands/sandbox.md: each row is tried, in a sandbox and without one.
//!
//! A row names the attempts that check it. What a row says is refused must fail unless an option of
//! the row is given; what it says is allowed must end as it does without a sandbox. Each row is tried
//! as an ordinary user and as root, with and without `--network`, and with each option that it names.

mod outside;

use std::collections::{BTreeMap, BTreeSet};

use self::outside::{Outside, User};
use super::*;

/// How attempts ended, by their names; `done` if they had the effect.
type Outcomes = BTreeMap<String, String>;

#[derive(Debug)]
struct Row {
    subject: String,
    /// The options that allow it, if it is refused without.
    refused_unless: Option<Vec<Unless>>,
    attempts: Vec<String>,
}

#[derive(Debug)]
struct Unless {
    option: String,
    is_for_root: bool,
}

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands/sandbox.md");
    fs::read_to_string(page).unwrap()
}

/// The rows of the tables below these headings.
fn rows() -> Vec<Row> {
    let page = page();
    let refused = rows_below(&page, "\n## What the command cannot do\n");
    let refused = refused.map(|cells| {
        let [subject, _, unless, attempts] = cells[..] else { panic!("{cells:?}") };
        let refused_unless = unless.split(',').filter_map(Unless::read).collect();
        let refused_unless = Some(refused_unless);
        Row { subject: subject.to_owned(), refused_unless, attempts: codes(attempts) }
    });
    let allowed = rows_below(&page, "\n## What the sandbox does not prevent\n");
    let allowed = allowed.map(|cells| {
        let [subject, _, attempts] = cells[..] else { panic!("{cells:?}") };
        Row { subject: subject.to_owned(), refused_unless: None, attempts: codes(attempts) }
    });
    refused.chain(allowed).collect()
}

/// The cells of the first table below a heading.
fn rows_below<'a>(page: &'a str, heading: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let (_, section) = page.split_once(heading).unwrap();
    let lines = section.lines().skip_while(|line| !line.starts_with("|---"));
    let lines = lines.skip(1).take_while(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

impl Unless {
    /// An option in the third column; `None` for "never".
    fn read(text: &str) -> Option<Self> {
        let option = codes(text).pop()?;
        Some(Self { option, is_for_root: !text.ends_with("(not as root)") })
    }

    /// Whether it allows something to this user with this option.
    fn applies(&self, user: User, option: &str) -> bool {
        let is_given = match self.option.as_str() {
            // All sandboxes of root have it.
            "--as-root" => user.is_root(),
            wanted => wanted == option,
        };
        is_given && (self.is_for_root || !user.is_root())
    }
}

/// The words between backticks.
fn codes(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The subjects that have a test of their own.
const SUBJECTS: &[&str] = &[
    "Files",
    "Metadata",
    "Watching",
    "Network",
    "Socket files",
    "Processes",
    "Shared memory",
    "Namespaces",
    "Privileges",
    "Open files",
    "Kernel",
    "Terminal",
];

#[test]
fn the_page_and_the_attempts_name_the_same() {
    let rows = rows();
    let named: Vec<&String> = rows.iter().flat_map(|row| &row.attempts).collect();
    let listed: BTreeSet<&String> = named.iter().copied().collect();
    assert_eq!(named.len(), listed.len(), "an attempt is in two rows");
    let made = outside::names();
    assert_eq!(listed, made.iter().collect());
    let refused = rows.iter().filter(|row| row.refused_unless.is_some());
    let subjects: BTreeSet<&str> = refused.map(|row| row.subject.as_str()).collect();
    assert_eq!(subjects, SUBJECTS.iter().copied().collect());
    let options = run(&["sandbox", "--help"]).stdout;
    for Unless { option, .. } in rows.iter().flat_map(|row| row.refused_unless.iter().flatten()) {
        assert!(options.contains(&format!(" {option}")), "{option}");
    }
}

/// Tries the rows of a subject, or those that nothing refuses.
fn check(is_meant: impl Fn(&Row) -> bool) {
    if !kernel::has_landlock() {
        return;
    }
    let rows: Vec<Row> = rows().into_iter().filter(is_meant).collect();
    let attempts: Vec<&str> =
        rows.iter().flat_map(|row| &row.attempts).map(String::as_str).collect();
    let named = rows.iter().flat_map(|row| row.refused_unless.iter().flatten());
    let named = named.map(|it| it.option.as_str()).filter(|option| *option != "--as-root");
    let options: BTreeSet<&str> = named.chain(["", "--network"]).collect();
    let mut mistakes = Vec::new();
    let mut untried: BTreeSet<&str> = attempts.iter().copied().collect();
    for user in User::all() {
        let free = Outside::of(user).attempt(&attempts, None);
        untried.retain(|attempt| free[*attempt] != "done");
        for option in &options {
            let sandboxed = Outside::of(user).attempt(&attempts, Some(option));
            let wrong = rows.iter().flat_map(|row| row.wrong((user, option), [&sandboxed, &free]));
            mistakes.extend(wrong.map(|attempt| {
                let [inside, outside] = [&sandboxed, &free].map(|it| &it[attempt]);
                format!("{user:?} {option} {attempt}: `{inside}`, without a sandbox `{outside}`")
            }));
        }
    }
    // Otherwise a row is tried by nothing. Some attempts succeed for root alone.
    if User::current().is_root() && kernel::is_demanded("landlock") {
        untried.retain(|attempt| !NEWER.contains(attempt));
        mistakes.extend(untried.iter().map(|it| format!("{it} fails without a sandbox too")));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// The attempts that may fail without a sandbox too, because the oldest kernel with all that
/// `bowline sandbox` needs of Landlock (Linux 6.12) does not know the call.
const NEWER: &[&str] =
    &["setxattrat", "getxattrat", "listxattrat", "removexattrat", "file_setattr"];

impl Row {
    /// The attempts that ended otherwise than the row says, for this user with this option.
    fn wrong(
        &self,
        (user, option): (User, &str),
        [sandboxed, free]: [&Outcomes; 2],
    ) -> impl Iterator<Item = &String> {
        let unless = self.refused_unless.as_ref();
        let is_allowed = unless.is_none_or(|it| it.iter().any(|it| it.applies(user, option)));
        self.attempts.iter().filter(move |attempt| {
            let [inside, outside] = [sandboxed, free].map(|it| it[*attempt] == "done");
            inside != (is_allowed && outside)
        })
    }
}

fn check_subject(subject: &str) {
    assert!(SUBJECTS.contains(&subject));
    check(|row| row.subject == subject && row.refused_unless.is_some());
}

// spec: LOCAL-6
#[test]
fn files_outside_are_neither_read_nor_changed() {
    check_subject("Files");
}

// spec: LOCAL-6
#[test]
fn mode_owner_times_and_attributes_of_files_outside_stay() {
    check_subject("Metadata");
}

// spec: LOCAL-6
#[test]
fn inotify_reveals_no_names_of_files_outside() {
    check_subject("Watching");
}

// spec: LOCAL-6
#[test]
fn the_network_and_netlink_are_out_of_reach() {
    check_subject("Network");
}

// spec: LOCAL-6
#[test]
fn socket_files_of_other_programs_are_out_of_reach() {
    check_subject("Socket files");
}

// spec: LOCAL-6
#[test]
fn prlimit_and_priorities_end_no_process_outside() {
    check_subject("Processes");
}

// spec: LOCAL-6
#[test]
fn shared_memory_and_queues_of_other_programs_are_out_of_reach() {
    check_subject("Shared memory");
}

// spec: LOCAL-6
#[test]
fn no_user_namespace_is_made() {
    check_subject("Namespaces");
}

// spec: LOCAL-6
#[test]
fn root_has_no_privileges() {
    check_subject("Privileges");
}

// spec: LOCAL-6
#[test]
fn descriptors_are_not_inherited() {
    check_subject("Open files");
}

// spec: LOCAL-6
#[test]
fn services_of_the_kernel_are_out_of_reach() {
    check_subject("Kernel");
}

// spec: LOCAL-6
#[test]
fn no_command_is_typed_into_the_terminal() {
    check_subject("Terminal");
}

#[test]
fn what_the_page_calls_possible_is_possible() {
    check(|row| row.refused_unless.is_none());
}

// spec: LOCAL-6
#[test]
fn root_starts_nothing_unless_it_is_allowed() {
    let user = User::current();
    if !user.is_root() || !kernel::has_landlock() {
        return;
    }
    let refused = run(&["sandbox", "--", "echo", "started"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(refused.stderr.contains("`--as-root`"), "{refused:?}");
    let started = run(&["sandbox", "--as-root", "--", "echo", "started"]);
    assert_eq!((started.code, started.stdout.as_str()), (Some(0), "started\n"), "{started:?}");
}
