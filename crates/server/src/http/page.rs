//! The page for a person who opens the address of a server in a browser.
//!
//! It says what the address is, what the server offers and how to add it to a host. It has no script,
//! and everything in it that comes from the server or the request is escaped.

mod entries;

use std::fmt;

use bowline_http::server::{BrowserPage, Described, Offer, PageContent};
use bowline_types::text::counted;

use self::entries::{clean, entries};

/// The page of every server.
pub(super) const PAGE: BrowserPage = BrowserPage { html, policy: POLICY };

/// The names that the page shows of each list; the rest is counted.
const SHOWN: usize = 60;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}\
h1{line-height:1.2;margin-bottom:0}\
code,pre{font:14px/1.4 ui-monospace,monospace}\
pre{padding:.6rem .8rem;border:1px solid #8886;border-radius:.4rem;overflow-x:auto;user-select:all}\
.about{color:#888;margin-top:.2rem}\
h3{font-size:1rem;margin:1rem 0 -.4rem}";

/// Nothing may be loaded or run; the one style is named by its SHA-256.
const POLICY: &str = "default-src 'none'; style-src 'sha256-tClhidb+OtNE57pylFUVkRzZOfi4nbia+K/kSiiaU1o='; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn html(content: &PageContent<'_>) -> String {
    Page { url: &clean(content.url), described: content.described.as_ref() }.to_string()
}

/// The page, which is written as HTML.
struct Page<'a> {
    /// A [clean](clean()) URL.
    url: &'a str,
    described: Option<&'a Described<'a>>,
}

/// How many items a list has, with the noun: `1 tool`, `1 or more tools`.
fn count(offer: &Offer) -> String {
    match offer.has_more {
        true => format!("{} or more {}s", offer.names.len(), offer.noun),
        false => counted(offer.names.len(), offer.noun),
    }
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.described.map(|described| described.info);
        let name = info.map_or("server", |info| info.name.as_str());
        let title = match info {
            Some(info) => info.title.as_deref().unwrap_or(&info.name),
            None => "An MCP server",
        };
        let title = Escaped(title);
        write!(
            f,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{title}</title>\n<style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
        )?;
        if let Some(info) = info {
            let (name, version) = (Escaped(&info.name), Escaped(&info.version));
            writeln!(f, "<p class=\"about\">{name} {version}</p>")?;
        }
        writeln!(
            f,
            "<p>This is the address of a server for AI applications. It speaks the \
             <a href=\"https://modelcontextprotocol.io\" rel=\"noreferrer\">Model Context Protocol</a>: \
             applications call it, and people add it to an application.</p>"
        )?;
        match self.described {
            Some(described) => write_offers(&described.offers, f)?,
            None => writeln!(f, "<p>It shows what it offers after a login.</p>")?,
        }
        f.write_str("<h2>Add it</h2>\n<p>A click on a text selects all of it.</p>\n")?;
        for entry in entries(name, self.url) {
            let text = Escaped(&entry.text);
            writeln!(f, "<h3>{}</h3>\n<pre>{text}</pre>", Escaped(entry.place))?;
        }
        f.write_str("</body></html>\n")
    }
}

fn write_offers(offers: &[Offer], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if offers.is_empty() {
        return Ok(());
    }
    f.write_str("<h2>What it offers</h2>\n<ul>\n")?;
    for offer in offers {
        write!(f, "<li>{}:", count(offer))?;
        for (index, name) in offer.names.iter().take(SHOWN).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} <code>{}</code>", Escaped(name))?;
        }
        let is_cut = offer.names.len() > SHOWN;
        writeln!(f, "{}</li>", if is_cut { ", …" } else { "" })?;
    }
    f.write_str("</ul>\n")
}

/// Text between tags: no character of it starts markup. Control characters become spaces, and a
/// long text is cut.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars().take(1000) {
            match character {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' => f.write_str("\n")?,
                character if character.is_control() => f.write_str(" ")?,
                character => write!(f, "{character}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use bowline_types::implementation::Implementation;

    use super::*;

    #[test]
    fn the_policy_names_the_style_and_nothing_else() {
        let digest = ring::digest::digest(&ring::digest::SHA256, STYLE.as_bytes());
        let source = format!("style-src 'sha256-{}';", STANDARD.encode(digest));
        assert!(POLICY.contains(&source), "the policy needs {source}");
    }

    #[test]
    fn no_text_of_a_server_becomes_markup() {
        let mut info = Implementation::new("<script>alert(1)</script>", "\"&'");
        info.title = Some("<b>bold</b>\u{7}".to_owned());
        let names = vec!["<img src=x onerror=alert(2)>".to_owned(); 61];
        let offers = vec![Offer { noun: "tool", names, has_more: true }];
        let described = Some(Described { info: &info, offers });
        let page = html(&PageContent { url: "http://localhost/mcp", described });
        for markup in ["<script", "<img", "<b>", "\u{7}"] {
            assert!(!page.contains(markup), "{page}");
        }
        assert!(page.contains("<h1>&lt;b&gt;bold&lt;/b&gt; </h1>"), "{page}");
        assert!(page.contains("<li>61 or more tools: <code>&lt;img"), "{page}");
        assert!(page.contains(", …</li>"), "{page}");
    }

    #[test]
    fn one_is_singular_unless_there_may_be_more() {
        let offer = |most, has_more| {
            let names = vec!["a".to_owned(); most];
            count(&Offer { noun: "resource template", names, has_more })
        };
        assert_eq!(offer(1, false), "1 resource template");
        assert_eq!(offer(2, false), "2 resource templates");
        assert_eq!(offer(1, true), "1 or more resource templates");
    }

    #[test]
    fn a_protected_server_says_nothing_about_itself() {
        let page = html(&PageContent { url: "http://localhost/mcp", described: None });
        assert!(page.contains("<h1>An MCP server</h1>"), "{page}");
        assert!(page.contains("after a login"), "{page}");
        assert!(!page.contains("What it offers"), "{page}");
    }
}
