//! A web page that the user is asked to visit. It is opened after a yes only.

use bowline::Question;
use bowline::auth::{BrowserUrl, Url};
use bowline::client::{Answer, WebPage};
use bowline_auth::client::open::open_in_browser;
use dialoguer::Select;

use crate::exit::Failure;
use crate::print::{self, BOLD, WARNING, clean};
use crate::terminal::{theme, unasked};

/// Shows the whole URL, and asks what to do with it.
pub(super) fn visit(question: &Question, page: &WebPage) -> Result<Answer, Failure> {
    print::note(&format!(
        "\n  {}\n\n  host: {BOLD}{}{BOLD:#}",
        clean(page.url()),
        clean(page.host())
    ));
    for suspicion in page.suspicions() {
        print::note(&format!("{WARNING}warning:{WARNING:#} {suspicion}"));
    }
    let choices = ["Open it in the browser", "I open it myself", "Decline", "Cancel"];
    // Without a default, Enter alone opens nothing.
    let theme = theme();
    let chosen = Select::with_theme(&theme).with_prompt("Visit this page?").items(choices);
    match chosen.interact().map_err(unasked)? {
        0 => {
            if let Err(reason) = open(page) {
                print::note(&format!("note: {reason}; open the page yourself"));
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
