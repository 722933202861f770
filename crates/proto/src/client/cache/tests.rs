//! Storing results: how long, for whom, and when they are dropped, in virtual time.

use bowline_types::cache::CacheHint;
use bowline_types::capability::ClientCapabilities;
use bowline_types::json::Object;
use serde_json::{Value, json};

use super::super::{Asker, OnBehalf};
use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// A cache, and the time.
struct Kept {
    cache: Cache,
    now: Instant,
}

#[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
fn kept(options: CacheOptions) -> Kept {
    Kept { cache: Cache::new(options), now: Instant::now() }
}

impl Kept {
    fn keep(&mut self, request: &CallRequest, result: &str, ttl: Duration) {
        let changes = self.cache.changes();
        self.cache.keep(request, &answer(result, ttl), changes, self.now);
    }

    /// The stored result of a request, if any.
    fn found(&mut self, request: &CallRequest) -> Option<String> {
        let answer = self.cache.find(request, self.now)?;
        assert!(answer.reused);
        Some(answer.result.as_str().to_owned())
    }

    fn has(&mut self, request: &CallRequest) -> bool {
        self.found(request).is_some()
    }
}

fn request(method: Method, params: &Value) -> CallRequest {
    CallRequest::new(method, Object::new(RawJson::from_value(params).unwrap()).unwrap())
}

fn tools() -> CallRequest {
    request(Method::ToolsList, &json!({}))
}

fn read(uri: &str) -> CallRequest {
    request(Method::ResourcesRead, &json!({ "uri": uri }))
}

fn answer(result: &str, ttl: Duration) -> CallAnswer {
    let result = RawJson::from_value(&json!({ "it": result })).unwrap();
    CallAnswer { cache: Some(CacheHint::private(ttl)), ..CallAnswer::new(result) }
}

// spec: CACHE-8, CACHE-10
#[test]
fn a_result_is_fresh_until_its_time_is_over() {
    let mut kept = kept(CacheOptions::default());
    kept.keep(&tools(), "a", MINUTE);
    assert_eq!(kept.found(&tools()).unwrap(), r#"{"it":"a"}"#);
    kept.now += MINUTE - Duration::from_millis(1);
    assert!(kept.has(&tools()));
    kept.now += Duration::from_millis(1);
    assert!(!kept.has(&tools()));
    assert_eq!(kept.cache.bytes, 0, "what is stale is forgotten");
}

// spec: CACHE-7, CACHE-9
#[test]
fn a_result_without_time_is_not_kept() {
    let mut kept = kept(CacheOptions::default());
    kept.keep(&tools(), "a", Duration::ZERO);
    assert!(!kept.has(&tools()));
    let unhinted = CallAnswer { cache: None, ..answer("a", MINUTE) };
    kept.cache.keep(&tools(), &unhinted, 0, kept.now);
    assert!(!kept.has(&tools()));
    kept.keep(&tools(), "a", MINUTE);
    kept.keep(&tools(), "b", Duration::ZERO);
    assert!(!kept.has(&tools()), "the newest answer counts");
}

#[test]
fn the_longest_time_to_live_is_that_of_the_options() {
    let mut kept = kept(CacheOptions::default());
    kept.keep(&tools(), "a", Duration::MAX);
    kept.now += CacheOptions::default().longest;
    assert!(!kept.has(&tools()));
}

// spec: CACHE-5
#[test]
fn a_result_answers_only_what_was_asked() {
    let mut kept = kept(CacheOptions::default());
    kept.keep(&read("a:/1"), "a", MINUTE);
    assert!(kept.has(&read("a:/1")));
    assert!(!kept.has(&read("a:/2")));
    assert!(!kept.has(&request(Method::ResourcesList, &json!({ "uri": "a:/1" }))));
    let mut other = read("a:/1");
    other.meta.set("com.example/tenant", "b").unwrap();
    assert!(!kept.has(&other));
}

#[test]
fn only_methods_that_carry_hints_are_kept() {
    let mut kept = kept(CacheOptions::default());
    let call = request(Method::ToolsCall, &json!({ "name": "a" }));
    kept.keep(&call, "a", MINUTE);
    assert!(!kept.has(&call));
}

// spec: CACHE-6
#[test]
fn a_result_that_depends_on_answers_of_the_client_is_not_stored() {
    for input in [json!({ "inputResponses": {} }), json!({ "requestState": "s" })] {
        let mut kept = kept(CacheOptions::default());
        let mut params = json!({ "uri": "a:/1" });
        params.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
        let read = request(Method::ResourcesRead, &params);
        kept.keep(&read, "a", MINUTE);
        assert!(!kept.has(&read), "{input}");
    }
}

// spec: CACHE-13
#[test]
fn a_call_that_asks_for_a_fresh_result_gets_one_and_stores_it() {
    let mut kept = kept(CacheOptions::default());
    kept.keep(&tools(), "a", MINUTE);
    let fresh = CallRequest { fresh: true, ..tools() };
    assert!(!kept.has(&fresh));
    kept.keep(&fresh, "b", MINUTE);
    assert_eq!(kept.found(&tools()).unwrap(), r#"{"it":"b"}"#);
}

// spec: CACHE-17
#[test]
fn a_change_makes_stale_what_it_is_about() {
    let requests = [
        tools(),
        request(Method::PromptsList, &json!({})),
        request(Method::ResourcesList, &json!({})),
        request(Method::ResourcesTemplatesList, &json!({})),
        read("a:/1"),
        read("a:/1/x"),
        read("a:/2"),
        request(Method::ServerDiscover, &json!({})),
    ];
    let left_after = |change: ReportedChange| {
        let mut kept = kept(CacheOptions::default());
        requests.iter().for_each(|request| kept.keep(request, "a", MINUTE));
        kept.cache.changed(&change);
        let left = requests.iter().map(|request| if kept.has(request) { '+' } else { '-' });
        left.collect::<String>()
    };
    assert_eq!(left_after(ReportedChange::Tools), "-+++++++");
    assert_eq!(left_after(ReportedChange::Prompts), "+-++++++");
    assert_eq!(left_after(ReportedChange::Resources), "++-----+");
    assert_eq!(left_after(ReportedChange::Resource("a:/1".to_owned())), "++++--++");
    assert_eq!(left_after(ReportedChange::Resource("a:/1/x".to_owned())), "++++--++");
    assert_eq!(left_after(ReportedChange::Acknowledged(Default::default())), "++++++++");
}

// spec: CACHE-17
#[test]
fn a_result_that_may_be_older_than_a_change_is_not_kept() {
    let mut kept = kept(CacheOptions::default());
    let before = kept.cache.changes();
    kept.cache.changed(&ReportedChange::Tools);
    kept.cache.keep(&tools(), &answer("a", MINUTE), before, kept.now);
    assert!(!kept.has(&tools()));
}

// spec: CACHE-19
#[test]
fn each_page_has_its_own_time() {
    let mut kept = kept(CacheOptions::default());
    let second = request(Method::ToolsList, &json!({ "cursor": "2" }));
    kept.keep(&tools(), "a", 2 * MINUTE);
    kept.keep(&second, "b", MINUTE);
    kept.now += MINUTE;
    assert!(kept.has(&tools()));
    assert!(!kept.has(&second));
}

// spec: CACHE-21
#[test]
fn a_refused_cursor_makes_all_pages_stale() {
    let second = request(Method::ToolsList, &json!({ "cursor": "2" }));
    let third = request(Method::ToolsList, &json!({ "cursor": "3" }));
    let left_after = |request: &CallRequest, code: i64| {
        let mut kept = kept(CacheOptions::default());
        for request in [&tools(), &second, &read("a:/1")] {
            kept.keep(request, "a", MINUTE);
        }
        kept.cache.refused(request, &ErrorObject::new(code, "no"));
        [&tools(), &second, &read("a:/1")].map(|request| kept.has(request))
    };
    assert_eq!(left_after(&third, -32602), [false, false, true]);
    assert_eq!(left_after(&third, -32603), [true, true, true], "any other error says nothing");
    assert_eq!(left_after(&read("a:/2"), -32602), [true, true, true], "there is no cursor");
}

#[test]
fn the_least_recently_used_result_is_dropped_first() {
    let mut kept = kept(CacheOptions { entries: 2, ..CacheOptions::default() });
    kept.keep(&read("a:/1"), "a", MINUTE);
    kept.keep(&read("a:/2"), "a", MINUTE);
    assert!(kept.has(&read("a:/1")));
    kept.keep(&read("a:/3"), "a", MINUTE);
    let left = ["a:/1", "a:/2", "a:/3"].map(|uri| kept.has(&read(uri)));
    assert_eq!(left, [true, false, true]);
}

#[test]
fn stored_results_are_bounded_in_bytes() {
    let mut kept = kept(CacheOptions { bytes: 100, ..CacheOptions::default() });
    kept.keep(&read("a:/1"), &"x".repeat(101), MINUTE);
    assert!(!kept.has(&read("a:/1")), "larger than all there is");
    for uri in ["a:/1", "a:/2", "a:/3", "a:/3"] {
        kept.keep(&read(uri), &"x".repeat(20), MINUTE);
        assert!(kept.cache.bytes <= 100 && kept.cache.bytes > 0);
        assert_eq!(kept.cache.uses.len(), kept.cache.entries.len());
    }
    assert_eq!(["a:/1", "a:/2", "a:/3"].map(|uri| kept.has(&read(uri))), [false, true, true]);
}

#[test]
fn a_cache_without_room_stores_nothing() {
    let mut kept = kept(CacheOptions { entries: 0, ..CacheOptions::default() });
    kept.keep(&tools(), "a", MINUTE);
    assert!(!kept.has(&tools()));
}

#[test]
fn a_result_that_was_used_once_is_dropped_when_others_are_used_later() {
    let mut kept = kept(CacheOptions { entries: 1, ..CacheOptions::default() });
    kept.keep(&read("a:/1"), "a", MINUTE);
    assert!(kept.has(&read("a:/1")));
    kept.keep(&read("a:/2"), "a", MINUTE);
    assert_eq!(["a:/1", "a:/2"].map(|uri| kept.has(&read(uri))), [false, true]);
}

#[test]
fn a_result_that_cannot_be_stored_drops_no_other() {
    let mut kept = kept(CacheOptions { entries: 1, bytes: 100, ..CacheOptions::default() });
    kept.keep(&read("a:/1"), "a", MINUTE);
    kept.keep(&read("a:/2"), "without time", Duration::ZERO);
    kept.keep(&read("a:/3"), &"x".repeat(101), MINUTE);
    assert!(kept.has(&read("a:/1")));
}

/// Params, `_meta` and the result all count, and the last byte may be used.
#[test]
fn room_is_counted_to_the_byte() {
    let mut tagged = read("a:/1");
    tagged.meta.set("com.example/tenant", "b").unwrap();
    let parts = [r#"{"uri":"a:/1"}"#, r#"{"com.example/tenant":"b"}"#, r#"{"it":"a"}"#];
    let bytes = parts.map(str::len).iter().sum();
    for (room, is_kept) in [(bytes, true), (bytes - 1, false)] {
        let mut kept = kept(CacheOptions { bytes: room, ..CacheOptions::default() });
        kept.keep(&tagged, "a", MINUTE);
        assert_eq!(kept.has(&tagged), is_kept, "{room}");
    }
}

#[test]
fn two_results_may_fill_all_the_room_together() {
    let one = r#"{"uri":"a:/1"}{}{"it":"a"}"#.len();
    let mut kept = kept(CacheOptions { bytes: 2 * one, ..CacheOptions::default() });
    kept.keep(&read("a:/1"), "a", MINUTE);
    kept.keep(&read("a:/2"), "a", MINUTE);
    assert_eq!(kept.cache.bytes, 2 * one);
    assert!(kept.has(&read("a:/1")) && kept.has(&read("a:/2")));
}

#[test]
fn eight_megabytes_are_stored_by_default() {
    let mut kept = kept(CacheOptions::default());
    kept.keep(&tools(), &"x".repeat(8 << 20), MINUTE);
    assert!(kept.has(&tools()));
    kept.keep(&tools(), &"x".repeat(17 << 20), MINUTE);
    assert!(!kept.has(&tools()));
}

// spec: CACHE-17
#[test]
fn a_result_of_a_call_after_a_change_is_stored_and_an_acknowledgement_is_no_change() {
    let mut kept = kept(CacheOptions::default());
    kept.cache.changed(&ReportedChange::Tools);
    kept.keep(&tools(), "a", MINUTE);
    assert!(kept.has(&tools()));
    let before = kept.cache.changes();
    kept.cache.changed(&ReportedChange::Acknowledged(Default::default()));
    kept.cache.keep(&read("a:/1"), &answer("a", MINUTE), before, kept.now);
    assert!(kept.has(&read("a:/1")));
}

/// A server may list tools by what the caller of a relay can do.
// spec: CACHE-5
#[test]
fn a_result_serves_only_callers_with_the_capabilities_that_it_was_made_for() {
    let mut kept = kept(CacheOptions::default());
    let of = |capabilities| {
        let mut request = tools();
        request.on_behalf = Some(Box::new(OnBehalf::new(capabilities, Asker::Call)));
        request
    };
    let (plain, asking) =
        (of(ClientCapabilities::new()), of(ClientCapabilities::new().with_sampling()));
    kept.keep(&plain, "a", MINUTE);
    assert!(kept.has(&plain));
    assert!(!kept.has(&asking));
    assert!(!kept.has(&tools()));
}

// spec: CACHE-6
#[test]
fn the_result_of_a_call_with_answers_of_the_caller_is_not_kept() {
    let mut kept = kept(CacheOptions::default());
    let mut request = read("a:b");
    let mut caller = OnBehalf::new(ClientCapabilities::new(), Asker::Call);
    caller.input = Some(Box::default());
    request.on_behalf = Some(Box::new(caller));
    kept.keep(&request, "a", MINUTE);
    assert!(!kept.has(&request));
}
