"""The features of the Python servers, the same for every SDK; `server_features.mjs` is the same for TypeScript."""

import asyncio
import base64
import json
import socket
import sys
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Literal

import uvicorn
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import (
    AudioContent,
    Annotations,
    CompletionArgument,
    CompletionContext,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequestURLParams,
    EmbeddedResource,
    ImageContent,
    ModelHint,
    ModelPreferences,
    PromptReference,
    ResourceLink,
    ResourceTemplateReference,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
    ToolChoice,
    ToolResultContent,
    ToolUseContent,
)
from pydantic import BaseModel, Field

PROGRESS_INTERVAL = 0.05

INSTRUCTIONS = "A peer for interoperability tests."
LEVELS = ["debug", "info", "warning", "error"]
MOTD = "peer://motd"
MOTD_TEXT = "Tie a bowline."
QUESTION = "Who are you?"
PAGE = {"message": "Sign in there.", "url": "https://example.com/sign-in"}
BYTES = bytes([0, 1, 254, 255])
ENCODED = base64.b64encode(BYTES).decode()


@dataclass
class Sum:
    """The result of `add`."""

    sum: int


class Person(BaseModel):
    """What `greet` asks the user for."""

    name: str = Field(title="Name", min_length=2)
    age: int = Field(default=30, ge=0)
    member: bool = True
    knot: Literal["bowline", "hitch"] = "bowline"


def picture() -> ImageContent:
    return ImageContent(data=ENCODED, mime_type="image/png")


def embedded() -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=MOTD, mime_type="text/plain", text=MOTD_TEXT))


def gallery() -> list[Any]:
    return [
        TextContent(text="a text", annotations=Annotations(audience=["user"], priority=0.5)),
        picture(),
        AudioContent(data=ENCODED, mime_type="audio/wav"),
        ResourceLink(uri=MOTD, name="motd"),
        embedded(),
    ]


def completions(
    reference: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> list[str]:
    """Returns the completions of an argument."""
    chosen = (context.arguments if context else None) or {}
    match reference, argument.name:
        case ResourceTemplateReference(), "name":
            values = ["bowline", "butterfly", "hitch"]
        case PromptReference(), "name":
            values = ["Ada", "Alan", "Grace"]
        case PromptReference(), "tone":
            values = ["formally"] if chosen.get("name") == "Ada" else ["casually"]
        case _:
            values = []
    return [value for value in values if value.startswith(argument.value)]


def page(elicitation_id: str | None = None) -> ElicitRequestURLParams:
    """A URL elicitation; since 2026-07-28 it has no id."""
    return ElicitRequestURLParams(elicitation_id=elicitation_id, **PAGE)


def conversation(*, tools: bool) -> CreateMessageRequestParams:
    """A sampling request; with tools, its messages have an earlier tool use."""
    params = CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=TextContent(text="Which knot?"))],
        system_prompt="You are a sailor.",
        model_preferences=ModelPreferences(hints=[ModelHint(name="sailor")]),
        max_tokens=100,
    )
    if not tools:
        return params
    use = ToolUseContent(id="use-1", name="lookup", input={"knot": "hitch"})
    result = ToolResultContent(tool_use_id="use-1", content=[TextContent(text="no such knot")])
    params.messages.append(SamplingMessage(role="assistant", content=[use]))
    params.messages.append(SamplingMessage(role="user", content=[result]))
    schema = {"type": "object", "properties": {"knot": {"type": "string"}}}
    params.tools = [Tool(name="lookup", input_schema=schema)]
    params.tool_choice = ToolChoice(mode="required")
    return params


def sampling(*, tools: bool) -> CreateMessageRequest:
    return CreateMessageRequest(params=conversation(tools=tools))


def sampled(result: CreateMessageResult | CreateMessageResultWithTools) -> str:
    """The answer of a model, which may have one block or a list of blocks."""
    said = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    content = said["content"]
    return json.dumps({"model": said["model"], "content": content if isinstance(content, list) else [content]})


def add_features(server: Any, text_tool: Callable[..., Any], failure: type[Exception], seen: "Sightings") -> None:
    """Adds the features that are declared in the same way for every SDK.

    `text_tool` makes the decorator of a tool without structured output, and `failure` is the error that a tool raises.
    """

    @text_tool()
    def echo(message: str) -> str:
        """Returns the message."""
        return message

    @server.tool(title="Adder", annotations=ToolAnnotations(read_only_hint=True))
    def add(a: int, b: int) -> Sum:
        """Adds two integers."""
        return Sum(a + b)

    @text_tool()
    def fail(reason: str) -> str:
        """Fails."""
        raise failure(reason)

    @text_tool(name="gallery")
    def show_gallery() -> list[Any]:
        """Returns one of everything."""
        return gallery()

    @text_tool(name="seen")
    def tell_what_was_seen() -> str:
        """Tells what was seen of the client."""
        return seen.to_json()

    @text_tool()
    def locked() -> str:
        """Wants the user to sign in first."""
        raise UrlElicitationRequiredError([page("unlock")], "Sign in first.")

    @server.resource(MOTD, name="motd", title="Message of the day", mime_type="text/plain")
    def motd() -> str:
        """The message of the day."""
        return MOTD_TEXT

    @server.resource("peer://logo", name="logo", mime_type="image/png")
    def logo() -> bytes:
        """A picture."""
        return BYTES

    @server.resource("peer://knots/{name}", name="knot", mime_type="text/plain")
    def knot(name: str) -> str:
        """Instructions for a knot."""
        return f"How to tie a {name}."

    @server.prompt(description="Asks for an introduction.")
    def introduce(name: str, tone: str | None = None) -> str:
        return f"Introduce {name}, {tone or 'plainly'}."


def is_over_http() -> bool:
    """Whether to serve over HTTP, with `--http`, rather than over stdio."""
    return "--http" in sys.argv[1:]


async def listen(app: Any) -> None:
    """Serves on a free port, and prints the URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    # asyncio sets this only on its own sockets; without it every response takes 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="critical")).serve(sockets=[listener])


@dataclass
class Sightings:
    """What a server records of its client outside of requests."""

    cancelled: int = 0
    rootsChanged: int = 0
    subscribed: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    async def sleep(self, seconds: float, report_progress: Any) -> str:
        """Sleeps and reports progress until it is cancelled."""
        slept = 0.0
        try:
            while slept < seconds:
                await asyncio.sleep(min(PROGRESS_INTERVAL, seconds - slept))
                slept = min(slept + PROGRESS_INTERVAL, seconds)
                await report_progress(slept, seconds, "sleeping")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return f"Slept {seconds} s."
