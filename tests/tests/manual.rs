//! What the manual promises, held against the code.

use bowline::proto::schema::Validator;
use serde_json::json;

const SAFETY: &str = include_str!("../../crates/bowline/src/manual/_12_limits_and_safety.md");

// spec: SCH-5
#[test]
fn the_manual_names_the_dialects_of_json_schema_that_are_supported_and_no_other() {
    let safety = SAFETY.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = safety.split_once("Their dialect is").expect("a sentence names the dialects");
    let (named, _) = rest.split_once(';').expect("the sentence ends with what is refused");
    for (name, uri) in [
        ("draft-03", "http://json-schema.org/draft-03/schema#"),
        ("draft-04", "http://json-schema.org/draft-04/schema#"),
        ("draft-06", "http://json-schema.org/draft-06/schema#"),
        ("draft-07", "http://json-schema.org/draft-07/schema#"),
        ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ] {
        let is_supported = Validator::compile(&json!({ "$schema": uri })).is_ok();
        assert_eq!(named.contains(name), is_supported, "{name} in `{named}`");
    }
}
