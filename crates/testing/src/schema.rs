//! Checks messages against the official JSON Schemas (feature `schemas`).
//!
//! Bowline's types and validator could have the same fault as its tests. These schemas come from the
//! specification, and a JSON Schema implementation of other authors evaluates them.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{env, fs};

use bowline_proto::sync::lock;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::transcript::{SentMessage, Side};

/// The environment variable with the directory of the schemas.
const DIRECTORY: &str = "BOWLINE_SCHEMAS";

/// The official schemas: a directory with a file `<revision>.json` for each revision, read when
/// needed. A schema is read and compiled once, and shared by all tests of a process.
///
/// ```no_run
/// use bowline_testing::schema::Schemas;
/// use bowline_types::revision::Revision;
/// use serde_json::json;
///
/// let schemas = Schemas::find()?;
/// let result = json!({ "resultType": "complete", "content": [] });
/// schemas.check_value(Revision::V2026_07_28, "CallToolResult", &result)?;
/// # Ok::<(), bowline_testing::schema::SchemaCheckError>(())
/// ```
pub struct Schemas {
    directory: PathBuf,
    documents: Mutex<HashMap<Revision, Arc<Document>>>,
}

impl Schemas {
    /// Opens the directory in the environment variable `BOWLINE_SCHEMAS`; without it, `target/schemas`
    /// of the current directory or the nearest parent that has it.
    ///
    /// # Errors
    ///
    /// If there is no such directory.
    pub fn find() -> Result<Self, SchemaCheckError> {
        if let Some(directory) = env::var_os(DIRECTORY) {
            return Self::open(PathBuf::from(directory));
        }
        let here = env::current_dir().unwrap_or_default();
        let found =
            here.ancestors().map(|place| place.join("target/schemas")).find(|place| place.is_dir());
        found.ok_or(SchemaCheckError::Missing(here.join("target/schemas"))).and_then(Self::open)
    }

    /// Opens a directory.
    ///
    /// # Errors
    ///
    /// If there is no such directory.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, SchemaCheckError> {
        let directory = directory.into();
        if !directory.is_dir() {
            return Err(SchemaCheckError::Missing(directory));
        }
        Ok(Self { directory, documents: Mutex::default() })
    }

    /// Checks the messages of one side of a connection. The messages of the other side are needed to
    /// know which result belongs to which method.
    ///
    /// # Errors
    ///
    /// If a message of that side is not valid in its revision.
    pub fn check(
        &self,
        revision: Revision,
        side: Side,
        messages: &[SentMessage],
    ) -> Result<(), SchemaCheckError> {
        let mut conversation = Conversation::new(self, revision);
        for message in messages {
            if message.by == side {
                conversation.check(message)?;
            }
            conversation.note(message);
        }
        Ok(())
    }

    /// Checks a value against a definition of a revision, such as `CallToolResult`.
    ///
    /// # Errors
    ///
    /// If the value does not match, or there is no such definition.
    pub fn check_value(
        &self,
        revision: Revision,
        definition: &str,
        value: &Value,
    ) -> Result<(), SchemaCheckError> {
        self.document(revision)?.check(definition, value)
    }

    /// Reads it at the first use.
    fn document(&self, revision: Revision) -> Result<Arc<Document>, SchemaCheckError> {
        let mut documents = lock(&self.documents);
        if let Some(document) = documents.get(&revision) {
            return Ok(document.clone());
        }
        let document = Arc::new(Document::read(&self.directory, revision)?);
        documents.insert(revision, document.clone());
        Ok(document)
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schemas").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The requests of both sides, to check each result by the method of its request. A result alone
/// does not say which definition it has to match; the request does.
struct Conversation<'a> {
    schemas: &'a Schemas,
    revision: Revision,
    /// Requests by sender and id.
    requests: HashMap<(Side, String), SentRequest>,
}

#[derive(Clone)]
struct SentRequest {
    method: String,
    revision: Revision,
}

impl<'a> Conversation<'a> {
    fn new(schemas: &'a Schemas, revision: Revision) -> Self {
        Self { schemas, revision, requests: HashMap::new() }
    }

    /// Remembers the requests in a message. A message that is not JSON has none. Called for
    /// messages of both sides, in order.
    fn note(&mut self, message: &SentMessage) {
        let Ok(value) = serde_json::from_str::<Value>(&message.text) else { return };
        for item in items(&value) {
            if let (Some(method), Some(id)) = (item["method"].as_str(), item.get("id")) {
                let request =
                    SentRequest { method: method.to_owned(), revision: self.revision_of(item) };
                self.requests.insert((message.by, id.to_string()), request);
            }
        }
    }

    /// An array is checked item by item, where the revision has arrays at all.
    fn check(&self, message: &SentMessage) -> Result<(), SchemaCheckError> {
        let violation =
            |reason: String| SchemaCheckError::Violation { message: message.text.clone(), reason };
        let value: Value =
            serde_json::from_str(&message.text).map_err(|error| violation(error.to_string()))?;
        if value.is_array() && !self.revision.has_batches() {
            return Err(violation("a batch, and the revision has no batches".to_owned()));
        }
        items(&value).iter().try_for_each(|item| {
            self.check_item(message.by, item).map_err(|error| violation(error.to_string()))
        })
    }

    /// The envelope is checked first, then the params or the result by the method.
    fn check_item(&self, by: Side, item: &Value) -> Result<(), SchemaCheckError> {
        if let Some(method) = item["method"].as_str() {
            let revision = self.revision_of(item);
            let document = self.schemas.document(revision)?;
            let envelope =
                if item.get("id").is_some() { "JSONRPCRequest" } else { "JSONRPCNotification" };
            document.check(envelope, item)?;
            if Method::named(method).is_some_and(|method| method.is_extension(revision)) {
                // The schema of a revision does not define its extensions.
                return Ok(());
            }
            return document.check(document.request(method)?, item);
        }
        let request =
            item.get("id").and_then(|id| self.requests.get(&(by.other(), id.to_string())));
        let revision = request.map_or(self.revision, |request| request.revision);
        let document = self.schemas.document(revision)?;
        let Some(result) = item.get("result") else {
            return document.check_error(item, revision);
        };
        document.check(document.either("JSONRPCResultResponse", "JSONRPCResponse")?, item)?;
        let Some(request) = request else {
            return Err(SchemaCheckError::Unasked);
        };
        if result["resultType"] == "input_required" {
            return document.check("InputRequiredResult", result);
        }
        let method = Method::named(&request.method);
        let is_extension = method.is_some_and(|method| method.is_extension(revision));
        if is_extension || result["resultType"] == "task" {
            // The schema of a revision does not define its extensions.
            return document.check("Result", result);
        }
        if result.get("task").is_some() && document.defines("CreateTaskResult") {
            return document.check("CreateTaskResult", result);
        }
        document.check(&document.result(&request.method)?, result)
    }

    /// The revision in the `_meta` of a message, or that of the conversation.
    fn revision_of(&self, item: &Value) -> Revision {
        let version = item["params"]["_meta"][key::PROTOCOL_VERSION].as_str();
        version.and_then(|version| version.parse().ok()).unwrap_or(self.revision)
    }
}

/// The messages in a frame.
fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        _ => std::slice::from_ref(value),
    }
}

/// The schema of one revision. The file of a revision, with its definitions compiled as they are
/// needed.
struct Document {
    revision: Revision,
    schema: Value,
    /// `$defs` or `definitions`, depending on the JSON Schema dialect.
    place: &'static str,
    /// Compiled definitions, by name.
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Document {
    /// Older revisions keep their definitions under another name.
    fn read(directory: &Path, revision: Revision) -> Result<Self, SchemaCheckError> {
        let path = directory.join(format!("{revision}.json"));
        let text =
            fs::read_to_string(&path).map_err(|_| SchemaCheckError::Missing(path.clone()))?;
        let schema: Value = serde_json::from_str(&text)
            .map_err(|error| SchemaCheckError::Unusable(format!("{}: {error}", path.display())))?;
        let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        Ok(Self { revision, schema, place, compiled: Mutex::default() })
    }

    fn check(&self, definition: &str, value: &Value) -> Result<(), SchemaCheckError> {
        let validator = self.validator(definition)?;
        let reasons: Vec<_> = validator
            .iter_errors(value)
            .map(|error| format!("`{}`: {error}", error.instance_path()))
            .collect();
        if reasons.is_empty() {
            return Ok(());
        }
        Err(SchemaCheckError::Mismatch {
            revision: self.revision,
            definition: definition.to_owned(),
            reasons,
        })
    }

    /// Checks an error response.
    ///
    /// Before 2025-11-25 the schema requires an id, but there is none if the request could not be
    /// parsed. Bowline then sends `null`, as JSON-RPC demands. It is the only message of ours that the
    /// schema does not allow.
    fn check_error(&self, item: &Value, revision: Revision) -> Result<(), SchemaCheckError> {
        let mut item = item.clone();
        if item.get("id") == Some(&Value::Null) && !revision.has_errors_without_id() {
            item["id"] = json!(0);
        }
        self.check(self.either("JSONRPCErrorResponse", "JSONRPCError")?, &item)
    }

    /// The whole document is compiled with a reference to the definition, so that references inside
    /// of it are found.
    fn validator(&self, definition: &str) -> Result<Arc<Validator>, SchemaCheckError> {
        let mut compiled = lock(&self.compiled);
        if let Some(validator) = compiled.get(definition) {
            return Ok(validator.clone());
        }
        if !self.defines(definition) {
            return Err(SchemaCheckError::Undefined {
                revision: self.revision,
                what: definition.to_owned(),
            });
        }
        let mut schema = self.schema.clone();
        schema["allOf"] = json!([{ "$ref": format!("#/{}/{definition}", self.place) }]);
        let validator = jsonschema::validator_for(&schema).map_err(|error| {
            SchemaCheckError::Unusable(format!("{definition} of {}: {error}", self.revision))
        })?;
        let validator = Arc::new(validator);
        compiled.insert(definition.to_owned(), validator.clone());
        Ok(validator)
    }

    /// Finds the definition of a request or notification.
    fn request(&self, method: &str) -> Result<&str, SchemaCheckError> {
        let definitions = self.schema[self.place].as_object().into_iter().flatten();
        let mut named =
            definitions.filter(|(_, schema)| schema["properties"]["method"]["const"] == method);
        // These unions have one member in some revisions, and then repeat its definition.
        let named = named.find(|(name, _)| {
            !matches!(name.as_str(), "ClientNotification" | "ServerNotification")
        });
        let undefined =
            || SchemaCheckError::Undefined { revision: self.revision, what: format!("`{method}`") };
        named.map(|(name, _)| name.as_str()).ok_or_else(undefined)
    }

    /// Finds the definition of the result of a method, by the name of the request. A method without
    /// a result type of its own has the empty result.
    fn result(&self, method: &str) -> Result<String, SchemaCheckError> {
        let request = self.request(method)?;
        let name = format!("{}Result", request.strip_suffix("Request").unwrap_or(request));
        Ok(if self.defines(&name) { name } else { "EmptyResult".to_owned() })
    }

    /// Returns the first name that is defined, for definitions that were renamed between revisions.
    fn either<'n>(&self, new: &'n str, old: &'n str) -> Result<&'n str, SchemaCheckError> {
        let defined = [new, old].into_iter().find(|name| self.defines(name));
        defined.ok_or_else(|| SchemaCheckError::Undefined {
            revision: self.revision,
            what: new.to_owned(),
        })
    }

    fn defines(&self, definition: &str) -> bool {
        self.schema[self.place].get(definition).is_some()
    }
}

/// Why a message is not valid, or could not be checked. The first three are faults of the set-up,
/// the others of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaCheckError {
    /// This file or directory does not exist.
    Missing(PathBuf),
    /// A schema cannot be read or compiled.
    Unusable(String),
    /// The schema of a revision lacks a definition.
    Undefined {
        /// The revision.
        revision: Revision,
        /// The definition or method.
        what: String,
    },
    /// A result has the id of no request.
    Unasked,
    /// A value does not match its definition.
    Mismatch {
        /// The revision.
        revision: Revision,
        /// The definition.
        definition: String,
        /// The errors, each with its place in the value.
        reasons: Vec<String>,
    },
    /// A message is not valid in its revision.
    Violation {
        /// The message.
        message: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl fmt::Display for SchemaCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(place) => write!(
                f,
                "there are no schemas at `{}`; run tests/peers/install.sh, or set {DIRECTORY} to their directory",
                place.display()
            ),
            Self::Unusable(reason) => write!(f, "the schema cannot be used: {reason}"),
            Self::Undefined { revision, what } => {
                write!(f, "the schema of {revision} does not define {what}")
            }
            Self::Unasked => f.write_str("a response without a request"),
            Self::Mismatch { revision, definition, reasons } => {
                write!(f, "not a {definition} of {revision}: {}", reasons.join("; "))
            }
            Self::Violation { message, reason } => write!(f, "{reason}\n  {message}"),
        }
    }
}

impl std::error::Error for SchemaCheckError {}
