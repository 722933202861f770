//! Order, pages and cursors, with words as items.

use std::hash::BuildHasher;

use bowline_proto::members::Members;
use bowline_proto::request::{
    Access, ClientProfile, ExchangeId, Extensions, Outbox, Owner, Parts, Success,
};
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::tool::ToolDefinition;
use serde_json::json;

use super::*;
use crate::feature::visible::VisibilityFilter;

struct Word {
    name: Arc<str>,
    definition: ToolDefinition,
    visibility: Visibility,
    scopes: ScopeRules,
}

impl From<&str> for Word {
    fn from(word: &str) -> Self {
        let definition = ToolDefinition::new(word, Default::default());
        Self {
            name: word.into(),
            definition,
            visibility: Visibility::default(),
            scopes: ScopeRules::default(),
        }
    }
}

/// A word that only callers with credentials see.
fn secret(word: &str) -> Word {
    let mut word = Word::from(word);
    word.visibility.limit(|caller| caller.owner.identity().is_some());
    word
}

impl FeatureEntry for Word {
    const KIND: &'static str = "words";

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn definition(&self) -> Definition<'_> {
        Definition::Tool(&self.definition)
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    fn scopes(&self) -> &ScopeRules {
        &self.scopes
    }

    fn page(items: &[&Self], next: Option<Cursor>, _: Revision) -> Response {
        let words: Vec<&str> = items.iter().map(|word| &*word.name).collect();
        let body = RawJson::from_value(&json!({ "words": words, "next": next })).unwrap();
        Ok(Success::raw(body, Meta::new()))
    }
}

fn caller(owner: Owner) -> Parts {
    Parts {
        exchange: ExchangeId(1),
        method: Method::ToolsList,
        revision: Revision::LATEST,
        client: Arc::new(ClientProfile::default()),
        meta: Members::default(),
        progress: None,
        log_level: None,
        input: None,
        owner,
        access: Access::everything(),
        headers: None,
        outbox: Outbox::closed(),
        extensions: Extensions::default(),
    }
}

fn set(words: &str) -> FeatureSet<Word> {
    let set = FeatureSet::new();
    for word in words.split(' ') {
        assert!(set.insert(word.into()));
    }
    set
}

/// The words of a page of two, and the cursor of the next.
fn page_for(
    caller: &Parts,
    set: &FeatureSet<Word>,
    cursor: Option<&Cursor>,
) -> (String, Option<Cursor>) {
    #[derive(serde::Deserialize)]
    struct Body {
        words: Vec<String>,
        next: Option<Cursor>,
    }
    let filter = VisibilityFilter::default();
    let view = CallerView::new(caller, &filter);
    let response = set.snapshot().page(cursor, 2, Revision::LATEST, view).unwrap();
    let body: Body = response.body().parse().unwrap();
    (body.words.join(" "), body.next)
}

fn page(set: &FeatureSet<Word>, cursor: Option<&Cursor>) -> (String, Option<Cursor>) {
    page_for(&caller(Owner::anonymous()), set, cursor)
}

fn all_for(caller: &Parts, set: &FeatureSet<Word>) -> Vec<String> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let (words, next) = page_for(caller, set, cursor.as_ref());
        pages.push(words);
        cursor = next;
        if cursor.is_none() {
            return pages;
        }
    }
}

fn all(set: &FeatureSet<Word>) -> Vec<String> {
    all_for(&caller(Owner::anonymous()), set)
}

// Safety: a table that holds words of peers is hashed with a secret.
#[test]
fn where_a_name_stands_in_the_table_cannot_be_foreseen() {
    let (one, other) = (FeatureSet::<Word>::new().snapshot(), FeatureSet::<Word>::new().snapshot());
    let hash = |snapshot: &Snapshot<Word>| snapshot.positions.hasher().hash_one("a name");
    assert_ne!(hash(&one), hash(&other));
}

// spec: TOOL-12, PAGE-10
#[test]
fn a_list_is_in_the_order_of_registration() {
    assert_eq!(all(&set("one two three four five")), ["one two", "three four", "five"]);
    assert_eq!(all(&set("one two")), ["one two"]);
    assert_eq!(all(&FeatureSet::new()), [""]);
}

// spec: TOOL-23
#[test]
fn a_name_is_taken_once() {
    let set = set("one");
    assert!(!set.insert("one".into()));
    assert!(set.insert("One".into()));
    assert!(set.remove("one") && !set.remove("one"));
    let (filter, caller) = (VisibilityFilter::default(), caller(Owner::anonymous()));
    let view = CallerView::new(&caller, &filter);
    assert!(set.snapshot().find("one", view).is_none());
    assert!(set.snapshot().find("One", view).is_some());
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
    set.insert("five".into());
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
    let (filter, caller) = (VisibilityFilter::default(), caller(Owner::anonymous()));
    for bad in bad {
        let view = CallerView::new(&caller, &filter);
        let response = set.snapshot().page(Some(&Cursor::new(bad)), 2, Revision::LATEST, view);
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
    assert!(!FeatureSet::<Word>::new().snapshot().is_offered());
}

#[test]
fn a_fork_goes_its_own_way() {
    let set = set("one");
    let fork = set.fork();
    fork.insert("two".into());
    assert_eq!((all(&set), all(&fork)), (vec!["one".to_owned()], vec!["one two".to_owned()]));
}

// spec: TOOL-11, CACHE-24
#[test]
fn each_caller_is_shown_full_pages_of_what_it_sees() {
    let set = set("one");
    for word in [secret("two"), "three".into(), secret("four"), "five".into(), secret("six")] {
        assert!(set.insert(word));
    }
    assert_eq!(all(&set), ["one three", "five"]);
    let known = caller(Owner::known("issuer", "ada"));
    assert_eq!(all_for(&known, &set), ["one two", "three four", "five six"]);
    for word in ["two", "four", "six"] {
        set.remove(word);
    }
    let filter = VisibilityFilter::default();
    assert!(!set.snapshot().is_limited(CallerView::new(&known, &filter)));
}
