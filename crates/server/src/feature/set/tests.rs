//! Order, pages and cursors, with words as items.

use bowline_proto::request::Success;
use bowline_types::json::Json;
use bowline_types::meta::Meta;
use serde_json::json;

use super::*;

struct Word(Arc<str>);

impl Item for Word {
    const KIND: &'static str = "words";

    fn name(&self) -> &Arc<str> {
        &self.0
    }

    fn page(items: &[&Self], next: Option<Cursor>, _: Revision) -> Response {
        let words: Vec<&str> = items.iter().map(|word| &*word.0).collect();
        let body = Json::from_value(&json!({ "words": words, "next": next })).unwrap();
        Ok(Success::raw(body, Meta::new()))
    }
}

fn set(words: &str) -> Set<Word> {
    let set = Set::new();
    for word in words.split(' ') {
        assert!(set.insert(Word(word.into())));
    }
    set
}

/// The words of a page of two, and the cursor of the next.
fn page(set: &Set<Word>, cursor: Option<&Cursor>) -> (String, Option<Cursor>) {
    #[derive(serde::Deserialize)]
    struct Body {
        words: Vec<String>,
        next: Option<Cursor>,
    }
    let response = set.snapshot().page(cursor, 2, Revision::LATEST).unwrap();
    let body: Body = response.body().parse().unwrap();
    (body.words.join(" "), body.next)
}

fn all(set: &Set<Word>) -> Vec<String> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let (words, next) = page(set, cursor.as_ref());
        pages.push(words);
        cursor = next;
        if cursor.is_none() {
            return pages;
        }
    }
}

// spec: TOOL-12, PAGE-10
#[test]
fn a_list_is_in_the_order_of_registration() {
    assert_eq!(all(&set("one two three four five")), ["one two", "three four", "five"]);
    assert_eq!(all(&set("one two")), ["one two"]);
    assert_eq!(all(&Set::new()), [""]);
}

// spec: TOOL-23
#[test]
fn a_name_is_taken_once() {
    let set = set("one");
    assert!(!set.insert(Word("one".into())));
    assert!(set.insert(Word("One".into())));
    assert!(set.remove("one") && !set.remove("one"));
    assert!(set.snapshot().find("one").is_none() && set.snapshot().find("One").is_some());
}

// spec: PAGE-2
#[test]
fn a_cursor_keeps_its_place_while_the_list_changes() {
    let set = set("one two three four");
    let (_, cursor) = page(&set, None);
    set.remove("one");
    assert_eq!(page(&set, cursor.as_ref()).0, "three four");
    set.remove("two");
    set.remove("three");
    set.insert(Word("five".into()));
    assert_eq!(page(&set, cursor.as_ref()).0, "four five");
    assert_eq!(all(&set), ["four five"]);
}

// spec: PAGE-2
#[test]
fn another_process_understands_the_same_cursor() {
    let (_, cursor) = page(&set("one two three"), None);
    assert_eq!(page(&set("one two three"), cursor.as_ref()).0, "three");
}

// spec: PAGE-3, PAGE-9
#[test]
fn a_cursor_that_was_never_given_is_refused() {
    let set = set("one two three");
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let bad =
        ["", "x", "%", &encode("words:0"), &encode("words:4"), &encode("tools:1"), &encode("1")];
    for bad in bad {
        let response = set.snapshot().page(Some(&Cursor::new(bad)), 2, Revision::LATEST);
        let error = response.unwrap_err();
        assert_eq!(error.code, -32602, "{bad}");
        assert!(error.message.contains("start again without it"), "{error}");
    }
}

#[test]
fn a_snapshot_does_not_change() {
    let set = set("one two");
    let before = set.snapshot();
    set.remove("one");
    assert_eq!(before.iter().count(), 2);
    assert_eq!(set.snapshot().iter().count(), 1);
}

// spec: TOOL-9
#[test]
fn an_emptied_set_is_still_offered() {
    let set = set("one");
    set.remove("one");
    assert!(set.snapshot().is_offered());
    assert!(!Set::<Word>::new().snapshot().is_offered());
}

#[test]
fn a_fork_goes_its_own_way() {
    let set = set("one");
    let fork = set.fork();
    fork.insert(Word("two".into()));
    assert_eq!((all(&set), all(&fork)), (vec!["one".to_owned()], vec!["one two".to_owned()]));
}
