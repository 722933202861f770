//! Pages that a browser may open, and the program that opens one.
//!
//! The authorization server chooses the page. So it must be `https` (or this machine), it is one
//! argument of a program, and no shell ever sees it.

use std::fmt;
use std::process::{Command, Stdio};

use crate::error::{Error, Kind};
use crate::url::Url;

/// A page that may be opened in a browser: `https`, or `http` on this machine.
///
/// ```
/// use bowline_auth::client::open::BrowserUrl;
/// use bowline_auth::url::Url;
///
/// assert!(BrowserUrl::new(Url::parse("https://as.example/authorize?x=1")?).is_ok());
/// assert!(BrowserUrl::new(Url::parse("http://as.example/authorize")?).is_err());
/// # Ok::<(), bowline_auth::error::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserUrl(Url);

impl BrowserUrl {
    /// Checks a page. That it is printable ASCII without quotes, spaces and backslashes is already
    /// known of a [`Url`].
    ///
    /// # Errors
    ///
    /// If it is neither `https` nor on this machine.
    pub fn new(url: Url) -> Result<Self, Error> {
        match url.is_confidential() {
            true => Ok(Self(url)),
            false => {
                let text = format!("a browser must not open {url:?}: it is not `https`");
                Err(Error::new(Kind::Url, text))
            }
        }
    }

    /// The URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The text, which begins with `https://` or `http://` in lower case.
    pub fn to_text(&self) -> String {
        let query = self.0.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{}{query}", self.0.origin(), self.0.path())
    }
}

impl fmt::Display for BrowserUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Debug for BrowserUrl {
    /// Without the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Browser{:?}", self.0)
    }
}

/// The program and its arguments, of which the page is the last.
fn command_line(system: &str, page: &BrowserUrl) -> Vec<String> {
    let program: &[&str] = match system {
        "macos" => &["open"],
        "windows" => &["rundll32", "url.dll,FileProtocolHandler"],
        _ => &["xdg-open"],
    };
    let words = program.iter().map(|word| (*word).to_owned());
    words.chain([page.to_text()]).collect()
}

/// Opens a page in the user's browser.
///
/// # Errors
///
/// If the program that opens pages cannot be started.
pub fn open_in_browser(page: &BrowserUrl) -> Result<(), Error> {
    let words = command_line(std::env::consts::OS, page);
    let [program, arguments @ ..] = words.as_slice() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error| {
        let text = format!("the program `{program}`, which opens pages, cannot be started");
        Error::new(Kind::Visit, text).with_source(error)
    };
    let mut child = command.spawn().map_err(failed)?;
    // The thread ends with the program; without it, the program would stay a zombie.
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod open_url_corpus;
