//! The suite for 2020-12, the default.

use serde_json::Value;

use crate::{Draft, Refusal, Refused, UNICODE_PATTERNS, accept_everything, judge};

const DRAFT: Draft = Draft {
    name: "draft2020-12",
    declares: None,
    definitions: "$defs",
    served: &[
        "draft2020-12/",
        "draft2020-12/baseUriChange/",
        "draft2020-12/baseUriChangeFolder/",
        "draft2020-12/baseUriChangeFolderInSubschema/",
        "draft2020-12/nested/",
    ],
};

/// The groups of the mandatory part that are refused.
const REFUSED: &[Refused] = &[
    ("defs.json", Refusal::External, &["validate definition against metaschema"]),
    (
        "dynamicRef.json",
        Refusal::External,
        &[
            "strict-tree schema, guards against misspelled properties",
            "tests for implementation dynamic anchor and reference link",
            "$ref and $dynamicAnchor are independent of order - $defs first",
            "$ref and $dynamicAnchor are independent of order - $ref first",
            "$ref to $dynamicRef finds detached $dynamicAnchor",
        ],
    ),
    ("ref.json", Refusal::External, &["remote ref, containing refs itself"]),
    (
        "refRemote.json",
        Refusal::External,
        &[
            "remote ref",
            "fragment within remote ref",
            "anchor within remote ref",
            "ref within remote ref",
            "base URI change",
            "base URI change - change folder",
            "base URI change - change folder in subschema",
            "root ref in remote ref",
            "remote ref with ref to defs",
            "Location-independent identifier in remote ref",
            "retrieved nested refs resolve relative to their URI not $id",
            "remote HTTP ref with different $id",
            "remote HTTP ref with different URN $id",
            "remote HTTP ref with nested absolute ref",
            "$ref to $ref finds detached $anchor",
        ],
    ),
    (
        "vocabulary.json",
        Refusal::Dialect,
        &[
            "schema that uses custom metaschema with with no validation vocabulary",
            "ignore unrecognized optional vocabulary",
        ],
    ),
];

/// Groups that refer to the meta-schema, or to documents that are not among those for this dialect.
const NOT_SERVED: &[Refused] = &[
    ("defs.json", Refusal::External, &["validate definition against metaschema"]),
    ("ref.json", Refusal::External, &["remote ref, containing refs itself"]),
    (
        "refRemote.json",
        Refusal::External,
        &[
            "remote HTTP ref with different $id",
            "remote HTTP ref with different URN $id",
            "remote HTTP ref with nested absolute ref",
        ],
    ),
];

/// The groups of the optional part that are refused.
const REFUSED_OPTIONAL: &[Refused] = &[
    (
        "cross-draft.json",
        Refusal::External,
        &["refs to historic drafts are processed as historic drafts"],
    ),
    UNICODE_PATTERNS,
];

/// Optional files that test what we do not claim, and what that is.
const NOT_CLAIMED: &[(&str, &str)] = &[
    ("dependencies-compatibility.json", "`dependencies` is a keyword of older dialects"),
    ("format-assertion.json", "`format` is an annotation"),
];

// spec: SCH-1, SCH-3, SCH-4, SCH-8, SCH-13
#[test]
fn the_mandatory_suite_agrees() {
    judge(DRAFT.groups(""), REFUSED).is_in_readme("2020-12, required");
}

// spec: SCH-1, SCH-3
#[test]
fn the_optional_suite_agrees() {
    let groups = DRAFT.groups("optional").into_iter().filter(is_claimed);
    judge(groups, REFUSED_OPTIONAL).is_in_readme("2020-12, optional");
}

/// What is refused because it is in another document is fine once that is part of this one.
// spec: SCH-3, SCH-8
#[test]
fn schemas_agree_once_what_they_refer_to_is_part_of_them() {
    let groups = DRAFT.groups_with_served_documents();
    judge(groups, NOT_SERVED)
        .is_in_readme("2020-12, refused above, with the other documents embedded");
}

/// `format` is an annotation, so every value passes whatever the suite thinks of it.
// spec: SCH-3
#[test]
fn formats_never_refuse_a_value() {
    accept_everything(DRAFT.groups("optional/format"));
}

fn is_claimed((file, _): &(String, Value)) -> bool {
    NOT_CLAIMED.iter().all(|(skipped, _)| skipped != file)
}
