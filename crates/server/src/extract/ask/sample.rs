//! Asks the client's model.

use std::future::{Future, IntoFuture};

use bowline_json_schema::Validator;
use bowline_types::content::{Content, Role, ToolResultContent, ToolUseContent};
use bowline_types::deprecated::sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelPreferences, SamplingMessage,
    StopReason, ToolChoice, ToolChoiceMode, check_tool_results,
};
use bowline_types::json::RawJson;
use bowline_types::text::counted;
use bowline_types::tool::{CallToolResult, ToolDefinition};

use super::answer::AnswerError;
use super::{Ask, Asking};
use crate::call::Rounds;
use crate::error::{AskError, Result};
use crate::respond::IntoToolResult;

/// The most tokens of an answer, unless [`Sample::max_tokens`] sets another limit.
const MAX_TOKENS: u64 = 1024;

/// How often the model is asked in one loop of tools, unless [`Sample::turns`] sets another limit.
const TURNS: usize = 8;

impl Ask {
    /// Asks the client's model, with a message of the user's to begin with. Say more with the
    /// methods of [`Sample`], then await it.
    ///
    /// The specification deprecates this in favour of asking a model provider. The client's user may
    /// read, change and refuse both the question and the answer; send nothing secret.
    ///
    /// # Errors
    ///
    /// If the client asks no model, or not with these means, or the user refuses.
    ///
    /// ```
    /// use bowline_server::{Ask, Result};
    ///
    /// async fn summarize(ask: Ask) -> Result<String> {
    ///     let summary = ask.sample("Summarize the minutes: …").max_tokens(200).await?;
    ///     Ok(summary.text())
    /// }
    /// ```
    pub fn sample(&self, message: impl Into<Content>) -> Sample {
        self.sample_with(CreateMessageParams::new([SamplingMessage::user(message)], MAX_TOKENS))
    }

    /// Asks the client's model for more than [`sample`](Self::sample) has words for.
    pub fn sample_with(&self, params: CreateMessageParams) -> Sample {
        Sample { ask: self.clone(), params, turns: TURNS }
    }
}

/// A question to the client's model. Everything but the conversation and
/// [`max_tokens`](Self::max_tokens) is a wish.
#[derive(Clone, Debug)]
#[must_use = "the client is not asked unless this is awaited"]
pub struct Sample {
    ask: Ask,
    params: CreateMessageParams,
    turns: usize,
}

impl Sample {
    /// Sets the most tokens of the answer: 1024 by default.
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.params.max_tokens = tokens;
        self
    }

    /// Sets the system prompt.
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.params.system_prompt = Some(prompt.into());
        self
    }

    /// Adds a turn of the conversation.
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.params.messages.push(message);
        self
    }

    /// Shows the model an image.
    pub fn image(self, bytes: &[u8], mime_type: impl Into<String>) -> Self {
        self.message(SamplingMessage::user(Content::image(bytes, mime_type)))
    }

    /// Plays the model a sound.
    pub fn audio(self, bytes: &[u8], mime_type: impl Into<String>) -> Self {
        self.message(SamplingMessage::user(Content::audio(bytes, mime_type)))
    }

    /// Prefers models: by name first, and then by what matters.
    pub fn prefer(mut self, preferences: ModelPreferences) -> Self {
        self.params.model_preferences = Some(preferences);
        self
    }

    /// Sets the sampling temperature.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.params.temperature = Some(temperature);
        self
    }

    /// Ends the answer at a text.
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.params.stop_sequences.push(text.into());
        self
    }

    /// Offers the model tools to call, for [`run`](Self::run) or by hand.
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<ToolDefinition>>) -> Self {
        self.params.tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets whether the model may or must call tools.
    pub fn tool_choice(mut self, mode: ToolChoiceMode) -> Self {
        self.params.tool_choice = Some(ToolChoice::new(mode));
        self
    }

    /// Sets how often [`run`](Self::run) asks the model: eight times by default, and at least once.
    pub fn turns(mut self, turns: usize) -> Self {
        self.turns = turns.max(1);
        self
    }

    /// Asks. Awaiting the question does the same; this is for asking several at the same time.
    pub fn ask(mut self) -> Asking<Sampled> {
        let capabilities = &self.ask.call.parts().client.capabilities;
        if !capabilities.supports_sampling_context() {
            self.params.include_context.take_if(|context| *context != IncludeContext::None);
        }
        if let Err(error) = check_tool_results(&self.params.messages) {
            return Asking::of(async move { Err(AskError::Unaskable(error.to_string())) });
        }
        self.ask.put(self.params.into(), read)
    }

    /// Asks, and lets the model call the tools that it was offered until it has an answer. Each tool
    /// is called once, however often the handler is run again.
    ///
    /// There are at most [`turns`](Self::turns); in the last, no more tools may be called. What a
    /// tool fails with is sent to the model. A tool must not ask the user or the model itself.
    ///
    /// ```
    /// use bowline_server::{Ask, Result, Tool};
    ///
    /// async fn plan(ask: Ask) -> Result<String> {
    ///     let clock = Tool::new("clock", || async {}).describe("Tells the time");
    ///     let question = ask.sample("Is it time for lunch?").tools([clock]);
    ///     Ok(question.run(|_tool_use| async { "12:15" }).await?.text())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As when asking without tools, or if the model has no answer in the end.
    pub async fn run<F, Running>(mut self, mut call: F) -> Result<Sampled>
    where
        F: FnMut(ToolUseContent) -> Running,
        Running: Future,
        Running::Output: IntoToolResult,
    {
        for turn in 1..=self.turns {
            if turn == self.turns {
                self = self.tool_choice(ToolChoiceMode::None);
            }
            let sampled = self.clone().ask().await?;
            if sampled.tool_uses().next().is_none() {
                return Ok(sampled);
            }
            let results = self.call_tools(&sampled, &mut call).await?;
            let said = SamplingMessage::new(Role::Assistant, sampled.content);
            self.params.messages.extend([said, SamplingMessage::new(Role::User, results)]);
        }
        let turns = counted(self.turns, "turn");
        let message = format!("the model still wishes to call tools after {turns}");
        Err(AskError::Invalid(message).into())
    }

    /// Calls each tool that the model asked for, once.
    async fn call_tools<F, Running>(&self, sampled: &Sampled, call: &mut F) -> Result<Vec<Content>>
    where
        F: FnMut(ToolUseContent) -> Running,
        Running: Future,
        Running::Output: IntoToolResult,
    {
        let question = self.ask.call.rounds().map_or(0, Rounds::asked);
        let mut results = Vec::new();
        for tool_use in sampled.tool_uses() {
            let step = format!("tool use `{}` of question {question}", tool_use.id);
            let result = self.ask.once(&step, || self.call_tool(tool_use, call)).await?;
            results.push(Content::ToolResult(result));
        }
        Ok(results)
    }

    /// Calls a tool that the model asked for. Its error becomes a result for the model.
    async fn call_tool<F, Running>(
        &self,
        tool_use: &ToolUseContent,
        call: &mut F,
    ) -> Result<ToolResultContent>
    where
        F: FnMut(ToolUseContent) -> Running,
        Running: Future,
        Running::Output: IntoToolResult,
    {
        let outcome = match self.params.tools.iter().find(|tool| tool.name == tool_use.name) {
            Some(tool) => {
                let result = call(tool_use.clone()).await.into_tool_result();
                result.and_then(|result| fits(tool, result))
            }
            None => Err(format!("no tool is named `{}`", tool_use.name).into()),
        };
        let result = outcome.unwrap_or_else(|error| CallToolResult::error(error.to_string()));
        let mut content = ToolResultContent::new(&tool_use.id, result.content);
        content.structured_content = result.structured_content;
        content.is_error = result.is_error;
        Ok(content)
    }
}

impl IntoFuture for Sample {
    type Output = Result<Sampled, AskError>;
    type IntoFuture = Asking<Sampled>;

    fn into_future(self) -> Asking<Sampled> {
        self.ask()
    }
}

/// What the model said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// All of it.
    pub content: Vec<Content>,
    /// The model that said it.
    pub model: String,
    /// Why the model stopped, if the client reports it.
    pub stop_reason: Option<StopReason>,
}

impl Sampled {
    /// What it said in words, a line for each block of text.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }

    /// The tools that the model wishes to call.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseContent> {
        self.content.iter().filter_map(|block| match block {
            Content::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }
}

fn read(answer: &RawJson) -> Result<Sampled, AnswerError> {
    let result: CreateMessageResult = answer.parse().map_err(|error| {
        let message = format!("an answer to `sampling/createMessage`: {error}");
        AnswerError::Refused(AskError::Malformed(message))
    })?;
    let CreateMessageResult { content, model, stop_reason, .. } = result;
    Ok(Sampled { content, model, stop_reason })
}

/// Checks structured content against the tool's output schema.
fn fits(tool: &ToolDefinition, result: CallToolResult) -> Result<CallToolResult> {
    let (Some(schema), Some(output)) = (&tool.output_schema, &result.structured_content) else {
        return Ok(result);
    };
    let validator = Validator::compile(&schema.parse()?)?;
    validator.check("structuredContent", &output.parse()?).map_err(|error| error.to_string())?;
    Ok(result)
}
