//! The page for browsers, as a program sets it.

use bowline_types::implementation::Implementation;

/// A page for a person who opens the address of an endpoint in a browser.
#[derive(Clone, Copy, Debug)]
pub struct BrowserPage {
    /// Writes the page as HTML. Everything that it is given comes from the server or the request, so it
    /// has to be escaped.
    pub html: fn(&PageContent<'_>) -> String,
    /// The `Content-Security-Policy` of the page.
    pub policy: &'static str,
}

/// What a page can say.
#[derive(Debug)]
pub struct PageContent<'a> {
    /// The address for clients: the public URL, or else the one that the browser asked for.
    pub url: &'a str,
    /// `None` if the server tells strangers nothing.
    pub described: Option<Described<'a>>,
}

/// What an open server tells everyone.
#[derive(Debug)]
pub struct Described<'a> {
    /// Its name and version.
    pub info: &'a Implementation,
    /// Its lists, without those that are empty.
    pub offers: Vec<Offer>,
}

/// One list of the server.
#[derive(Debug)]
pub struct Offer {
    /// What is listed, such as `tool`.
    pub noun: &'static str,
    /// The names in it.
    pub names: Vec<String>,
    /// Whether the server has more of them.
    pub has_more: bool,
}
