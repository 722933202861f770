//! Tools whose schemas have more than Rust types can express.

use bowline::{Args, Json, Tool, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![test_custom_header].into_iter().chain([json_schema_2020_12_tool()])
}

#[derive(Deserialize, JsonSchema)]
struct Mirrored {
    /// Sent in the header `Mcp-Param-Value` as well
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
}

/// Give an argument back that is sent in a header, too
#[tool(read_only)]
fn test_custom_header(Args(Mirrored { value }): Args<Mirrored>) -> String {
    value
}

/// A tool with a handwritten schema, which clients have to show unchanged.
fn json_schema_2020_12_tool() -> Tool {
    async fn give_back(Args(arguments): Args<Map<String, Value>>) -> Json<Map<String, Value>> {
        Json(arguments)
    }

    Tool::new("json_schema_2020_12_tool", give_back)
        .describe("Give arguments back that fit a schema with all of JSON Schema 2020-12")
        .read_only()
        .input_schema(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {
                        "street": { "type": "string" },
                        "city": { "type": "string" }
                    }
                }
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"]
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        }))
}
