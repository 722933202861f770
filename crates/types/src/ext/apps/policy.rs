//! What a host has to enforce for an interface: its content security policy and its permissions.

use super::{ResourceUi, UiDomains};

impl ResourceUi {
    /// The `Content-Security-Policy` that a host serves the interface with. It allows the origins
    /// that the interface declares and no others, and no origin at all if it declares none.
    ///
    /// An entry that is not a [domain](is_domain) is left out, so a declaration cannot loosen the policy.
    ///
    /// ```
    /// use bowline_types::ext::apps::ResourceUi;
    ///
    /// let policy = ResourceUi::new().with_connect_domain("https://api.example.com")
    ///     .content_security_policy();
    /// assert!(policy.contains("connect-src 'self' https://api.example.com;"));
    /// assert!(policy.starts_with("default-src 'none';"));
    /// ```
    pub fn content_security_policy(&self) -> String {
        let none = UiDomains::default();
        let domains = self.csp.as_ref().unwrap_or(&none);
        let resources = listed(&domains.resource_domains);
        // The specification has a stricter default for an interface that declares nothing.
        let connect = match self.csp {
            None => " 'none'".to_owned(),
            Some(_) => format!(" 'self'{}", listed(&domains.connect_domains)),
        };
        let frames = or(listed(&domains.frame_domains), " 'none'");
        let bases = or(listed(&domains.base_uri_domains), " 'self'");
        let fonts = match self.csp {
            None => " 'none'".to_owned(),
            Some(_) => format!(" 'self'{resources}"),
        };
        [
            "default-src 'none'".to_owned(),
            format!("script-src 'self' 'unsafe-inline'{resources}"),
            format!("style-src 'self' 'unsafe-inline'{resources}"),
            format!("img-src 'self' data:{resources}"),
            format!("media-src 'self' data:{resources}"),
            format!("font-src{fonts}"),
            format!("connect-src{connect}"),
            format!("frame-src{frames}"),
            "object-src 'none'".to_owned(),
            format!("base-uri{bases};"),
        ]
        .join("; ")
    }

    /// The `allow` attribute of the frame that shows the interface: the browser permissions that it
    /// asks for. A host may grant fewer.
    pub fn allow_attribute(&self) -> String {
        let Some(permissions) = &self.permissions else { return String::new() };
        let asked = [
            (&permissions.camera, "camera"),
            (&permissions.microphone, "microphone"),
            (&permissions.geolocation, "geolocation"),
            (&permissions.clipboard_write, "clipboard-write"),
        ];
        let words: Vec<_> =
            asked.iter().filter(|(asked, _)| asked.is_some()).map(|(_, word)| *word).collect();
        words.join("; ")
    }

    /// The origins outside of the host that the interface declares, each once. A host shows them to
    /// its user before it shows the interface.
    pub fn external_domains(&self) -> Vec<&str> {
        let mut domains: Vec<_> = self.declared().filter(|domain| is_domain(domain)).collect();
        domains.sort_unstable();
        domains.dedup();
        domains
    }

    /// The first declared origin that is not a [domain](is_domain), so that no policy can contain it.
    pub fn unusable_domain(&self) -> Option<&str> {
        self.declared().find(|domain| !is_domain(domain))
    }

    /// All declared origins.
    fn declared(&self) -> impl Iterator<Item = &str> {
        let lists = self.csp.iter().flat_map(|csp| {
            [&csp.connect_domains, &csp.resource_domains, &csp.frame_domains, &csp.base_uri_domains]
        });
        lists.flatten().map(String::as_str)
    }
}

/// Whether a text is an origin that a policy may hold: `https://api.example.com`,
/// `wss://example.com:8443`, `https://*.example.com`, or a host without a scheme.
///
/// Keywords such as `'unsafe-eval'`, schemes alone such as `data:`, and `*` are not.
pub fn is_domain(text: &str) -> bool {
    let host = match text.split_once("://") {
        Some(("https" | "http" | "wss" | "ws", host)) => host,
        Some(_) => return false,
        None => text,
    };
    let (host, port) = host.split_once(':').unwrap_or((host, "0"));
    let is_port = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let host = host.strip_prefix("*.").unwrap_or(host);
    is_port && host.split('.').all(is_label)
}

/// Whether a text is one label of a host name.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The usable origins of a list, each after a space.
fn listed(domains: &[String]) -> String {
    domains.iter().filter(|domain| is_domain(domain)).flat_map(|domain| [" ", domain]).collect()
}

/// A list, or the word for an empty one.
fn or(list: String, empty: &str) -> String {
    if list.is_empty() { empty.to_owned() } else { list }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: APP-14
    #[test]
    fn an_interface_that_declares_nothing_gets_the_strictest_policy() {
        let policy = ResourceUi::new().content_security_policy();
        let expected = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
                        style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                        media-src 'self' data:; font-src 'none'; connect-src 'none'; \
                        frame-src 'none'; object-src 'none'; base-uri 'self';";
        assert_eq!(policy, expected);
    }

    // spec: APP-13
    #[test]
    fn a_policy_allows_what_is_declared_where_it_is_declared() {
        let ui = ResourceUi::new()
            .with_connect_domain("wss://live.example.com:8443")
            .with_resource_domain("https://*.example.com")
            .with_frame_domain("https://video.example.com")
            .with_base_uri_domain("https://base.example.com");
        let expected = "default-src 'none'; \
            script-src 'self' 'unsafe-inline' https://*.example.com; \
            style-src 'self' 'unsafe-inline' https://*.example.com; \
            img-src 'self' data: https://*.example.com; \
            media-src 'self' data: https://*.example.com; \
            font-src 'self' https://*.example.com; \
            connect-src 'self' wss://live.example.com:8443; \
            frame-src https://video.example.com; object-src 'none'; \
            base-uri https://base.example.com;";
        assert_eq!(ui.content_security_policy(), expected);
        assert_eq!(ui.unusable_domain(), None);
    }

    // spec: APP-15
    #[test]
    fn a_declaration_cannot_loosen_the_policy() {
        let tricks = [
            "*",
            "https://*",
            "https:",
            "data:",
            "'unsafe-eval'",
            "https://a.example; script-src *",
            "https://a.example https://b.example",
            "https://a.example\nx",
            "https://a.example:*",
            "https://*.*.example",
            "javascript://a",
            "",
        ];
        for trick in tricks {
            let ui = ResourceUi::new().with_resource_domain(trick).with_frame_domain(trick);
            let ui = ui.with_connect_domain(trick).with_base_uri_domain(trick);
            let with_nothing = ResourceUi { csp: Some(UiDomains::default()), ..ResourceUi::new() };
            let strict = with_nothing.content_security_policy();
            assert_eq!(ui.content_security_policy(), strict, "{trick:?}");
            assert_eq!(ui.unusable_domain(), Some(trick));
        }
    }

    // spec: APP-16
    #[test]
    fn a_host_can_name_the_origins_and_permissions_to_its_user() {
        let ui = ResourceUi::new()
            .with_connect_domain("https://b.example")
            .with_resource_domain("https://a.example")
            .with_frame_domain("https://b.example")
            .with_connect_domain("*")
            .with_camera()
            .with_clipboard_write();
        assert_eq!(ui.external_domains(), ["https://a.example", "https://b.example"]);
        assert_eq!(ui.allow_attribute(), "camera; clipboard-write");
        assert_eq!(ResourceUi::new().allow_attribute(), "");
    }
}
