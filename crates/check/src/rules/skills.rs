//! Skills (`io.modelcontextprotocol/skills`): their list, their files and their directories.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::rule::Verdict::{Idle, Kept};
use crate::rule::span::STATELESS;
use crate::rule::{Rule, Verdict, must};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("SKL-1", STATELESS, "the extension comes with its methods and `resources`", methods),
    must("SKL-2", STATELESS, "declared directories can be read", directories),
    must("SKL-4", STATELESS, "a `SKILL.md` begins with name and description", head),
    must("SKL-5", STATELESS, "the directory of a skill has its name", name),
    must("SKL-10", STATELESS, "a skill entry repeats the frontmatter of its SKILL.md", same_head),
    must("SKL-11", STATELESS, "an entry lists its files, each once", files),
    must("SKL-12", STATELESS, "each file has its size and its digest", digests),
    must("SKL-13", STATELESS, "files are listed, or `dynamic`", listed_or_dynamic),
    must("SKL-17", STATELESS, "results about skills carry cache hints", hints),
    must("SKL-18", STATELESS, "no skill is on two pages", pages).inferred(),
    must("SKL-19", STATELESS, "`skills/get` knows each skill and no other", get),
    must("SKL-25", STATELESS, "what is no directory is answered with -32602", no_directory),
    must("SKL-26", STATELESS, "directories have all their children", children).inferred(),
];

/// The name of the extension.
pub(crate) const SKILLS: &str = "io.modelcontextprotocol/skills";
const LIST: &str = "skills/list";
const GET: &str = "skills/get";
const DIRECTORY: &str = "resources/directory/read";
/// The media type of directories.
const INODE: &str = "inode/directory";
/// What the drive asks for although it does not exist.
const UNKNOWN: &str = "bowline-unknown";
/// The last segment of a skill's URI.
const FILE: &str = "/SKILL.md";

fn settings<'a>(seen: &Seen<'a>) -> Option<&'a Value> {
    seen.past.server_capabilities.get("extensions")?.get(SKILLS)
}

fn methods(seen: &Seen<'_>) -> Verdict {
    if let Some((_, result)) = seen.result_of("server/discover") {
        let capabilities = result.get("capabilities").unwrap_or(&Value::Null);
        let declares = capabilities.get("extensions").is_some_and(|it| it.get(SKILLS).is_some());
        let has_resources = capabilities.get("resources").is_some();
        return match declares {
            true => Verdict::that(has_resources, || "`resources` is not declared".to_owned()),
            false => Idle,
        };
    }
    let Some(reply) = seen.reply().filter(|_| settings(seen).is_some()) else { return Idle };
    let method = reply.asked.method.as_str();
    match method {
        LIST | GET => Verdict::that(reply.code() != Some(-32601), || format!("no `{method}`")),
        _ => Idle,
    }
}

fn lists_directories(seen: &Seen<'_>) -> bool {
    settings(seen).is_some_and(|it| it.get("directoryRead").is_some_and(|it| it == true))
}

fn directories(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to(DIRECTORY).filter(|_| lists_directories(seen)) else {
        return Idle;
    };
    let uri = reply.asked.param("uri").unwrap_or_default();
    let is_one = seen.past.skills.keys().any(|skill| folder(skill) == uri);
    match (reply.code(), is_one) {
        (Some(-32601), _) => Verdict::Broken(format!("`{DIRECTORY}` is declared and unknown")),
        (Some(code), true) => Verdict::Broken(format!("the directory `{uri}` got {code}")),
        _ => Kept,
    }
}

/// The entries of a result about skills.
fn entries<'a>(seen: &Seen<'a>) -> Vec<&'a Value> {
    if let Some((_, result)) = seen.result_of(LIST) {
        return result.get("skills").and_then(Value::as_array).into_iter().flatten().collect();
    }
    let got = seen.result_of(GET).and_then(|(_, result)| result.get("skill"));
    got.into_iter().collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Judges each entry; a reason breaks the rule.
fn each(seen: &Seen<'_>, fault: impl Fn(&Value) -> Option<String>) -> Verdict {
    let entries = entries(seen);
    match entries.is_empty() {
        true => Idle,
        false => Verdict::first(entries.into_iter().filter_map(fault)),
    }
}

/// The directory of a skill.
fn folder(uri: &str) -> &str {
    uri.strip_suffix(FILE).unwrap_or(uri)
}

fn name(seen: &Seen<'_>) -> Verdict {
    each(seen, |entry| {
        let uri = text(entry, "uri");
        let last = folder(uri).rsplit(['/', ':']).next().unwrap_or_default();
        let name = entry.get("frontmatter").map_or("", |head| text(head, "name"));
        let is_fine = uri.ends_with(FILE) && last == name && is_name(name);
        (!is_fine).then(|| format!("the skill at `{uri}` is named `{name}`"))
    })
}

/// Up to 64 lower-case letters, digits and single inner hyphens.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&name.len())
        && name.chars().all(is_letter)
        && !(name.starts_with('-') || name.ends_with('-') || name.contains("--"))
}

/// The head of a `SKILL.md`: the names of its fields.
fn fields(content: &str) -> Option<BTreeSet<&str>> {
    let rest = content.strip_prefix("---")?.trim_start_matches('\r').strip_prefix('\n')?;
    let (head, _) = rest.split_once("\n---")?;
    let lines = head.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-']));
    Some(lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect())
}

/// The `SKILL.md` that was read, and its text.
fn file<'a>(seen: &Seen<'a>) -> Option<(&'a str, &'a str)> {
    let (asked, result) = seen.result_of("resources/read")?;
    let uri = asked.param("uri").filter(|uri| seen.past.skills.contains_key(*uri))?;
    Some((uri, result.pointer("/contents/0/text")?.as_str()?))
}

fn head(seen: &Seen<'_>) -> Verdict {
    let Some((uri, content)) = file(seen) else { return Idle };
    let fields = fields(content);
    let is_fine = fields.is_some_and(|it| it.contains("name") && it.contains("description"));
    Verdict::that(is_fine, || format!("`{uri}` has no head with `name` and `description`"))
}

/// Names of fields are compared; values would need a parser of YAML.
fn same_head(seen: &Seen<'_>) -> Verdict {
    let Some((uri, content)) = file(seen) else { return Idle };
    let Some(fields) = fields(content) else { return Idle };
    let entry = seen.past.skills.get(uri).and_then(|entry| entry.get("frontmatter")?.as_object());
    let listed: BTreeSet<&str> =
        entry.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    Verdict::first(
        fields
            .symmetric_difference(&listed)
            .next()
            .map(|name| format!("`{uri}` and its entry differ in `{name}`")),
    )
}

fn listed(entry: &Value) -> Option<&Vec<Value>> {
    entry.get("resources").and_then(Value::as_array)
}

fn files(seen: &Seen<'_>) -> Verdict {
    each(seen, |entry| {
        let (uri, files) = (text(entry, "uri"), listed(entry)?);
        let inside = format!("{}/", folder(uri));
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for file in files {
            *times.entry(text(file, "uri")).or_default() += 1;
        }
        let outside = times.keys().find(|file| !file.starts_with(&inside));
        let repeated = times.iter().find(|(_, times)| **times > 1).map(|(file, _)| file);
        match (times.contains_key(uri), outside, repeated) {
            (false, ..) => Some(format!("`{uri}` is not among its own files")),
            (_, Some(file), _) => Some(format!("`{file}` is not below `{inside}`")),
            (_, _, Some(file)) => Some(format!("`{file}` is listed twice")),
            _ => None,
        }
    })
}

fn digests(seen: &Seen<'_>) -> Verdict {
    each(seen, |entry| {
        let wrong = listed(entry)?.iter().find(|file| {
            let hex = text(file, "digest").strip_prefix("sha256:").unwrap_or_default();
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            let has_size = file.get("size").is_some_and(Value::is_u64);
            !(has_size && hex.len() == 64 && hex.chars().all(is_hex))
        })?;
        Some(format!("`{}` lacks its size or its digest", text(wrong, "uri")))
    })
}

fn listed_or_dynamic(seen: &Seen<'_>) -> Verdict {
    each(seen, |entry| {
        let files = entry.get("resources");
        let is_fine = files.is_some_and(|it| it.is_array() || it == "dynamic");
        (!is_fine).then(|| format!("`resources` of `{}` is neither", text(entry, "uri")))
    })
}

fn hints(seen: &Seen<'_>) -> Verdict {
    let results = [LIST, GET].map(|method| seen.result_of(method));
    let Some((asked, result)) = results.into_iter().flatten().next() else { return Idle };
    let missing =
        ["resultType", "ttlMs", "cacheScope"].into_iter().find(|it| result.get(*it).is_none());
    if let Some(missing) = missing {
        return Verdict::Broken(format!("the result of `{}` lacks `{missing}`", asked.method));
    }
    let has_cursor = asked.method == GET && result.get("nextCursor").is_some();
    Verdict::that(!has_cursor, || format!("the result of `{GET}` has a cursor"))
}

fn pages(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of(LIST) else { return Idle };
    if asked.params.get("cursor").is_none() {
        return Kept;
    }
    let entries = result.get("skills").and_then(Value::as_array).into_iter().flatten();
    let mut uris = entries.map(|entry| text(entry, "uri"));
    let second = uris.find(|uri| seen.past.skills_of_pages.contains(*uri));
    Verdict::first(second.map(|uri| format!("`{uri}` is on two pages")))
}

fn get(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to(GET).filter(|_| settings(seen).is_some()) else { return Idle };
    let uri = reply.asked.param("uri").unwrap_or_default();
    match (seen.past.skills.contains_key(uri), uri.contains(UNKNOWN), reply.code()) {
        // A method that does not exist is another rule's.
        (_, _, Some(-32601)) => Idle,
        (true, _, Some(code)) => Verdict::Broken(format!("the listed skill `{uri}` got {code}")),
        (true, _, None) | (_, true, Some(-32602)) => Kept,
        (_, true, _) => {
            Verdict::Broken(format!("an unknown skill got {}", super::errors::outcome(&reply)))
        }
        _ => Idle,
    }
}

fn no_directory(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to(DIRECTORY).filter(|_| lists_directories(seen)) else {
        return Idle;
    };
    let uri = reply.asked.param("uri").unwrap_or_default();
    let is_file = seen.past.skills.contains_key(uri) || uri.contains(UNKNOWN);
    if !is_file || reply.code() == Some(-32601) {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("`{uri}` got {}", super::errors::outcome(&reply))
    })
}

/// The directory of a skill whose files are listed. A page that others follow need not have all.
fn children(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of(DIRECTORY) else { return Idle };
    let uri = asked.param("uri").unwrap_or_default();
    let Some(files) = seen.past.skills.get(&format!("{uri}{FILE}")).and_then(listed) else {
        return Idle;
    };
    let shown = result.get("resources").and_then(Value::as_array).into_iter().flatten();
    let shown: BTreeMap<&str, &str> =
        shown.map(|child| (text(child, "uri"), text(child, "mimeType"))).collect();
    let is_whole = asked.params.get("cursor").is_none() && result.get("nextCursor").is_none();
    for file in files {
        let Some(path) = text(file, "uri").strip_prefix(uri).and_then(|it| it.strip_prefix('/'))
        else {
            continue;
        };
        let (first, rest) = path.split_once('/').map_or((path, None), |(a, b)| (a, Some(b)));
        let child = format!("{uri}/{first}");
        match (shown.get(child.as_str()), rest) {
            (None, _) if is_whole => {
                return Verdict::Broken(format!("`{child}` is not among the children"));
            }
            (Some(kind), Some(_)) if *kind != INODE => {
                return Verdict::Broken(format!("the directory `{child}` has the type `{kind}`"));
            }
            _ => {}
        }
    }
    Kept
}
