//! Every text either is refused or becomes exactly one argument.

use super::*;

/// Texts that other programs let a server smuggle into a command line, or that name another scheme.
const CORPUS: &[&str] = &[
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "vbscript:x",
    "ms-settings:x",
    "ssh://host/",
    "mailto:a@b.example",
    "//as.example/",
    "as.example/authorize",
    "--flag",
    "-a Calculator",
    "",
    " https://as.example/",
    "https://as.example/ --new-window",
    "https://as.example/\t",
    "https://as.example/\n--flag",
    "https://as.example/\r\nx",
    "https://as.example/\0",
    "https://as.example/\u{7f}",
    "https://as.example/\"&calc",
    "https://as.example/\"; calc",
    "https://as.example/`calc`",
    "https://as.example/|calc",
    "https://as.example/<x>",
    "https://as.example/\\..\\calc",
    "https:\\\\as.example\\",
    "https://ann@as.example/",
    "https://ann:x@as.example/",
    "https://as.example#frag",
    "https://ás.example/",
    "https://as.example/\u{202e}",
    "https://as.example:99999/",
    "https://0x7f.1/",
    "http://as.example/authorize",
    "http://127.0.0.1.as.example/",
    "http://localhost.as.example/",
    "http://10.0.0.1/",
    "https://as.example/%",
    "https://as.example/../x",
];

/// Texts that are fine: nothing between the page and the browser reads these characters.
const FINE: &[&str] = &[
    "https://as.example/authorize",
    "HTTPS://AS.example/authorize?x=1&y=2",
    "https://as.example/$(calc)",
    "https://as.example/%0a%20--flag",
    "https://as.example/?a='x'&calc;$HOME",
    "https://[2001:db8::1]:8443/authorize",
    "http://127.0.0.1:8080/authorize",
    "http://localhost/authorize",
    "http://[::1]:1/",
    "https://xn--s-zfa.example/",
];

fn page(text: &str) -> Result<BrowserUrl, Error> {
    Url::parse(text).and_then(BrowserUrl::new)
}

// spec: SBP-6, SBP-7, SBP-8, SBP-11
#[test]
fn a_page_that_is_not_https_or_on_this_machine_is_refused() {
    for text in CORPUS {
        assert!(page(text).is_err(), "{text:?}");
    }
}

// spec: SBP-9, SBP-10
#[test]
fn a_page_is_one_argument_and_no_shell_reads_it() {
    for text in FINE {
        let page = page(text).unwrap();
        for (system, program) in [
            ("linux", &["xdg-open"][..]),
            ("freebsd", &["xdg-open"]),
            ("macos", &["open"]),
            ("windows", &["rundll32", "url.dll,FileProtocolHandler"]),
        ] {
            let words = command_line(system, &page);
            let (last, first) = words.split_last().unwrap();
            assert_eq!(first, program, "{text}");
            let is_plain = last.starts_with("https://") || last.starts_with("http://");
            assert!(is_plain && last.bytes().all(|byte| byte.is_ascii_graphic()), "{last}");
        }
    }
}

#[test]
fn debug_shows_no_query() {
    let page = page("https://as.example/authorize?state=canary").unwrap();
    assert!(!format!("{page:?}").contains("canary"));
    assert!(page.to_string().contains("canary"));
}
