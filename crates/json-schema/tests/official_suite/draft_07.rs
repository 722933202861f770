//! The suite for draft-07, which its schemas do not declare themselves.

use serde_json::Value;

use crate::{Draft, Refusal, Refused, UNICODE_PATTERNS, accept_everything, judge};

const DRAFT: Draft = Draft {
    name: "draft7",
    declares: Some("http://json-schema.org/draft-07/schema#"),
    definitions: "definitions",
    served: &[
        "",
        "baseUriChange/",
        "baseUriChangeFolder/",
        "baseUriChangeFolderInSubschema/",
        "draft7/",
        "nested/",
    ],
};

/// The groups of the mandatory part that are refused.
const REFUSED: &[Refused] = &[
    ("definitions.json", Refusal::External, &["validate definition against metaschema"]),
    ("ref.json", Refusal::External, &["remote ref, containing refs itself"]),
    (
        "refRemote.json",
        Refusal::External,
        &[
            "remote ref",
            "fragment within remote ref",
            "ref within remote ref",
            "base URI change",
            "base URI change - change folder",
            "base URI change - change folder in subschema",
            "root ref in remote ref",
            "remote ref with ref to definitions",
            "Location-independent identifier in remote ref",
            "retrieved nested refs resolve relative to their URI not $id",
            "$ref to $ref finds location-independent $id",
        ],
    ),
];

/// Groups that refer to the meta-schema.
const NOT_SERVED: &[Refused] = &[
    ("definitions.json", Refusal::External, &["validate definition against metaschema"]),
    ("ref.json", Refusal::External, &["remote ref, containing refs itself"]),
];

/// The groups of the optional part that are refused.
const REFUSED_OPTIONAL: &[Refused] = &[
    (
        "cross-draft.json",
        Refusal::External,
        &["refs to future drafts are processed as future drafts"],
    ),
    UNICODE_PATTERNS,
];

// spec: SCH-3, SCH-4, SCH-8, SCH-13
#[test]
fn the_mandatory_suite_agrees() {
    judge(DRAFT.groups(""), REFUSED).is_in_readme("draft-07, required");
}

// spec: SCH-3
#[test]
fn the_optional_suite_agrees() {
    let is_claimed = |(file, _): &(String, Value)| file != "content.json";
    let groups = DRAFT.groups("optional").into_iter().filter(is_claimed);
    judge(groups, REFUSED_OPTIONAL).is_in_readme("draft-07, optional");
}

/// What is refused because it is in another document is fine once that is part of this one.
// spec: SCH-3, SCH-8
#[test]
fn schemas_agree_once_what_they_refer_to_is_part_of_them() {
    let groups = DRAFT.groups_with_served_documents();
    judge(groups, NOT_SERVED)
        .is_in_readme("draft-07, refused above, with the other documents embedded");
}

/// Formats and contents are annotations, so every value passes whatever the suite thinks of it.
// spec: SCH-3
#[test]
fn formats_and_contents_never_refuse_a_value() {
    accept_everything(DRAFT.groups("optional/format"));
    let is_content = |(file, _): &(String, Value)| file == "content.json";
    accept_everything(DRAFT.groups("optional").into_iter().filter(is_content).collect());
}
