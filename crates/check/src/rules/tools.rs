//! Tools: definitions, and results of calls.

use std::collections::HashSet;

use bowline_json_schema::Validator;
use serde_json::Value;

use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, FROM_06_TO_11, SINCE_06, SINCE_11, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::{Seen, WireReply};

pub(super) const RULES: &[Rule] = &[
    must("SCH-6", SINCE_11, "schemas are valid in their dialect", valid_schemas),
    must("TOOL-14", SINCE_11, "an input schema is an object, never null", schema_object),
    must("TOOL-16", FROM_06_TO_11, "structured output is an object", object_output).inferred(),
    should("TOOL-19", SINCE_11, "names have 1 to 128 characters", name_length),
    should("TOOL-21", SINCE_11, "names have letters, digits, `_`, `-` and `.`", name_letters),
    should("TOOL-23", SINCE_11, "names of tools are unique", unique_names),
    must("TOOL-29", SINCE_06, "structured output fits the output schema", output_fits),
    should("TOOL-31", SINCE_06, "structured output comes as text, too", text_too),
    shaped("TOOL-32", ALL, "the result of a call has `content`", &["CallToolResult"]).inferred(),
    must("TOOL-33", ALL, "an unknown tool is answered with an error", unknown_tool).inferred(),
    must("TOOL-34", SINCE_11, "a call without a name is answered with an error", no_name)
        .inferred(),
    must("TOOL-36", SINCE_11, "arguments that do not fit give a result with `isError`", misfit)
        .inferred(),
    must("TOOL-42", ALL, "arguments are validated", validated),
    must("XMH-3", STATELESS, "names in `x-mcp-header` are not empty", header_not_empty),
    must("XMH-4", STATELESS, "names in `x-mcp-header` are tokens of HTTP", header_token),
    must("XMH-5", STATELESS, "names in `x-mcp-header` have no control characters", header_control),
    must("XMH-6", STATELESS, "names in `x-mcp-header` are unique in a tool", header_unique),
    must("XMH-7", STATELESS, "only simple values become headers", header_type),
    must(
        "XMH-9",
        STATELESS,
        "properties that become headers are reached by `properties`",
        header_place,
    ),
    must("XMH-10", STATELESS, "no property of arrays or choices becomes a header", header_reach),
];

/// The code of an error about params.
const INVALID_PARAMS: i64 = -32602;

/// The tools in a page of the list.
fn tools<'a>(seen: &Seen<'a>) -> Option<impl Iterator<Item = (&'a str, &'a Value)>> {
    let (_, result) = seen.result_of("tools/list")?;
    let tools = result.get("tools").and_then(Value::as_array).into_iter().flatten();
    Some(tools.filter_map(|tool| Some((tool.get("name")?.as_str()?, tool))))
}

/// Judges each tool; a reason breaks the rule.
fn each(seen: &Seen<'_>, judge: impl Fn(&str, &Value) -> Option<String>) -> Verdict {
    let Some(tools) = tools(seen) else { return Idle };
    let mut tools = tools.peekable();
    if tools.peek().is_none() {
        return Idle;
    }
    Verdict::first(tools.filter_map(|(name, tool)| judge(name, tool)))
}

fn valid_schemas(seen: &Seen<'_>) -> Verdict {
    each(seen, |name, tool| {
        let schemas = ["inputSchema", "outputSchema"].into_iter();
        let mut schemas = schemas.filter_map(|member| Some((member, tool.get(member)?)));
        schemas.find_map(|(member, schema)| {
            let schema = schema.is_object().then_some(schema)?;
            let error = Validator::compile(schema).err()?;
            // What we do not support may still be valid.
            let is_ours = error.is_unsupported_dialect()
                || error.is_external_reference()
                || error.exceeds_limits()
                || error.is_pattern_error();
            (!is_ours).then(|| format!("`{member}` of the tool `{name}`: {error}"))
        })
    })
}

fn schema_object(seen: &Seen<'_>) -> Verdict {
    each(seen, |name, tool| {
        let schema = tool.get("inputSchema")?;
        (!schema.is_object()).then(|| format!("`inputSchema` of the tool `{name}` is {schema}"))
    })
}

fn object_output(seen: &Seen<'_>) -> Verdict {
    if let Some((_, result)) = seen.result_of("tools/call") {
        let Some(output) = result.get("structuredContent") else { return Idle };
        return Verdict::that(output.is_object(), || "`structuredContent` is no object".to_owned());
    }
    each(seen, |name, tool| {
        let schema = tool.get("outputSchema")?;
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        (!is_object).then(|| format!("`outputSchema` of `{name}` is not that of an object"))
    })
}

fn name_length(seen: &Seen<'_>) -> Verdict {
    each(seen, |name, _| {
        let length = name.chars().count();
        (!(1..=128).contains(&length)).then(|| format!("a name has {length} characters"))
    })
}

fn name_letters(seen: &Seen<'_>) -> Verdict {
    each(seen, |name, _| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        (!name.chars().all(is_fine)).then(|| format!("the tool `{name}` has other characters"))
    })
}

fn unique_names(seen: &Seen<'_>) -> Verdict {
    let Some(tools) = tools(seen) else { return Idle };
    let mut names = HashSet::new();
    let repeated = tools.filter(|(name, _)| !names.insert(*name));
    Verdict::first(repeated.map(|(name, _)| format!("two tools are called `{name}`")))
}

/// A complete result of a call of a tool that has an output schema.
fn with_schema<'a>(seen: &Seen<'a>) -> Option<(&'a str, &'a Value, &'a Value)> {
    let (asked, result) = seen.result_of("tools/call")?;
    let is_error = result.get("isError").is_some_and(|it| *it == Value::Bool(true));
    let is_task = result.get("task").is_some() && asked.params.get("task").is_some();
    let name = asked.param("name").filter(|_| !is_error && !is_task)?;
    let schema = seen.past.tools.get(name)?.get("outputSchema")?;
    Some((name, schema, result))
}

fn output_fits(seen: &Seen<'_>) -> Verdict {
    let Some((name, schema, result)) = with_schema(seen) else { return Idle };
    let Some(output) = result.get("structuredContent") else {
        return Broken(format!("`{name}` has an output schema, and no `structuredContent` came"));
    };
    let Ok(validator) = Validator::compile(schema) else { return Idle };
    match validator.check("structuredContent", output) {
        Ok(()) => Kept,
        Err(violations) => Broken(format!("output of `{name}`: {violations}")),
    }
}

fn text_too(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("tools/call") else { return Idle };
    let Some(output) = result.get("structuredContent") else { return Idle };
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut texts = blocks.filter_map(|block| block.get("text").and_then(Value::as_str));
    let is_same =
        texts.any(|text| serde_json::from_str::<Value>(text).is_ok_and(|it| it == *output));
    Verdict::that(is_same, || "no text block holds the structured output as JSON".to_owned())
}

fn call<'a>(seen: &Seen<'a>) -> Option<WireReply<'a>> {
    seen.reply_to("tools/call")
}

fn unknown_tool(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = call(seen) else { return Idle };
    if !reply.asked.param("name").is_some_and(|name| name.starts_with("bowline-unknown")) {
        return Idle;
    }
    Verdict::that(reply.error.is_some(), || "a call of an unknown tool got a result".to_owned())
}

fn no_name(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = call(seen).filter(|reply| reply.asked.param("name").is_none()) else {
        return Idle;
    };
    Verdict::that(reply.error.is_some(), || "a call without a name got a result".to_owned())
}

/// Whether a server may also refuse arguments with -32602: the schema of the stateless era has an example
/// of just that.
fn may_be_refused(seen: &Seen<'_>) -> bool {
    !seen.revision.has_handshake()
}

/// A call whose arguments do not fit the schema of the tool: the answer, and what does not fit.
fn misfitting<'a>(seen: &Seen<'a>) -> Option<(WireReply<'a>, String)> {
    let reply = call(seen)?;
    let name = reply.asked.param("name")?;
    let schema = seen.past.tools.get(name)?.get("inputSchema")?;
    let empty = Value::Object(serde_json::Map::new());
    let arguments = reply.asked.params.get("arguments").unwrap_or(&empty);
    let violations = Validator::compile(schema).ok()?.check("arguments", arguments).err()?;
    Some((reply, violations.to_string()))
}

fn misfit(seen: &Seen<'_>) -> Verdict {
    let Some((reply, violations)) = misfitting(seen) else { return Idle };
    match reply.code() {
        Some(INVALID_PARAMS) if may_be_refused(seen) => Kept,
        Some(INVALID_PARAMS) => Broken(format!(
            "arguments that do not fit got the error {INVALID_PARAMS}: {violations}"
        )),
        // Any other error may have any other cause.
        Some(_) => Idle,
        None => Kept,
    }
}

fn validated(seen: &Seen<'_>) -> Verdict {
    let Some((reply, violations)) = misfitting(seen) else { return Idle };
    let is_refused = reply.error.is_some()
        || reply.result.is_some_and(|result| {
            result.get("isError").is_some_and(|it| *it == Value::Bool(true))
                || result.get("resultType").is_some_and(|kind| kind == "input_required")
        });
    Verdict::that(is_refused, || format!("arguments that do not fit were taken: {violations}"))
}

/// A property with `x-mcp-header`, and how it was reached.
struct Mark<'a> {
    name: &'a str,
    kind: Option<&'a str>,
    /// The keywords from the root to it, `properties` and names of properties left out.
    through: Vec<&'a str>,
}

fn marks(schema: &Value) -> Vec<Mark<'_>> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found);
    found
}

fn collect<'a>(schema: &'a Value, through: &mut Vec<&'a str>, found: &mut Vec<Mark<'a>>) {
    let Some(members) = schema.as_object() else { return };
    if let Some(name) = members.get("x-mcp-header") {
        let (name, kind) = (name.as_str().unwrap_or_default(), schema.get("type"));
        let kind = kind.and_then(Value::as_str);
        found.push(Mark { name, kind, through: through.clone() });
    }
    for (keyword, inner) in members {
        match (keyword.as_str(), inner) {
            ("properties", Value::Object(properties)) => {
                properties.values().for_each(|property| collect(property, through, found));
            }
            ("default" | "const" | "enum" | "examples", _) => {}
            (_, Value::Object(named)) => {
                through.push(keyword);
                match is_map(keyword) {
                    true => named.values().for_each(|schema| collect(schema, through, found)),
                    false => collect(inner, through, found),
                }
                through.pop();
            }
            (_, Value::Array(schemas)) => {
                through.push(keyword);
                schemas.iter().for_each(|schema| collect(schema, through, found));
                through.pop();
            }
            _ => {}
        }
    }
}

/// Keywords whose members are schemas.
fn is_map(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions" | "patternProperties" | "dependentSchemas")
}

/// Judges each mark of each tool.
fn each_mark(seen: &Seen<'_>, is_wrong: fn(&Mark<'_>) -> bool) -> Verdict {
    let mut has_marks = false;
    let Some(tools) = tools(seen) else { return Idle };
    for (name, tool) in tools {
        for mark in tool.get("inputSchema").map(marks).unwrap_or_default() {
            has_marks = true;
            if is_wrong(&mark) {
                return Broken(format!("the tool `{name}` marks `{}`", mark.name.escape_debug()));
            }
        }
    }
    if has_marks { Kept } else { Idle }
}

fn header_not_empty(seen: &Seen<'_>) -> Verdict {
    each_mark(seen, |mark| mark.name.is_empty())
}

fn header_token(seen: &Seen<'_>) -> Verdict {
    each_mark(seen, |mark| {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        mark.name.chars().any(|c| !is_token(c) && !c.is_control())
    })
}

fn header_control(seen: &Seen<'_>) -> Verdict {
    each_mark(seen, |mark| mark.name.chars().any(char::is_control))
}

fn header_unique(seen: &Seen<'_>) -> Verdict {
    each(seen, |name, tool| {
        let mut names = HashSet::new();
        let marks = tool.get("inputSchema").map(marks)?;
        let mut marks = marks.iter().map(|mark| mark.name.to_ascii_lowercase());
        let repeated = marks.find(|mark| !names.insert(mark.clone()))?;
        Some(format!("the tool `{name}` marks `{repeated}` twice"))
    })
}

fn header_type(seen: &Seen<'_>) -> Verdict {
    each_mark(seen, |mark| !matches!(mark.kind, Some("string" | "integer" | "boolean")))
}

/// Definitions and conditions; arrays and choices are the next rule's.
fn header_place(seen: &Seen<'_>) -> Verdict {
    each_mark(seen, |mark| mark.through.iter().any(|keyword| !is_choice(keyword)))
}

fn header_reach(seen: &Seen<'_>) -> Verdict {
    each_mark(seen, |mark| mark.through.iter().any(|keyword| is_choice(keyword)))
}

fn is_choice(keyword: &str) -> bool {
    matches!(
        keyword,
        "items"
            | "prefixItems"
            | "contains"
            | "oneOf"
            | "anyOf"
            | "allOf"
            | "not"
            | "if"
            | "then"
            | "else"
    )
}
