//! `bowline watch`.

use std::io::Read as _;

use super::*;

#[test]
fn changes_are_printed_as_they_happen_in_both_eras() {
    for revision in BOTH {
        let http = HttpExhibit::start();
        for (options, expected) in [
            (&["--uri", "exhibit://clock"][..], "exhibit://clock changed\n"),
            (
                &["--uri", "exhibit://clock", "--json"][..],
                "{\"kind\":\"resource\",\"uri\":\"exhibit://clock\"}\n",
            ),
        ] {
            let mut command = bowline();
            command.args(["watch", &http.url, "--count", "1", "--revision", revision]);
            command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut note = String::new();
            let mut stderr = BufReader::new(child.stderr.take().unwrap());
            stderr.read_line(&mut note).unwrap();
            assert_eq!(note, "watching; Ctrl-C ends\n");
            assert_eq!(run(&["call", &http.url, "change"]).stdout, "changed\n");
            let mut stdout = String::new();
            child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
            assert_eq!((stdout.as_str(), child.wait().unwrap().code()), (expected, Some(0)));
        }
    }
}
