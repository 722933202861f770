"""The host of the client: a user, a model, roots, and records of what the server sent."""

import json
import time

import anyio
from mcp import MCPError

ROOT = "file:///srv/project"
PATIENCE = 10
UPDATED = "notifications/resources/updated"


class Host:
    """The host of a client: answers questions of servers, and records their messages."""

    def __init__(self) -> None:
        self.peer = None
        #: What a gateway puts before the names of tools and prompts.
        self.prefix = ""
        self.roots = [ROOT]
        #: The questions of the server, in order.
        self.asked: list[dict] = []
        #: The notifications of the server, as `(method, params)`.
        self.heard: list[tuple[str, dict]] = []
        self.oddities: list[str] = []
        #: How the user answers forms and URL elicitations.
        self.user = answer_with({"action": "decline"})
        #: How the model answers.
        self.model = think

    async def elicited(self, params: dict) -> dict:
        self.asked.append(params)
        return await self.user(params)

    async def received(self, message) -> None:
        if isinstance(message, Exception):
            self.oddities.append(str(message))
        else:
            notice = json.loads(message.model_dump_json(by_alias=True, exclude_none=True))
            self.heard.append((notice["method"], notice.get("params", {})))

    @property
    def is_modern(self) -> bool:
        return self.peer.client.protocol_version >= "2026"

    async def say(self, name: str, arguments: dict | None = None, **options):
        """Calls a tool; returns its text, that it failed, or the code of the JSON-RPC error."""
        result = await self.call(name, arguments, **options)
        return result if isinstance(result, dict) else spoken(result)

    async def call(self, name: str, arguments: dict | None = None, **options):
        """Calls a tool; returns its result, or the code of the JSON-RPC error."""
        return await coded(self.peer.call(name, arguments or {}, **options))

    async def settle(self) -> None:
        """Sends a request and waits for its answer, so that all earlier messages have arrived."""
        await self.call("test_simple_text")

    async def hears(self, method: str, least: int, since: int = 0) -> list[dict]:
        """Returns the notifications of a method since `since`, once there are at least `least`."""

        def said() -> list[dict]:
            return [params for name, params in self.heard[since:] if name == method]

        async def enough() -> bool:
            return len(said()) >= least

        await self.eventually(enough)
        return said()

    async def eventually(self, is_so, patience: float = PATIENCE) -> None:
        """Waits until a condition holds, for a limited time."""
        end = time.monotonic() + patience
        while not await is_so() and time.monotonic() < end:
            await anyio.sleep(0.01)


def answer_with(answer: dict):
    """A user who always gives the same answer."""

    async def user(params: dict) -> dict:
        return answer

    return user


def think(params: dict) -> dict:
    """The model: calls the first tool, and then repeats its result."""
    base = {"role": "assistant", "model": "peer-model"}
    content = params["messages"][-1]["content"]
    last = content[0] if isinstance(content, list) else content
    if last["type"] == "tool_result":
        return base | {"content": {"type": "text", "text": f"It is {last['content'][0]['text']}"}}
    if not params.get("tools"):
        return base | {"content": {"type": "text", "text": "42"}}
    wish = {"type": "tool_use", "id": "wish-1", "name": params["tools"][0]["name"], "input": {}}
    return base | {"stopReason": "toolUse", "content": [wish]}


def spoken(result):
    if result.is_error:
        return {"isError": True}
    return "".join(getattr(block, "text", f"<{block.type}>") for block in result.content)


async def coded(asking):
    """Returns a result, or the code of the JSON-RPC error."""
    try:
        return await asking
    except MCPError as error:
        return {"code": error.code} | ({"data": error.data} if error.data else {})


async def refused(asking) -> dict:
    """Whether a call was refused, by the server or by the SDK itself."""
    try:
        await asking
    except Exception:
        return {"refused": True}
    return {"refused": False}
