//! The client of transcripts about servers: its name and its capabilities.
//!
//! The text in braces is the same in both eras: `@initialize{elicitation}` is the handshake of a
//! client with elicitation, `@client{elicitation}` is the `_meta` of a request of such a client.
//! `pages` adds URL elicitation; `model-tools` and `model-context` are sampling with tools or context;
//! `tasks` is the tasks extension.

use bowline_types::meta::key;
use bowline_types::revision::Revision;
use serde_json::{Map, Value, json};

/// What a transcript's client declares beside its name. Made for each placeholder; a play has no
/// other client.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClientIdentity {
    capabilities: Map<String, Value>,
    progress: Option<Value>,
    log: Option<String>,
}

impl ClientIdentity {
    /// Parses the text in the braces: names of capabilities, `progress:TOKEN`, `log:LEVEL`.
    ///
    /// # Errors
    ///
    /// Names the word that is unknown.
    pub(crate) fn parse(extras: &str) -> Result<Self, String> {
        let mut identity = Self::default();
        for word in extras.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once(':') {
                Some(("progress", token)) => {
                    let token = serde_json::from_str(token);
                    identity.progress = Some(token.map_err(|error| format!("`{word}`: {error}"))?);
                }
                Some(("log", level)) => identity.log = Some(level.to_owned()),
                None => identity.declare(word)?,
                Some(_) => return Err(unknown(word)),
            }
        }
        Ok(identity)
    }

    /// `_meta` of a request of 2026-07-28.
    pub(crate) fn meta(&self, revision: Revision) -> String {
        let mut meta = vec![
            member(key::PROTOCOL_VERSION, &json!(revision)),
            member(key::CLIENT_INFO, &info()),
            member(key::CLIENT_CAPABILITIES, &self.capabilities(revision)),
        ];
        meta.extend(self.log.as_ref().map(|level| member(key::LOG_LEVEL, &json!(level))));
        meta.extend(self.progress.as_ref().map(|token| member(key::PROGRESS_TOKEN, token)));
        format!("{{{}}}", meta.join(","))
    }

    /// The params of a handshake.
    pub(crate) fn handshake(&self, revision: Revision) -> String {
        let members = [
            member("protocolVersion", &json!(revision)),
            member("capabilities", &self.capabilities(revision)),
            member("clientInfo", &info()),
        ];
        format!("{{{}}}", members.join(","))
    }

    /// Adds the capability that a word stands for, in the shape of the newest revision.
    fn declare(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = match word {
            "elicitation" => ("elicitation", json!({"form": {}})),
            "pages" => ("elicitation", json!({"form": {}, "url": {}})),
            "sampling" => (word, json!({})),
            "model-tools" => ("sampling", json!({"tools": {}})),
            "model-context" => ("sampling", json!({"context": {}})),
            "roots" => (word, json!({"listChanged": true})),
            "tasks" => ("extensions", json!({"io.modelcontextprotocol/tasks": {}})),
            _ => return Err(unknown(word)),
        };
        self.capabilities.insert(name.to_owned(), value);
        Ok(())
    }

    /// The capabilities as JSON of a revision. Details that a revision does not have are left out,
    /// so that one file can serve several revisions.
    pub(crate) fn capabilities(&self, revision: Revision) -> Value {
        let mut capabilities = self.capabilities.clone();
        let mut simplify = |name, has_more: bool| {
            if let Some(capability) = capabilities.get_mut(name)
                && !has_more
            {
                *capability = json!({});
            }
        };
        simplify("elicitation", revision.has_elicitation_modes());
        simplify("sampling", revision.has_sampling_tools());
        simplify("roots", revision.has_roots_changes());
        Value::Object(capabilities)
    }
}

fn info() -> Value {
    json!({"name": "transcript", "version": "1.0.0"})
}

fn member(name: &str, value: &Value) -> String {
    format!("{}:{value}", json!(name))
}

fn unknown(word: &str) -> String {
    format!(
        "`{word}` is unknown; known are `elicitation`, `pages`, `sampling`, \
         `model-tools`, `model-context`, `roots`, `progress:TOKEN` and `log:LEVEL`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meta_of_a_request_has_the_clients_capabilities_and_wishes() {
        let identity = ClientIdentity::parse("elicitation, progress:\"a\", log:info").unwrap();
        let meta: Value = serde_json::from_str(&identity.meta(Revision::LATEST)).unwrap();
        assert_eq!(meta[key::PROTOCOL_VERSION], "2026-07-28");
        assert_eq!(meta[key::CLIENT_CAPABILITIES], json!({"elicitation": {"form": {}}}));
        assert_eq!(meta[key::LOG_LEVEL], "info");
        assert_eq!(meta[key::PROGRESS_TOKEN], "a");
    }

    #[test]
    fn a_handshake_declares_elicitation_in_the_form_of_its_revision() {
        let identity = ClientIdentity::parse("elicitation").unwrap();
        let params =
            |revision| serde_json::from_str::<Value>(&identity.handshake(revision)).unwrap();
        assert_eq!(params(Revision::V2025_06_18)["capabilities"], json!({"elicitation": {}}));
        assert_eq!(
            params(Revision::V2025_11_25)["capabilities"],
            json!({"elicitation": {"form": {}}})
        );
    }

    #[test]
    fn sampling_and_roots_are_declared_in_the_form_of_the_revision() {
        let identity = ClientIdentity::parse("model-tools,roots").unwrap();
        let older = json!({"roots": {"listChanged": true}, "sampling": {}});
        assert_eq!(identity.capabilities(Revision::V2025_06_18), older);
        let newest = json!({"roots": {}, "sampling": {"tools": {}}});
        assert_eq!(identity.capabilities(Revision::LATEST), newest);
    }

    #[test]
    fn an_error_names_the_unknown_word() {
        for word in ["flying", "speed:9", "progress:{"] {
            assert!(ClientIdentity::parse(word).unwrap_err().contains(word), "{word}");
        }
    }
}
