//! How long results may be cached, on 2026-07-28.

use bowline_types::method::Method;
use serde_json::Value;

use crate::rule::Verdict::{Idle, Kept};
use crate::rule::span::STATELESS;
use crate::rule::{Rule, Verdict, must};
use crate::seen::{Seen, is_complete};

pub(super) const RULES: &[Rule] = &[
    must("CACHE-1", STATELESS, "results that may be cached have `ttlMs` and `cacheScope`", hints),
    must("CACHE-2", STATELESS, "results that ask for input have no hints", no_hints).inferred(),
    must("CACHE-3", STATELESS, "`ttlMs` is an integer from 0", lifetime),
    must("CACHE-4", STATELESS, "`cacheScope` is `public` or `private`", scope).inferred(),
    must("CACHE-22", STATELESS, "all pages of a list have one `cacheScope`", one_scope),
];

/// The result of a method whose results may be cached.
fn cacheable<'a>(seen: &Seen<'a>) -> Option<(&'a str, &'a Value)> {
    let reply = seen.reply()?;
    let is_cacheable = Method::named(&reply.asked.method).is_some_and(Method::is_cacheable);
    Some((&reply.asked.method, reply.result.filter(|_| is_cacheable)?))
}

fn hints(seen: &Seen<'_>) -> Verdict {
    let Some((method, result)) = cacheable(seen).filter(|(_, it)| is_complete(it)) else {
        return Idle;
    };
    let missing = ["ttlMs", "cacheScope"].into_iter().find(|name| result.get(name).is_none());
    Verdict::first(missing.map(|name| format!("the result of `{method}` has no `{name}`")))
}

fn no_hints(seen: &Seen<'_>) -> Verdict {
    let Some(result) = seen.reply().and_then(|reply| reply.result) else { return Idle };
    if result.get("resultType").is_none_or(|kind| kind != "input_required") {
        return Idle;
    }
    let has = ["ttlMs", "cacheScope"].into_iter().find(|name| result.get(name).is_some());
    Verdict::first(has.map(|name| format!("a result that asks for input has `{name}`")))
}

fn lifetime(seen: &Seen<'_>) -> Verdict {
    let Some(value) = cacheable(seen).and_then(|(_, result)| result.get("ttlMs")) else {
        return Idle;
    };
    Verdict::that(value.is_u64(), || format!("`ttlMs` is {value}"))
}

fn scope(seen: &Seen<'_>) -> Verdict {
    let Some(value) = cacheable(seen).and_then(|(_, it)| it.get("cacheScope")) else { return Idle };
    Verdict::that(*value == "public" || *value == "private", || format!("`cacheScope` is {value}"))
}

fn one_scope(seen: &Seen<'_>) -> Verdict {
    let Some((method, result)) = cacheable(seen) else { return Idle };
    let is_page = seen.reply().is_some_and(|reply| reply.asked.params.get("cursor").is_some());
    let (Some(first), Some(now)) = (seen.past.scopes.get(method), result.get("cacheScope")) else {
        return Idle;
    };
    match is_page {
        true => Verdict::that(now == first.as_str(), || format!("pages have `{first}` and {now}")),
        false => Kept,
    }
}
