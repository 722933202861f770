//! Arguments of a tool from the command line: `key=value`, `key:=json`, `--args JSON`, `-`.
//!
//! The tool's schema says which type a value has: `a=1` is a number for one tool and a text for
//! another.

use std::io::{IsTerminal as _, read_to_string, stdin};

use bowline_ops::schema::{JsonMembers, JsonType, Parameter, ToolParameters, Types};
use bowline_ops::suggest;
use bowline_types::json::{Object, RawJson};

use crate::exit::Failure;
use crate::print;
use crate::print::text;

/// Arguments as they stand on the command line.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    /// `key=value`, `key:=json`, or `-`.
    pub(crate) words: &'a [String],
    /// The value of `--args`.
    pub(crate) json: Option<&'a str>,
    /// What `-` stands for; see [`standard_input`].
    pub(crate) input: Option<&'a str>,
}

impl Words<'_> {
    /// Whether types of the tool's schema are needed to read them.
    pub(crate) fn need_schema(&self) -> bool {
        self.json.is_none() && !self.words.iter().any(|word| word == "-")
            || self.words.iter().any(|word| word != "-")
    }

    /// Reads them as arguments for a tool with these parameters.
    ///
    /// # Errors
    ///
    /// If a value does not have the type of its parameter, or a required one is missing.
    pub(crate) fn read(&self, parameters: &ToolParameters) -> Result<Object, Failure> {
        let mut members = JsonMembers::default();
        if let Some(json) = self.json {
            members = object(json, "--args")?;
        }
        let mut is_whole = self.json.is_some();
        for word in self.words {
            if word == "-" {
                is_whole = true;
                for (name, value) in object(self.input.unwrap_or_default(), "standard input")?.0 {
                    members.set(&name, value);
                }
                continue;
            }
            add(&mut members, word, parameters)?;
        }
        if !is_whole {
            check_required(&members, parameters)?;
        }
        let json = RawJson::from_value(&members).unwrap_or_default();
        Ok(Object::new(json).unwrap_or_default())
    }
}

/// The two sides of `key=value`, both texts.
///
/// # Errors
///
/// If there is no `=`.
pub(crate) fn pair(word: &str) -> Result<(String, String), Failure> {
    let (key, value) = word.split_once('=').ok_or_else(|| {
        Failure::usage(text!("`{word}`: expected `key=value`"))
            .hint("`bowline list TARGET prompts templates` shows their arguments")
    })?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Reads standard input if one of the words is `-`.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) async fn standard_input(words: &[String]) -> Result<Option<String>, Failure> {
    if !words.iter().any(|word| word == "-") {
        return Ok(None);
    }
    if stdin().is_terminal() {
        print::note("reading arguments from standard input; Ctrl-D ends them");
    }
    // Reading blocks its thread. Ctrl-C ends the command, which does not wait for this thread.
    let read = tokio::task::spawn_blocking(|| read_to_string(stdin())).await;
    let text = read.map_err(std::io::Error::other).and_then(|text| text);
    text.map(Some).map_err(|error| Failure::usage(text!("cannot read standard input: {error}")))
}

fn object(json: &str, place: &str) -> Result<JsonMembers, Failure> {
    let wrong = |reason: String| Failure::usage(text!("{place}: {reason}"));
    let json =
        RawJson::from_text(json.trim()).map_err(|error| wrong(format!("no JSON: {error}")))?;
    if !json.is_object() {
        return Err(wrong(r#"expected a JSON object such as {"a": 1}"#.to_owned()));
    }
    json.parse().map_err(|error| wrong(error.to_string()))
}

/// Adds one word. A key of an array that is repeated adds an element.
fn add(members: &mut JsonMembers, word: &str, parameters: &ToolParameters) -> Result<(), Failure> {
    let Some((key, value)) = word.split_once('=') else {
        return Err(Failure::usage(text!("`{word}`: expected `key=value`"))
            .hint("`key:=json` gives JSON, `--args JSON` all arguments, `-` reads them from standard input"));
    };
    if let Some(key) = key.strip_suffix(':') {
        let json = RawJson::from_text(value)
            .map_err(|error| Failure::usage(text!("`{key}`: `{value}` is no JSON: {error}")))?;
        members.set(key, json);
        return Ok(());
    }
    let parameter = parameters.named(key);
    if parameter.is_none() && !parameters.is_open {
        let names: Vec<&str> = parameters.all.iter().map(|it| it.name.as_str()).collect();
        let failure = Failure::usage(text!("the tool has no argument `{key}`")).hint("it has none");
        return Err(failure.suggesting(key, &names));
    }
    let before = members.0.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let value = match (parameter, before) {
        (Some(it), before) if it.is_array() => element(it, value, before)?,
        (_, Some(_)) => return Err(Failure::usage(text!("`{key}` is given twice"))),
        (Some(it), None) => typed(key, value, &it.types)?,
        (None, None) => typed(key, value, &Types::default())?,
    };
    if let Some(values) = parameter.and_then(|it| it.values.as_ref()) {
        check_value(key, &value, values)?;
    }
    members.set(key, value);
    Ok(())
}

/// Refuses a value that is not among those that the schema lists.
fn check_value(key: &str, value: &RawJson, values: &[RawJson]) -> Result<(), Failure> {
    let parsed = |json: &RawJson| json.parse::<serde_json::Value>().ok();
    if values.iter().any(|it| parsed(it) == parsed(value)) {
        return Ok(());
    }
    let plain = |it: &RawJson| it.parse().unwrap_or_else(|_| it.as_str().to_owned());
    let known: Vec<String> = values.iter().map(plain).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let known = suggest::listed(&known);
    let text = text!("`{key}`: expected one of {known}, found `{}`", plain(value));
    Err(Failure::usage(text).hint(text!("`{key}:=JSON` sends any JSON value as it is")))
}

/// Refuses an element that is not among those that the schema lists.
fn check_element(parameter: &Parameter, element: &RawJson) -> Result<(), Failure> {
    let values = parameter.item_values.as_ref();
    values.map_or(Ok(()), |it| check_value(&parameter.name, element, it))
}

/// An array: the whole of it as JSON, or one element more than before.
fn element(
    parameter: &Parameter,
    value: &str,
    before: Option<&RawJson>,
) -> Result<RawJson, Failure> {
    if before.is_none()
        && let Some(whole) = as_type(value, JsonType::Array)
    {
        for one in whole.parse::<Vec<RawJson>>().iter().flatten() {
            check_element(parameter, one)?;
        }
        return Ok(whole);
    }
    let mut elements: Vec<RawJson> =
        before.and_then(|before| before.parse().ok()).unwrap_or_default();
    let one = typed(&parameter.name, value, &parameter.items)?;
    check_element(parameter, &one)?;
    elements.push(one);
    Ok(RawJson::from_value(&elements).unwrap_or_default())
}

/// A value as one of the types; a text if nothing else fits.
fn typed(key: &str, value: &str, types: &Types) -> Result<RawJson, Failure> {
    let is_any = types.0.is_empty();
    if is_any && let Ok(json) = RawJson::from_text(value) {
        return Ok(json);
    }
    if let Some(json) = types.0.iter().find_map(|one| as_type(value, *one)) {
        return Ok(json);
    }
    if is_any {
        return Ok(RawJson::from_value(value).unwrap_or_default());
    }
    let failure = Failure::usage(text!("`{key}`: expected {}, found `{value}`", expected(types)));
    Err(failure.hint(text!("`{key}:=JSON` sends any JSON value as it is")))
}

/// A value as this type, if it is one.
fn as_type(value: &str, one: JsonType) -> Option<RawJson> {
    let fits = |json: &RawJson| match one {
        JsonType::Null => json.as_str() == "null",
        JsonType::Boolean => matches!(json.as_str(), "true" | "false"),
        JsonType::Integer => is_number(json) && is_whole(json.as_str()),
        JsonType::Number => is_number(json),
        JsonType::Array => json.as_str().starts_with('['),
        JsonType::Object => json.is_object(),
        JsonType::String => true,
    };
    match one {
        JsonType::String => RawJson::from_value(value).ok(),
        _ => RawJson::from_text(value.trim()).ok().filter(fits),
    }
}

fn is_number(json: &RawJson) -> bool {
    json.as_str().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Whether a number of JSON has no fraction: `1`, `1.0`, `1e3`.
fn is_whole(number: &str) -> bool {
    let is_plain = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    is_plain || number.parse().is_ok_and(|number: f64| number.fract() == 0.0)
}

fn expected(types: &Types) -> String {
    let article = |one: &JsonType| match one {
        JsonType::Null => "null".to_owned(),
        JsonType::Integer | JsonType::Array | JsonType::Object => format!("an {}", one.name()),
        JsonType::Boolean => "`true` or `false`".to_owned(),
        _ => format!("a {}", one.name()),
    };
    types.0.iter().map(article).collect::<Vec<_>>().join(" or ")
}

fn check_required(members: &JsonMembers, parameters: &ToolParameters) -> Result<(), Failure> {
    let is_missing =
        |it: &&Parameter| it.is_required && !members.0.iter().any(|(name, _)| *name == it.name);
    let missing: Vec<String> = parameters
        .all
        .iter()
        .filter(is_missing)
        .map(|it| format!("`{}` ({})", it.name, it.types))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => {
            let noun = if missing.len() == 1 { "argument" } else { "arguments" };
            Err(Failure::usage(text!("missing {noun}: {}", missing.join(", ")))
                .hint("write each as `key=value`"))
        }
    }
}

#[cfg(test)]
mod tests;
