//! When a browser gets a page, and what the page can say.
//!
//! A browser asks for `text/html` and cannot do anything with a JSON-RPC error. If the program has set
//! a [`BrowserPage`](super::BrowserPage), it gets that. What the page looks like is the business of the program.
//!
//! The status stays what it is for every GET that is no stream: 405, or 401 without a good
//! credential. The protocol demands it (HTTP-40), and browsers show the page all the same. Requests
//! for event streams never come here.
//!
//! The lists are those that an anonymous modern client gets: the endpoint asks its own service, with
//! the pace and the slots of the caller. A server with authorization tells nothing about itself.

use std::time::Duration;

use bowline_types::meta::key;
use bowline_types::method::Method as ProtocolMethod;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::Response;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use serde::Deserialize;

use super::admit::Verification;
use super::body::Body;
use super::browser_page::{Described, Offer, PageContent};
use super::config::HttpConfig;
use super::endpoint::{Begun, Endpoint};
use super::inbound::Inbound;
use super::modern::Next;

/// How long the page waits for all lists together. A list may come from another server.
const LISTS_WITHIN: Duration = Duration::from_secs(2);

impl Endpoint {
    /// The page in place of a refusal, whose status and headers stay. An endpoint with authorization
    /// says nothing about itself on it. Without a page the refusal stays as it is.
    pub(super) async fn page(&self, inbound: &Inbound, refused: Response<Body>) -> Response<Body> {
        let config = self.config();
        let Some(page) = &config.page else { return refused };
        let described = match config.verification {
            Verification::None => {
                let offers = tokio::time::timeout(LISTS_WITHIN, self.offers(inbound)).await;
                Some(Described { info: self.info(), offers: offers.unwrap_or_default() })
            }
            Verification::Own(_) | Verification::Outer => None,
        };
        let url = url(config, &inbound.parts);
        let html = (page.html)(&PageContent { url: &url, described });
        let mut response = refused.map(|_| Body::full(html.into()));
        protect(response.headers_mut(), page.policy);
        response
    }

    /// What an anonymous client sees. Empty if the server speaks no revision without sessions.
    async fn offers(&self, inbound: &Inbound) -> Vec<Offer> {
        let mut offers = Vec::new();
        for (noun, method) in LISTS {
            let Some(message) = self.own_list(inbound, method).await else { continue };
            let Some(list) = read_list(&message) else { continue };
            let has_more = list.next_cursor.is_some();
            let entries = list.tools.into_iter().chain(list.prompts);
            let entries = entries.chain(list.resources).chain(list.resource_templates);
            let names: Vec<String> = entries.map(|entry| entry.name).collect();
            if !names.is_empty() {
                offers.push(Offer { noun, names, has_more });
            }
        }
        offers
    }

    /// Asks the own service for a list, as a client of 2026-07-28 would that came the same way as
    /// the browser.
    async fn own_list(&self, inbound: &Inbound, method: ProtocolMethod) -> Option<Bytes> {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{"_meta":{{"{}":"{}","{}":{{}}}}}}}}"#,
            method.name(),
            key::PROTOCOL_VERSION,
            Revision::V2026_07_28,
            key::CLIENT_CAPABILITIES,
        );
        let mut asked = inbound.own_request(method);
        let Begun::Modern(mut call) = self.begin(&mut asked, &text.into()) else { return None };
        match call.next().await {
            Next::Answer(_, message) => Some(message),
            Next::Notice(_) | Next::Forbidden(..) => None,
        }
    }
}

/// Headers that keep the page from being run, framed, sniffed or stored.
fn protect(headers: &mut HeaderMap, policy: &'static str) {
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The address to give to clients: the public URL, or else the one that the browser asked for.
fn url(config: &HttpConfig, parts: &Parts) -> String {
    config.shown_url.clone().unwrap_or_else(|| {
        let origin = config.gate.origin_of(parts).unwrap_or_default();
        format!("{origin}{}", parts.uri.path())
    })
}

/// The lists that the page shows, in its order. Only members that a list has are read.
const LISTS: [(&str, ProtocolMethod); 4] = [
    ("tool", ProtocolMethod::ToolsList),
    ("prompt", ProtocolMethod::PromptsList),
    ("resource", ProtocolMethod::ResourcesList),
    ("resource template", ProtocolMethod::ResourcesTemplatesList),
];

fn read_list(message: &Bytes) -> Option<List> {
    let answer: Answer = serde_json::from_slice(message).ok()?;
    answer.result
}

#[derive(Deserialize)]
struct Answer {
    result: Option<List>,
}

/// Any of the four lists.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    #[serde(default)]
    tools: Vec<Entry>,
    #[serde(default)]
    prompts: Vec<Entry>,
    #[serde(default)]
    resources: Vec<Entry>,
    #[serde(default)]
    resource_templates: Vec<Entry>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
}
