//! Differences between values and the types of the table.

use serde_json::json;

use super::*;

#[test]
fn a_missing_member_is_named_with_its_type() {
    let tool = json!({"tools": [{"name": "a"}]});
    let found = faults(Revision::LATEST, "ListToolsResult", "result", &tool);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].owner, found[0].place.as_str()), ("Tool", "result.tools[0].inputSchema"));
}

#[test]
fn a_kind_of_content_exists_only_in_its_revisions() {
    let result = json!({"content": [{"type": "resource_link", "uri": "a:b", "name": "a"}]});
    let found = |revision| faults(revision, "CallToolResult", "result", &result).len();
    assert_eq!(Revision::ALL.map(found), [1, 1, 0, 0, 0]);
}

#[test]
fn every_type_that_a_member_names_is_in_the_table() {
    let own = ["ContentBlock", "SamplingContent", "ResourceContents", "Role", "Priority"];
    fn names(kind: &Kind, out: &mut Vec<String>) {
        match kind {
            Kind::Named(name) => out.push(name.clone()),
            Kind::List(kind) | Kind::Map(kind) => names(kind, out),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| names(kind, out)),
            Kind::Simple(_) | Kind::Word(_) => {}
        }
    }
    for (_, fields) in table::all() {
        for field in fields {
            let mut found = Vec::new();
            names(&field.kind, &mut found);
            for name in found {
                assert!(own.contains(&name.as_str()) || type_named(&name).is_some(), "{name}");
            }
        }
    }
}
