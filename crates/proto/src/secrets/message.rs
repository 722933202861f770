//! Which parts of a message are texts for people: the message and data of an error, the texts of a tool
//! that failed, and the data of a log message.
//!
//! Everything else has a meaning for programs and stays, byte for byte: methods, ids, URIs, questions,
//! progress, results.

use std::borrow::Cow;

use bowline_types::error::{ErrorObject, code};
use bowline_types::json::RawJson;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::values::Values;

/// Errors whose data tells a client what to do next.
const WITH_MEANING: [i64; 3] = [
    code::UNSUPPORTED_PROTOCOL_VERSION,
    code::MISSING_CLIENT_CAPABILITY,
    code::URL_ELICITATION_REQUIRED,
];

/// What to look for.
pub(super) struct Lookup {
    /// Also the ids of sessions, which data for programs may need.
    pub(super) in_texts: Values,
    pub(super) in_data: Values,
}

impl Lookup {
    /// The text of a message without the values; `None` if nothing in it is to be replaced. Text that
    /// is no message is for people.
    pub(super) fn redacted(&self, text: &str) -> Option<String> {
        if !self.in_texts.is_in(text) {
            return None;
        }
        let mut edits = Edits { text, made: Vec::new() };
        let edited = match text.trim_ascii_start().starts_with('[') {
            true => serde_json::from_str::<Vec<&RawValue>>(text).and_then(|messages| {
                messages.iter().try_for_each(|it| self.edit(it.get(), &mut edits))
            }),
            false => self.edit(text, &mut edits),
        };
        if edited.is_ok() {
            return edits.applied();
        }
        if serde_json::from_str::<&RawValue>(text).is_ok() {
            return self.in_texts.replace_in_strings(text);
        }
        let mut text = text.to_owned();
        self.in_texts.replace(&mut text);
        Some(text)
    }

    pub(super) fn redact_error(&self, error: &mut ErrorObject) {
        self.in_texts.replace(&mut error.message);
        let data = error.data.as_ref().filter(|_| !WITH_MEANING.contains(&error.code));
        let data = data.and_then(|data| self.in_data.replace_in_strings(data.as_str()));
        if let Some(data) = data {
            error.data = Some(RawJson::from_checked(data));
        }
    }

    fn edit<'a>(&self, message: &'a str, edits: &mut Edits<'a>) -> serde_json::Result<()> {
        let message: Outline<'_> = serde_json::from_str(message)?;
        if let Some(text) = message.error {
            let mut error: ErrorObject = serde_json::from_str(text.get())?;
            self.redact_error(&mut error);
            edits.replace(text, Some(serde_json::to_string(&error)?));
        }
        if let Some(result) = message.result {
            self.edit_result(result.get(), edits);
        }
        if message.method.is_some_and(|it| it == "notifications/message")
            && let Some(params) = message.params
            && let Some(data) = serde_json::from_str::<Log<'_>>(params.get())?.data
        {
            edits.replace(data, self.in_texts.replace_in_strings(data.get()));
        }
        Ok(())
    }

    /// Edits the result of a tool that reports a failure.
    fn edit_result<'a>(&self, result: &'a str, edits: &mut Edits<'a>) {
        let Ok(outcome) = serde_json::from_str::<Outcome<'_>>(result) else { return };
        if !outcome.is_error {
            return;
        }
        let blocks = outcome.content.into_iter();
        let blocks = blocks.filter_map(|it| serde_json::from_str::<Block<'_>>(it.get()).ok());
        for text in blocks.filter_map(|block| block.text) {
            edits.replace(text, self.in_texts.replace_in_strings(text.get()));
        }
        if let Some(data) = outcome.structured_content {
            edits.replace(data, self.in_data.replace_in_strings(data.get()));
        }
    }
}

/// Whether a text may be one that [`Lookup::redacted`] changes. Long results are not parsed for it.
pub(super) fn may_be_for_people(text: &[u8]) -> bool {
    let has = |part: &str| memmem::find(text, part.as_bytes()).is_some();
    let is_json = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
    !is_json || has("\"error\"") || has("isError") || has("/message\"")
}

#[derive(Deserialize)]
struct Outline<'a> {
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(default)]
    is_error: bool,
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// A text, and what replaces parts of it.
struct Edits<'a> {
    text: &'a str,
    made: Vec<(&'a str, String)>,
}

impl<'a> Edits<'a> {
    /// Replaces a part, if there is something to replace it by.
    fn replace(&mut self, part: &'a RawValue, by: Option<String>) {
        self.made.extend(by.map(|by| (part.get(), by)));
    }

    /// The edited text; `None` if nothing was replaced.
    fn applied(mut self) -> Option<String> {
        let start_of = |part: &str| part.as_ptr().addr() - self.text.as_ptr().addr();
        self.made.sort_by_key(|(part, _)| start_of(part));
        let (mut edited, mut end) = (String::new(), 0);
        for (part, by) in &self.made {
            let start = start_of(part);
            edited.extend([&self.text[end..start], by]);
            end = start + part.len();
        }
        (end > 0).then(|| edited + &self.text[end..])
    }
}
