//! Turns serde's error messages into words that the author of the JSON understands.
//!
//! serde speaks of sequences, maps, units and Rust types. The author of a message, often a model,
//! reads JSON: arrays, objects, null and ranges of numbers. Messages that are not recognized stay
//! as they are.

/// The most characters of a peer's own text that an error repeats.
const LONGEST: usize = 40;

/// The message of an error, without its line and column.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

/// The member that the message calls missing.
pub(super) fn missing(reason: &str) -> Option<&str> {
    reason.strip_prefix("missing field `")?.strip_suffix('`')
}

/// The message in plain words.
pub(super) fn plain(reason: &str) -> String {
    if reason.starts_with("duplicate field ") {
        return "it occurs twice".to_owned();
    }
    let Some((what, wanted)) = reason.rsplit_once(", expected ") else { return reason.to_owned() };
    let after = |prefix: &str| what.strip_prefix(prefix);
    if let Some(value) = after("invalid type: ").or_else(|| after("invalid value: ")) {
        format!("expected {}, found {}", expected(wanted), found(value))
    } else if let Some(length) = after("invalid length ") {
        format!("expected {}, found {length}", expected(wanted))
    } else if let Some(word) = after("unknown variant ").or_else(|| after("unknown field ")) {
        format!("expected {wanted}, found {}", cut(word))
    } else {
        reason.to_owned()
    }
}

/// The expectation in JSON's words, without Rust types. Ranges are named with their bounds, so that
/// a model can choose another number.
fn expected(what: &str) -> String {
    let range = |low: &dyn std::fmt::Display, high: &dyn std::fmt::Display| {
        format!("a whole number from {low} to {high}")
    };
    match what {
        "i8" => range(&i8::MIN, &i8::MAX),
        "i16" => range(&i16::MIN, &i16::MAX),
        "i32" => range(&i32::MIN, &i32::MAX),
        "i64" => range(&i64::MIN, &i64::MAX),
        "u8" => range(&u8::MIN, &u8::MAX),
        "u16" => range(&u16::MIN, &u16::MAX),
        "u32" => range(&u32::MIN, &u32::MAX),
        "u64" => range(&u64::MIN, &u64::MAX),
        "i128" | "isize" => "a whole number".to_owned(),
        "u128" | "usize" => "a whole number that is not negative".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "unit" => "null".to_owned(),
        "a map" | "newtype variant" => "an object".to_owned(),
        "a sequence" => "an array".to_owned(),
        _ if what.starts_with("struct ") => "an object".to_owned(),
        _ if what.starts_with("tuple ") => "an array".to_owned(),
        _ if what.starts_with("unit struct ") => "null".to_owned(),
        _ => match what.strip_prefix("a tuple of size ") {
            Some(size) => format!("an array of {size} items"),
            None => what.to_owned(),
        },
    }
}

/// The value that was found, in JSON's words.
fn found(what: &str) -> String {
    let quoted = |kind: &str| what.strip_prefix(kind)?.strip_suffix('`');
    if let Some(number) = quoted("integer `").or_else(|| quoted("floating point `")) {
        return format!("the number {number}");
    }
    if let Some(flag) = quoted("boolean `") {
        return flag.to_owned();
    }
    match what {
        "null" | "unit value" => "null".to_owned(),
        "sequence" => "an array".to_owned(),
        "map" => "an object".to_owned(),
        "unit variant" => "a string".to_owned(),
        "newtype variant" | "struct variant" | "tuple variant" => "an object".to_owned(),
        _ if what.starts_with("string ") => format!("the {}", cut(what)),
        _ => cut(what),
    }
}

/// Shortens a text that may be long, and keeps its closing quote.
fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let quote = text.chars().last().filter(|last| "\"`".contains(*last));
    let beginning: String = text.chars().take(LONGEST).collect();
    format!("{beginning}…{}", quote.map(String::from).unwrap_or_default())
}
