//! The messages of the protocol: what handlers return, what clients receive, what both declare.
//!
//! These types have the shape of the newest revision and read every revision. They have public fields, a
//! `new` with the required ones and a `with_…` for most others. Nearly all are `#[non_exhaustive]`,
//! because the specification grows. The crate `bowline-types` has the rest: the params and results of
//! every method, for programs that write messages themselves.

// Names, versions, revisions.
#[doc(inline)]
pub use bowline_types::{
    capability::{
        ClientCapabilities, DeclaredExtensions, ElicitationCapability, ListCapability,
        ResourcesCapability, SamplingCapability, ServerCapabilities, TasksCapability,
    },
    implementation::{Icon, IconTheme, Implementation},
    method::{CustomMethod, Method},
    revision::{Era, Revision, UnknownRevision},
};

// What every message has.
#[doc(inline)]
pub use bowline_types::{
    cache::{CacheHint, CacheScope},
    error::{ErrorObject, code},
    id::{Cursor, ProgressToken, RequestId},
    json::{Base64, Object, RawJson, Schema},
    meta::Meta,
    read::ReadError,
};

// What servers offer.
#[doc(inline)]
pub use bowline_types::{
    completion::{Completion, CompletionContext, PromptReference, Reference, ResourceReference},
    content::{
        Annotations, AudioContent, Content, EmbeddedResource, ImageContent, ResourceLink, Role,
        TextContent, ToolResultContent, ToolUseContent,
    },
    ext::apps::{ToolUi, UiDomains, UiPermissions, Visibility},
    page::LeftOutServer,
    prompt::{GetPromptResult, PromptArgument, PromptDefinition, PromptMessage},
    resource::{
        ReadResourceResult, ResourceBody, ResourceContents, ResourceDefinition, ResourceTemplate,
    },
    template::{InvalidTemplate, UriTemplate, Variables},
    tool::{CallToolResult, TaskSupport, ToolAnnotations, ToolDefinition, ToolExecution},
};

// While a call runs.
#[doc(inline)]
pub use bowline_types::{
    ext::tasks::{Task, TaskStatus},
    progress::ProgressParams,
    subscription::SubscriptionFilter,
};

// What servers ask.
#[doc(inline)]
pub use bowline_types::{
    elicitation::schema::{
        BooleanSchema, FieldKind, FormField, FormSchema, InvalidAnswer, MultiSelectSchema,
        NotAForm, NumberSchema, SelectOption, SelectSchema, StringFormat, StringSchema,
    },
    elicitation::{ElicitAction, ElicitParams, ElicitResult, FormParams, UrlParams},
    input::{InputRequest, InputRequests, InputRequired, InputResponses, Outcome},
};

// Deprecated by the specification: sampling, roots, logging.
#[doc(inline)]
pub use bowline_types::deprecated::{
    logging::{LogMessageParams, LoggingLevel},
    roots::Root,
    sampling::{
        CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
        SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
    },
};
