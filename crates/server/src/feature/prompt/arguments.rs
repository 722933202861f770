//! The arguments of a prompt, as the type that its handler takes declares them.

use std::collections::HashSet;

use bowline_proto::members::Members;
use bowline_types::prompt::PromptArgument;
use serde::Deserialize;

use crate::signature::HandlerSignature;

/// The arguments that a handler takes, in the order of their declaration.
pub(super) fn of(signature: &HandlerSignature) -> Vec<PromptArgument> {
    let Some(input) = signature.input() else { return Vec::new() };
    // A schema is an object with `properties`: we have written it ourselves.
    let schema = Members::cut(input.published.as_str().to_owned().into()).unwrap_or_default();
    let required: HashSet<String> = schema.parse("required").ok().flatten().unwrap_or_default();
    let properties = schema.object("properties").unwrap_or_default();
    let argument = |(name, schema): (&str, &str)| {
        let Property { title, description } = serde_json::from_str(schema).unwrap_or_default();
        let mut argument = PromptArgument::new(name);
        argument.required = required.contains(name);
        argument.title = title;
        argument.description = description;
        argument
    };
    properties.iter().map(argument).collect()
}

/// What the schema of an argument tells people.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Property {
    title: Option<String>,
    description: Option<String>,
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[test]
    fn arguments_are_those_of_the_type() {
        /// Not said of any argument.
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Review {
            /// What it is written in
            language: String,
            #[schemars(title = "Lines")]
            lines: Option<u32>,
            #[serde(default)]
            added: bool,
        }
        let signature = HandlerSignature::of(&[HandlerSignature::takes_arguments::<Review>]);
        let expected = [
            PromptArgument::required("language").with_description("What it is written in"),
            PromptArgument::new("lines").with_title("Lines"),
            PromptArgument::new("added"),
        ];
        assert_eq!(of(&signature), expected);
        assert_eq!(of(&HandlerSignature::default()), []);
    }
}
