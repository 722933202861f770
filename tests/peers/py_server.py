"""A server written with the official Python SDK (`mcp`); it serves both eras.

usage: .venv/bin/python py_server.py [--http]
"""

import json
from functools import partial
from typing import Annotated, Any

import anyio
import server_features as features
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    ListRoots,
    MCPServer,
    Resolve,
    Sample,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import AssistantMessage, Message, UserMessage
from mcp.server.mcpserver.resources import FunctionResource
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolResult,
    Completion,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
    EmptyResult,
    InputRequiredResult,
    ListRootsResult,
    NotificationParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

# Printing tracebacks of expected failures takes seconds.
server = MCPServer("py-server", version="1.0.0", instructions=features.INSTRUCTIONS, log_level="CRITICAL")
seen = features.Sightings()
text_tool = partial(server.tool, structured_output=False)
features.add_features(server, text_tool, ToolError, seen)


@server.tool()
def lie() -> Annotated[CallToolResult, features.Sum]:
    """Returns what its schema does not allow."""
    return CallToolResult(content=[TextContent(text="many")], structured_content={"sum": "many"})


@text_tool()
async def sleep(seconds: float, context: Context) -> str:
    """Sleeps, reporting progress."""
    return await seen.sleep(seconds, context.report_progress)


@text_tool()
async def chatter(context: Context) -> str:
    """Logs something of several levels."""
    for level in features.LEVELS:
        await context.log(level, f"a {level}", logger_name="peer")
    return "said it"


def ask_for_person() -> Elicit[features.Person]:
    return Elicit(features.QUESTION, features.Person)


@text_tool()
def greet(person: Annotated[ElicitationResult[features.Person], Resolve(ask_for_person)]) -> str:
    """Greets the user by name."""
    answer: dict[str, Any] = {"action": person.action}
    if isinstance(person, AcceptedElicitation):
        answer["content"] = person.data.model_dump(mode="json")
    return json.dumps(answer)


@text_tool()
async def sign_in(context: Context) -> str | InputRequiredResult:
    """Sends the user to a page."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        answer = await context.elicit_url(**features.PAGE, elicitation_id="sign-in")
        return json.dumps({"action": answer.action})
    answer = (context.input_responses or {}).get("page")
    if isinstance(answer, ElicitResult):
        return json.dumps({"action": answer.action})
    return InputRequiredResult(input_requests={"page": ElicitRequest(params=features.page())}, request_state="asked")


@text_tool()
async def unlock(context: Context) -> str:
    """Tells that the user has signed in."""
    await context.session.send_elicit_complete("unlock")
    return "unlocked"


def ask_model(tools: bool) -> Sample:
    asked = features.conversation(tools=tools)
    return Sample(
        asked.messages,
        max_tokens=asked.max_tokens,
        system_prompt=asked.system_prompt,
        model_preferences=asked.model_preferences,
        tools=asked.tools,
        tool_choice=asked.tool_choice,
    )


@text_tool()
def sample(said: Annotated[CreateMessageResult, Resolve(lambda: ask_model(tools=False))]) -> str:
    """Asks the model."""
    return features.sampled(said)


@text_tool()
def sample_tools(said: Annotated[CreateMessageResultWithTools, Resolve(lambda: ask_model(tools=True))]) -> str:
    """Asks the model to use a tool."""
    return features.sampled(said)


@text_tool()
def roots(listed: Annotated[ListRootsResult, Resolve(ListRoots)]) -> str:
    """Lists the roots."""
    return json.dumps([root.model_dump(mode="json", exclude_none=True) for root in listed.roots])


@text_tool()
async def learn(name: str, context: Context) -> str:
    """Adds a tool, a resource and a prompt."""
    server.add_tool(lambda: name, name=name, description="Learned.", structured_output=False)
    server.add_resource(FunctionResource(uri=f"peer://learned/{name}", name=name, fn=lambda: name))
    server.add_prompt(Prompt.from_function(lambda: name, name=name))
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await context.notify_tools_changed()
        await context.notify_resources_changed()
        await context.notify_prompts_changed()
    else:
        await context.session.send_tool_list_changed()
        await context.session.send_resource_list_changed()
        await context.session.send_prompt_list_changed()
    return "learned"


@text_tool()
async def touch(uri: str, context: Context) -> str:
    """Tells that a resource changed."""
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await context.notify_resource_updated(uri)
    else:
        await context.session.send_resource_updated(uri)
    return "touched"


@server.prompt(title="Illustrate")
def illustrate() -> list[Message]:
    return [UserMessage(features.picture()), AssistantMessage(features.embedded())]


@server.completion()
async def complete(reference: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=features.completions(reference, argument, context))


async def subscribe(_context: Any, params: SubscribeRequestParams) -> EmptyResult:
    seen.subscribed.append(str(params.uri))
    return EmptyResult()


async def unsubscribe(_context: Any, params: UnsubscribeRequestParams) -> EmptyResult:
    seen.subscribed.remove(str(params.uri))
    return EmptyResult()


async def set_level(_context: Any, _params: SetLevelRequestParams) -> EmptyResult:
    # The SDK does not filter log messages by level, so all of them are sent.
    return EmptyResult()


async def roots_changed(_context: Any, _params: NotificationParams | None) -> None:
    seen.rootsChanged += 1


async def main() -> None:
    # `MCPServer` has no methods for these requests of a session, so the low-level server handles them.
    below = server._lowlevel_server
    below.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    below.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
    below.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    below.add_notification_handler("notifications/roots/list_changed", NotificationParams, roots_changed)
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    below.create_initialization_options = partial(below.create_initialization_options, changes)
    if features.is_over_http():
        return await features.listen(server.streamable_http_app())
    async with stdio_server() as (reader, writer):
        await below.run(reader, writer, below.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
