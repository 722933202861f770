//! What an observer looks at: one thing, the revision that it is judged by, and the past.

use bowline_types::revision::Revision;
use serde_json::Value;

use crate::message::{Channel, HttpFacts, Sender, WireMessage};
use crate::past::{Asked, Past};
use crate::shape::ShapeFault;

/// One thing that happened in a session, with everything an observer may ask about it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The revision that it is judged by.
    pub revision: Revision,
    /// What happened.
    pub subject: Subject<'a>,
    /// What happened before.
    pub past: &'a Past,
    /// Differences between the message and the types of its method.
    pub(crate) faults: &'a [ShapeFault],
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A message came or went.
    Message(&'a WireMessage),
    /// The server sent text that is no JSON-RPC message.
    Text(&'a str),
    /// The server sent bytes that are not UTF-8.
    Encoding(&'a str),
    /// An event on a stream of HTTP has this id.
    EventId(Channel, &'a str),
    /// An HTTP request was answered.
    Http(&'a HttpFacts),
    /// A request has waited longer than the client wants to wait.
    Unanswered(&'a Asked),
    /// The channel ended.
    End(EndOfSession),
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfSession {
    /// The client closed it, and the server left in time.
    Orderly,
    /// The client closed it, and the server was still there after a while.
    Lingering,
    /// The server ended it by itself.
    ByServer,
}

/// An answer of the server with the request that it answers.
#[derive(Clone, Copy, Debug)]
pub struct WireReply<'a> {
    /// The request.
    pub asked: &'a Asked,
    /// The result, if the answer has one.
    pub result: Option<&'a Value>,
    /// The error, if the answer has one.
    pub error: Option<&'a Value>,
}

impl WireReply<'_> {
    /// The code of the error.
    pub fn code(&self) -> Option<i64> {
        self.error?.get("code")?.as_i64()
    }
}

/// Something that a server wants of a client or its user.
#[derive(Clone, Debug)]
pub struct WireQuestion<'a> {
    /// `sampling/createMessage`, `elicitation/create` or `roots/list`.
    pub method: &'a str,
    /// Its params.
    pub params: &'a Value,
    /// The capabilities of the client that is asked.
    pub capabilities: &'a Value,
}

impl<'a> Seen<'a> {
    /// The message, if it is one of the server.
    pub fn server(&self) -> Option<&'a WireMessage> {
        match self.subject {
            Subject::Message(message) if message.sender == Sender::Server => Some(message),
            _ => None,
        }
    }

    /// The HTTP facts, if it is an answer of HTTP.
    pub fn http(&self) -> Option<&'a HttpFacts> {
        match self.subject {
            Subject::Http(facts) => Some(facts),
            _ => None,
        }
    }

    /// The request that was not answered, if it is that.
    pub fn unanswered(&self) -> Option<&'a Asked> {
        match self.subject {
            Subject::Unanswered(asked) => Some(asked),
            _ => None,
        }
    }

    /// An answer of the server to a request of the client.
    pub fn reply(&self) -> Option<WireReply<'a>> {
        let message = self.server().filter(|message| message.is_answer())?;
        let asked = self.past.asked(message.id()?)?;
        Some(WireReply {
            asked,
            result: message.value.get("result"),
            error: message.value.get("error"),
        })
    }

    /// The answer to a request of this method.
    pub fn reply_to(&self, method: &str) -> Option<WireReply<'a>> {
        self.reply().filter(|reply| reply.asked.method == method)
    }

    /// The result of a request of this method; of results in several steps, the complete one.
    pub fn result_of(&self, method: &str) -> Option<(&'a Asked, &'a Value)> {
        let reply = self.reply_to(method)?;
        let result = reply.result.filter(|result| is_complete(result))?;
        Some((reply.asked, result))
    }

    /// The params of a notification of the server.
    pub fn notification(&self, method: &str) -> Option<&'a Value> {
        let message = self.server().filter(|message| message.is_notification())?;
        (message.method() == Some(method)).then(|| message.params())
    }

    /// A request of the server: its method and params.
    pub fn request(&self) -> Option<(&'a str, &'a Value)> {
        let message = self.server().filter(|message| message.is_request())?;
        Some((message.method()?, message.params()))
    }

    /// What the server asks the client for: by a request, or inside a result.
    pub fn questions(&self) -> Vec<WireQuestion<'a>> {
        if let Some((method, params)) = self.request() {
            let capabilities = &self.past.client_capabilities;
            return match method {
                "ping" => Vec::new(),
                _ => vec![WireQuestion { method, params, capabilities }],
            };
        }
        let Some(reply) = self.reply() else { return Vec::new() };
        let requests = reply.result.and_then(|result| result.get("inputRequests"));
        let requests = requests.and_then(Value::as_object).into_iter().flatten();
        let capabilities = reply.asked.capabilities();
        requests
            .map(|(_, request)| WireQuestion {
                method: request.get("method").and_then(Value::as_str).unwrap_or_default(),
                params: request.get("params").unwrap_or(&Value::Null),
                capabilities,
            })
            .collect()
    }

    /// Whether the message has a value of one of these types; a rough answer, for the count of how
    /// often a rule was kept.
    pub(crate) fn mentions(&self, owners: &[&str]) -> bool {
        let Some(message) = self.server() else { return false };
        self.past
            .type_of(message)
            .is_some_and(|name| owners.iter().any(|owner| covers(name, owner)))
    }
}

/// Whether a result of this type holds values of that one.
fn covers(name: &str, owner: &str) -> bool {
    match owner {
        "Tool" | "InputSchema" | "ToolAnnotations" => name == "ListToolsResult",
        "Resource" | "ResourceTemplate" => name.starts_with("ListResource"),
        "ResourceContents" | "TextResourceContents" | "BlobResourceContents" => {
            name == "ReadResourceResult"
        }
        "Prompt" | "PromptArgument" => name == "ListPromptsResult",
        "PromptMessage" => name == "GetPromptResult",
        "ContentBlock" | "TextContent" | "ImageContent" => {
            matches!(name, "CallToolResult" | "GetPromptResult")
        }
        "ServerCapabilities" | "Implementation" => {
            matches!(name, "InitializeResult" | "DiscoverResult")
        }
        "Completion" => name == "CompleteResult",
        _ => name == owner,
    }
}

/// Whether a result is the last one of its request.
pub(crate) fn is_complete(result: &Value) -> bool {
    let kind = result.get("resultType").and_then(Value::as_str);
    kind.is_none_or(|kind| kind == "complete") && result.is_object()
}
