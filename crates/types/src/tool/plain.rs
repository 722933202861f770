//! Results that are texts and nothing else, written by hand.
//!
//! Most tools answer with a text, and some with a very long one. Everything else is left to serde,
//! which would write the same, letter by letter.

use super::CallToolResult;
use crate::content::Content;
use crate::quote::{plain_run, quote};

/// What stands around one text, about.
const AROUND: usize = 40;

/// What comes before a text.
const FRONT: &str = "{\"content\":[{\"type\":\"text\",\"text\":\"";

/// From this many bytes on a text is long.
const LONG: usize = 16 * 1024;

/// What a message puts around the result, about: a long text is not moved elsewhere for it.
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

    /// The same, if all that it holds is one long text that needs no escapes: written around it,
    /// where it stands.
    fn long_text(&mut self) -> Option<String> {
        let is_plain = self.structured_content.is_none() && self.meta.is_empty();
        let [block] = &mut self.content[..] else { return None };
        let length = block.plain_text()?.len();
        if !is_plain || length < LONG || plain_run(block.plain_text()?.as_bytes()) < length {
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

    /// The same, if all that it holds are texts.
    fn texts(&self) -> Option<String> {
        // Whoever adds a member is reminded of it here.
        let Self { content, structured_content, is_error, meta } = self;
        let is_plain = structured_content.is_none() && meta.is_empty();
        if !is_plain || !content.iter().all(|block| block.plain_text().is_some()) {
            return None;
        }
        let texts = || content.iter().filter_map(Content::plain_text);
        let length: usize = texts().map(|text| text.len() + AROUND).sum();
        let mut json = String::with_capacity(MESSAGE + length);
        json.push_str("{\"content\":[");
        for (number, text) in texts().enumerate() {
            json.push_str(if number == 0 { "" } else { "," });
            json.push_str("{\"type\":\"text\",\"text\":");
            quote(&mut json, text);
            json.push('}');
        }
        json.push_str(if *is_error { "],\"isError\":true}" } else { "]}" });
        Some(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

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
    fn a_long_text_is_written_around_where_it_stands() {
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
    fn what_is_more_than_text_is_left_to_serde() {
        let mut structured = result("a");
        structured.structured_content = Some(Json::empty_object());
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
