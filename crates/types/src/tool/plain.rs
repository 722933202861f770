//! Writes tool results that contain only text, without serde.
//!
//! Most tools return a text, and some a very long one. serde writes all other results. It would
//! write text-only results too, with the same bytes, but slower.

use super::CallToolResult;
use crate::content::Content;
use crate::quote::{plain_run, quote};

/// About how many bytes stand around one text.
const AROUND: usize = 40;

/// The JSON before a text.
const FRONT: &str = "{\"content\":[{\"type\":\"text\",\"text\":\"";

/// Texts from this many bytes on are extended in place instead of copied.
const LONG: usize = 16 * 1024;

/// About how many bytes the message adds around the result. Reserved in advance, so that a long
/// text does not move again.
const MESSAGE: usize = 400;

impl CallToolResult {
    /// The result as JSON.
    ///
    /// # Errors
    ///
    /// If something in it cannot be written as JSON.
    pub fn into_json(mut self) -> Result<String, serde_json::Error> {
        let written = self.long_text().or_else(|| self.texts());
        written.map_or_else(|| serde_json::to_string(&self), Ok)
    }

    /// The JSON, if the result is one long text that needs no escapes. Written into the text's own
    /// buffer.
    fn long_text(&mut self) -> Option<String> {
        let has_only_content = self.has_only_content();
        let [block] = &mut self.content[..] else { return None };
        let length = block.plain_text()?.len();
        if !has_only_content || length < LONG || plain_run(block.plain_text()?.as_bytes()) < length
        {
            return None;
        }
        let Content::Text(block) = block else { return None };
        let mut json = std::mem::take(&mut block.text);
        let end = if self.is_error { "\"}],\"isError\":true}" } else { "\"}]}" };
        json.reserve_exact(FRONT.len() + end.len() + MESSAGE);
        json.insert_str(0, FRONT);
        json.push_str(end);
        Some(json)
    }

    /// The JSON, if the result contains only texts.
    fn texts(&self) -> Option<String> {
        let is_plain = |block: &Content| block.plain_text().is_some();
        if !self.has_only_content() || !self.content.iter().all(is_plain) {
            return None;
        }
        let texts = || self.content.iter().filter_map(Content::plain_text);
        let length: usize = texts().map(|text| text.len() + AROUND).sum();
        let mut json = String::with_capacity(MESSAGE + length);
        json.push_str("{\"content\":[");
        for (number, text) in texts().enumerate() {
            json.push_str(if number == 0 { "" } else { "," });
            json.push_str("{\"type\":\"text\",\"text\":");
            quote(&mut json, text);
            json.push('}');
        }
        json.push_str(if self.is_error { "],\"isError\":true}" } else { "]}" });
        Some(json)
    }

    /// Whether the result has no members but those that this file writes: `content` and `isError`.
    ///
    /// A member that most results have must be written by `texts` and `long_text`, in the order of
    /// the struct; otherwise all results take the slow path.
    fn has_only_content(&self) -> bool {
        // Without `..`: a new member fails to compile here, so that no result loses it.
        let Self { content: _, is_error: _, structured_content, meta } = self;
        structured_content.is_none() && meta.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;

    fn result(text: &str) -> CallToolResult {
        CallToolResult::from_text(text)
    }

    #[test]
    fn texts_are_written_as_serde_would() {
        let every: String = (0..0x300).filter_map(char::from_u32).collect();
        let long = format!("{}\n{}", "a".repeat(1000), "ü\"".repeat(300));
        let shifted: Vec<_> = (0..20).map(|by| format!("{}\u{1}tail", " ".repeat(by))).collect();
        for text in
            ["", "a", "\\\"", &every, &long].into_iter().chain(shifted.iter().map(|it| &**it))
        {
            let mut result = CallToolResult::new(vec![Content::text(text), Content::text("b")]);
            for is_error in [false, true] {
                result.is_error = is_error;
                assert_eq!(result.texts(), serde_json::to_string(&result).ok(), "{text:?}");
                assert_eq!(result.long_text(), None);
            }
        }
        let nothing = CallToolResult::default();
        assert_eq!(nothing.texts(), serde_json::to_string(&nothing).ok());
    }

    #[test]
    fn a_long_text_is_extended_in_place() {
        for is_error in [false, true] {
            let mut result = result(&"ü ".repeat(LONG));
            result.is_error = is_error;
            let written = serde_json::to_string(&result).ok();
            assert_eq!(result.long_text(), written);
        }
        let mut escaped = result(&"\n".repeat(LONG));
        let mut marked = result(&"a".repeat(LONG));
        marked.meta.set("example.com/key", &1).unwrap();
        let mut two = result(&"a".repeat(LONG));
        two.content.push(Content::text("b"));
        for other in [&mut escaped, &mut marked, &mut two] {
            let written = serde_json::to_string(other).unwrap();
            assert_eq!(other.long_text(), None);
            assert_eq!(other.clone().into_json().unwrap(), written);
        }
    }

    #[test]
    fn other_results_are_left_to_serde() {
        let mut structured = result("a");
        structured.structured_content = Some(RawJson::empty_object());
        let mut marked = result("a");
        marked.meta.set("example.com/key", &1).unwrap();
        let mut other = result("a");
        other.content.push(Content::image(b"", "image/png"));
        for more in [structured, marked, other] {
            assert_eq!(more.texts(), None);
            assert_eq!(more.clone().into_json().unwrap(), serde_json::to_string(&more).unwrap());
        }
    }
}
