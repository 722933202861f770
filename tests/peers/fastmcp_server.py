"""A server written with FastMCP; it serves both eras.

usage: .venv/bin/python fastmcp_server.py [--http]
"""

import json
from functools import partial
from typing import Any

import anyio
import server_features as features
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message, Prompt, PromptResult
from fastmcp.resources import Resource
from fastmcp.server.elicitation import AcceptedElicitation
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

# Small, so that every list has several pages.
PAGE_SIZE = 1

server = FastMCP("fastmcp-server", version="1.0.0", instructions=features.INSTRUCTIONS, list_page_size=PAGE_SIZE)
seen = features.Sightings()
text_tool = partial(server.tool, output_schema=None)
features.add_features(server, text_tool, ToolError, seen)


@server.tool(output_schema={"type": "object", "properties": {"sum": {"type": "integer"}}})
def lie() -> ToolResult:
    """Returns what its schema does not allow."""
    return ToolResult(content="many", structured_content={"sum": "many"})


@text_tool()
async def sleep(seconds: float, context: Context) -> str:
    """Sleeps, reporting progress."""
    return await seen.sleep(seconds, context.report_progress)


@text_tool()
async def chatter(context: Context) -> str:
    """Logs something of several levels."""
    for level in features.LEVELS:
        await context.log(f"a {level}", level=level, logger_name="peer")
    return "said it"


def is_modern(context: Context) -> bool:
    return context.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS


def ask_in_result(context: Context, question: InputRequest) -> Any:
    """Returns the answer to a question; if there is none yet, an input-required result with the question."""
    answer = (context.input_responses or {}).get("answer")
    return answer or InputRequiredResult(input_requests={"answer": question}, request_state="asked")


@text_tool()
async def greet(context: Context) -> str | InputRequiredResult:
    """Greets the user by name."""
    if is_modern(context):
        schema = features.Person.model_json_schema()
        question = ElicitRequest(params=ElicitRequestFormParams(message=features.QUESTION, requested_schema=schema))
        answer = ask_in_result(context, question)
        if not isinstance(answer, ElicitResult):
            return answer
        return json.dumps({"action": answer.action} | ({"content": answer.content} if answer.content else {}))
    answer = await context.elicit(features.QUESTION, features.Person)
    content = {"content": answer.data.model_dump(mode="json")} if isinstance(answer, AcceptedElicitation) else {}
    return json.dumps({"action": answer.action} | content)


@text_tool()
async def sign_in(context: Context) -> str | InputRequiredResult:
    """Sends the user to a page."""
    if is_modern(context):
        answer = ask_in_result(context, ElicitRequest(params=features.page()))
        if not isinstance(answer, ElicitResult):
            return answer
    else:
        answer = await context.session.elicit_url(**features.PAGE, elicitation_id="sign-in")
    return json.dumps({"action": answer.action})


@text_tool()
async def unlock(context: Context) -> str:
    """Tells that the user has signed in."""
    await context.session.send_elicit_complete("unlock")
    return "unlocked"


async def ask_model(context: Context, *, tools: bool) -> str | InputRequiredResult:
    question = features.sampling(tools=tools)
    kind = CreateMessageResultWithTools if tools else CreateMessageResult
    if not is_modern(context):
        return features.sampled(await context.session.send_request(question, kind))
    answer = ask_in_result(context, question)
    return answer if isinstance(answer, InputRequiredResult) else features.sampled(answer)


@text_tool()
async def sample(context: Context) -> str | InputRequiredResult:
    """Asks the model."""
    return await ask_model(context, tools=False)


@text_tool()
async def sample_tools(context: Context) -> str | InputRequiredResult:
    """Asks the model to use a tool."""
    return await ask_model(context, tools=True)


@text_tool()
async def roots(context: Context) -> str | InputRequiredResult:
    """Lists the roots."""
    if is_modern(context):
        listed = ask_in_result(context, ListRootsRequest())
        if not isinstance(listed, ListRootsResult):
            return listed
    else:
        listed = await context.session.list_roots()
    return json.dumps([root.model_dump(mode="json", exclude_none=True) for root in listed.roots])


@text_tool()
async def learn(name: str, context: Context) -> str:
    """Adds a tool, a resource and a prompt."""
    server.add_tool(Tool.from_function(lambda: name, name=name, description="Learned."))
    server.add_resource(Resource.from_function(lambda: name, uri=f"peer://learned/{name}", name=name))
    server.add_prompt(Prompt.from_function(lambda: name, name=name))
    for notice in (ToolListChangedNotification, ResourceListChangedNotification, PromptListChangedNotification):
        await context.send_notification(notice())
    return "learned"


@text_tool()
async def touch(uri: str, context: Context) -> str:
    """Tells that a resource changed."""
    params = ResourceUpdatedNotificationParams(uri=uri)
    await context.send_notification(ResourceUpdatedNotification(params=params))
    return "touched"


@server.prompt(title="Illustrate")
def illustrate() -> PromptResult:
    return PromptResult([Message(features.picture()), Message(features.embedded(), role="assistant")])


@server.completion
def complete(reference: Any, argument: Any, context: Any) -> list[str]:
    return features.completions(reference, argument, context)


async def main() -> None:
    if features.is_over_http():
        return await features.listen(server.http_app())
    # Printing tracebacks of expected failures takes seconds.
    await server.run_async(transport="stdio", show_banner=False, log_level="CRITICAL")


if __name__ == "__main__":
    anyio.run(main)
