//! A web page that the user is asked to visit. It is opened after a yes only.

use bowline::Question;
use bowline::auth::{BrowserUrl, Url};
use bowline::client::{Answer, WebPage};
use bowline_auth::client::open::open_in_browser;

use crate::exit::Failure;
use crate::print::{self, BOLD, TerminalText, line, text};
use crate::terminal;

/// Shows the whole URL, and asks what to do with it.
pub(super) fn visit(question: &Question, page: &WebPage) -> Result<Answer, Failure> {
    let url = TerminalText::from("\n  ") + line(page.url());
    print::note(url + "\n\n  host: " + BOLD.on(line(page.host())));
    for suspicion in page.suspicions() {
        print::warning(line(suspicion));
    }
    let choices = ["Open it in the browser", "I open it myself", "Decline", "Cancel"];
    let choices = choices.map(TerminalText::from);
    // Without a default, Enter alone opens nothing.
    match terminal::select(Some(&"Visit this page?".into()), &choices, None)? {
        0 => {
            if let Err(reason) = open(page) {
                print::note(text!("note: {reason}; open the page yourself"));
            }
            Ok(question.consent())
        }
        1 => Ok(question.consent()),
        2 => Ok(question.decline()),
        _ => Ok(question.cancel()),
    }
}

fn open(page: &WebPage) -> Result<(), bowline::auth::Error> {
    open_in_browser(&BrowserUrl::new(Url::parse(page.url())?)?)
}
