//! The members at the end of a message of which only the last bytes are known.

/// The last members of an object, as an object of their own, found from its last bytes. Gives `None`
/// if the text does not end an object.
///
/// The text is read backwards from its closing brace. In JSON a quote with an even number of
/// backslashes before it begins or ends a string, so this direction is as certain as the other one.
pub(crate) fn last_members(tail: &[u8]) -> Option<String> {
    let members = tail.trim_ascii_end().strip_suffix(b"}")?;
    let (mut depth, mut in_string, mut begin) = (0_usize, false, None);
    for (at, byte) in members.iter().enumerate().rev() {
        match byte {
            b'"' => match is_escaped(members.get(..at)?) {
                Some(is_escaped) => in_string ^= !is_escaped,
                None => break,
            },
            _ if in_string => {}
            b'}' | b']' => depth += 1,
            b'{' | b'[' if depth == 0 => {
                begin = Some(at + 1);
                break;
            }
            b'{' | b'[' => depth -= 1,
            b',' if depth == 0 => begin = Some(at + 1),
            _ => {}
        }
    }
    let members = std::str::from_utf8(members.get(begin?..)?).ok()?;
    Some(format!("{{{members}}}"))
}

/// Whether a quote after this text is part of a string. `None` if the text begins too late to know.
fn is_escaped(before: &[u8]) -> Option<bool> {
    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    (backslashes < before.len() || backslashes == 0).then_some(backslashes % 2 == 1)
}
