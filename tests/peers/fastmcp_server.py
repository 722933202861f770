"""A stdio server written with FastMCP; it serves both eras.

usage: .venv/bin/python fastmcp_server.py
"""

import asyncio
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

PROGRESS_INTERVAL = 0.1
QUESTION = "What is your name?"

server = FastMCP("fastmcp-server", version="1.0.0", instructions="A peer for interoperability tests.")


@dataclass
class Sum:
    """The result of `add`."""

    sum: int


@dataclass
class Person:
    """What `greet` asks the user for."""

    name: str


@server.tool(output_schema=None)
def echo(message: str) -> str:
    """Returns the message."""
    return message


@server.tool
def add(a: int, b: int) -> Sum:
    """Adds two integers."""
    return Sum(a + b)


@server.tool(output_schema=None)
async def sleep(seconds: float, context: Context) -> str:
    """Sleeps, reporting progress."""
    slept = 0.0
    while slept < seconds:
        await asyncio.sleep(min(PROGRESS_INTERVAL, seconds - slept))
        slept = min(slept + PROGRESS_INTERVAL, seconds)
        # Sends nothing when the caller gave no progress token.
        await context.report_progress(slept, seconds)
    return f"Slept {seconds} s."


@server.tool(output_schema=None)
async def greet(context: Context) -> str | InputRequiredResult:
    """Greets the user by name."""
    if context.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return greet_by_input_required(context)
    answer = await context.elicit(QUESTION, Person)
    return greeting(answer.action, answer.data.name if isinstance(answer, AcceptedElicitation) else None)


def greet_by_input_required(context: Context) -> str | InputRequiredResult:
    """Without requests from the server, the question is a result and the answer a second call."""
    answer = (context.input_responses or {}).get("name")
    if not isinstance(answer, ElicitResult):
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        question = ElicitRequest(params=ElicitRequestFormParams(message=QUESTION, requested_schema=schema))
        return InputRequiredResult(input_requests={"name": question}, request_state="asked for the name")
    return greeting(answer.action, (answer.content or {}).get("name"))


def greeting(action: str, name: object) -> str:
    return f"Hello, {name}!" if action == "accept" else f"Nobody to greet: {action}."


@server.resource("peer://motd", mime_type="text/plain")
def motd() -> str:
    """The message of the day."""
    return "Tie a bowline."


@server.resource("peer://knots/{name}", mime_type="text/plain")
def knot(name: str) -> str:
    """Instructions for a knot."""
    return f"How to tie a {name}."


@server.prompt
def introduce(name: str) -> str:
    """Asks for an introduction."""
    return f"Introduce {name}."


if __name__ == "__main__":
    server.run(transport="stdio", show_banner=False)
