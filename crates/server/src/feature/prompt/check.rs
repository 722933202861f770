//! Checks the messages of a prompt against the rules of the protocol.

use bowline_types::content::Content;
use bowline_types::prompt::GetPromptResult;

use crate::feature::uri;

/// Checks what the types leave open: media types and URIs.
///
/// # Errors
///
/// Says which message is wrong, and why.
pub(super) fn messages(result: &GetPromptResult) -> Result<(), String> {
    result.messages.iter().enumerate().try_for_each(|(place, message)| {
        content(&message.content).map_err(|reason| format!("`messages[{place}].content`: {reason}"))
    })
}

fn content(content: &Content) -> Result<(), String> {
    match content {
        Content::Image(image) => media_type(&image.mime_type),
        Content::Audio(audio) => media_type(&audio.mime_type),
        Content::ResourceLink(link) => address(&link.uri),
        Content::Resource(embedded) => {
            address(&embedded.resource.uri)?;
            embedded.resource.mime_type.as_deref().map_or(Ok(()), media_type)
        }
        _ => Ok(()),
    }
}

fn address(uri: &str) -> Result<(), String> {
    uri::check_offered(uri).map_err(|reason| format!("the URI `{uri}` is none: {reason}"))
}

/// Checks a media type: `type/subtype`, and maybe parameters.
fn media_type(text: &str) -> Result<(), String> {
    let essence = text.split(';').next().unwrap_or(text).trim_end();
    let is_token = |token: &str| !token.is_empty() && token.bytes().all(may_stand_in_token);
    match essence.split_once('/') {
        Some((kind, subtype)) if is_token(kind) && is_token(subtype) => Ok(()),
        _ => Err(format!("`{text}` is not a media type such as `image/png`")),
    }
}

fn may_stand_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use bowline_types::prompt::PromptMessage;
    use bowline_types::resource::ResourceContents;

    use super::*;

    fn check(content: Content) -> Result<(), String> {
        messages(&GetPromptResult::new(vec![
            PromptMessage::user("a"),
            PromptMessage::user(content),
        ]))
    }

    fn embedded(uri: &str, media_type: &str) -> Content {
        Content::resource(ResourceContents::text(uri, "a").with_mime_type(media_type))
    }

    // spec: PRMT-9, PRMT-10, PRMT-11
    #[test]
    fn messages_bear_valid_media_types_and_uris() {
        for good in [
            Content::image(&[1], "image/svg+xml"),
            Content::audio(&[1], "audio/ogg; codecs=opus"),
            Content::resource_link("a://b", "b"),
            embedded("a://b", "text/plain;charset=utf-8"),
        ] {
            assert_eq!(check(good), Ok(()));
        }
        for (bad, expected) in [
            (Content::image(&[1], "png"), "`png` is not a media type"),
            (Content::audio(&[1], "audio/"), "`audio/` is not a media type"),
            (Content::audio(&[1], "au dio/ogg"), "is not a media type"),
            (Content::resource_link("b", "b"), "the URI `b` is none"),
            (embedded("a://b c", "text/plain"), "the URI `a://b c` is none"),
            (embedded("a://b", "text"), "`text` is not a media type"),
        ] {
            let error = check(bad).unwrap_err();
            assert!(error.starts_with("`messages[1].content`: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }
}
