"""What crosses a bridge, used once by a client; `crossing.mjs` is the same for TypeScript."""

import json

import anyio
from features import COMPLETE, LOG_LEVEL
from host import ROOT, UPDATED, Host, answer_with, refused, think
from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

MOTD = "peer://motd"
FILLED = {"name": "Ada", "age": 36, "member": False, "knot": "hitch"}
LISTED = "notifications/tools/list_changed"
LOGGED = "notifications/message"
#: How long to wait for what may never come.
MOMENT = 5
#: Members of results that belong to one connection, and say nothing about the server behind.
OF_THE_HOP = ["resultType", "ttlMs", "cacheScope", "nextCursor"]


def bare(model) -> dict:
    """A result without what belongs to the connection."""
    result = json.loads(model.model_dump_json(by_alias=True, exclude_none=True))
    meta = result.pop("_meta", {})
    own = {name: value for name, value in meta.items() if not name.startswith("io.modelcontextprotocol/")}
    kept = {name: value for name, value in result.items() if name not in OF_THE_HOP}
    return kept | ({"_meta": own} if own else {})


async def every(host: Host, kind: str) -> list[dict]:
    """Reads all pages of a list; its items have the names that their server gave them."""
    items, cursor = [], None
    while True:
        page = await host.peer.page(kind, cursor)
        items += [bare(item) for item in getattr(page, kind)]
        cursor = page.next_cursor
        if cursor is None:
            return items


async def named(host: Host, kind: str) -> list[dict]:
    def strip(name: str) -> str:
        return name.removeprefix(host.prefix) if name.startswith(host.prefix) else f"?{name}"

    return [item | {"name": strip(item["name"])} for item in await every(host, kind)]


async def outcome(host: Host, name: str, arguments: dict | None = None, progress=None, meta=None) -> dict:
    """The result of a tool, or the error of the call."""
    return await answered(host.peer.call(host.prefix + name, arguments or {}, progress=progress, meta=meta))


async def answered(asking) -> dict:
    try:
        return bare(await asking)
    except MCPError as error:
        return {"code": error.code, "message": error.message} | ({"data": error.data} if error.data else {})


async def server(host: Host):
    client = host.peer.client
    return bare(client.server_info) | {"instructions": client.instructions}


async def tools(host: Host):
    return await named(host, "tools")


async def structured(host: Host):
    return await outcome(host, "add", {"a": 2, "b": 40})


async def content(host: Host):
    return await outcome(host, "gallery")


async def failure(host: Host):
    return await outcome(host, "fail", {"reason": "no rope"})


async def wrong_arguments(host: Host):
    return await outcome(host, "add", {"a": "two", "b": 40})


async def unknown_tool(host: Host):
    return await outcome(host, "untie")


async def progress(host: Host):
    seen = []

    async def progressed(done: float, total: float | None, message: str | None) -> None:
        seen.append([done, total, message])

    result = await outcome(host, "sleep", {"seconds": 0.3}, progressed)
    # The SDK may miss the last steps, which arrive together with the answer.
    is_increasing = all(earlier < later for earlier, later in zip(seen, seen[1:]))
    return {"result": result, "first": seen[0] if seen else None, "isIncreasing": is_increasing}


async def ask(host: Host, tool: str, answer: dict):
    since = len(host.asked)
    host.user = answer_with(answer)
    result = await outcome(host, tool)
    members = ["message", "requestedSchema", "url"]
    asked = [{name: question.get(name) for name in members} for question in host.asked[since:]]
    return {"result": result, "asked": asked}


async def accepted(host: Host):
    return await ask(host, "greet", {"action": "accept", "content": FILLED})


async def declined(host: Host):
    return await ask(host, "greet", {"action": "decline"})


async def page(host: Host):
    return await ask(host, "sign_in", {"action": "accept"})


async def sampling(host: Host):
    return await outcome(host, "sample")


async def page_first(host: Host):
    """A tool that refuses until the user has signed in at a page, which the user does a moment later."""
    if not any(tool["name"] == "enter" for tool in await named(host, "tools")):
        return None
    before = len(host.heard)
    seen = await ask(host, "enter", {"action": "accept"})
    if "content" in seen["result"]:
        return seen
    completed = await host.hears(COMPLETE, 1, before)
    return {"refused": seen["result"], "completed": completed, "result": await outcome(host, "enter"), "asked": seen["asked"]}


async def sampling_tools(host: Host):
    return await outcome(host, "sample_tools")


async def sampling_refused(host: Host):
    def refuse(params: dict) -> dict:
        raise MCPError(-1, "not today")

    host.model = refuse
    result = await outcome(host, "sample")
    host.model = think
    return result


async def logging(host: Host):
    """The log messages of a call at the level `warning`, which a session sets and a request states."""
    since = len(host.heard)
    if not host.is_modern:
        await host.peer.method("set_logging_level")("warning")
    await outcome(host, "chatter", meta={LOG_LEVEL: "warning"})
    return await host.hears(LOGGED, 2, since)


async def roots(host: Host):
    return await outcome(host, "roots")


async def roots_change(host: Host):
    """Other roots: what the server hears of the change, and what it gets when it asks again."""

    async def changed() -> int:
        return json.loads((await outcome(host, "seen"))["content"][0]["text"])["rootsChanged"]

    async def is_noticed() -> bool:
        return await changed() > 0

    host.roots = [f"{ROOT}/other"]
    # A client without a session has nobody to tell.
    if not host.is_modern:
        await host.peer.method("send_roots_list_changed")()
        await host.eventually(is_noticed, MOMENT)
    return {"heard": await changed(), "roots": await outcome(host, "roots")}


async def caching(host: Host):
    def kept(result) -> dict:
        model = json.loads(result.model_dump_json(by_alias=True, exclude_none=True))
        return {name: model[name] for name in ["ttlMs", "cacheScope"] if name in model}

    return {
        "templates": kept(await host.peer.page("resource_templates", None)),
        "motd": kept(await host.peer.read(MOTD)),
    }


async def ping(host: Host):
    return await refused(host.peer.method("ping")())


async def cancellation(host: Host):
    async def cancelled() -> int:
        return json.loads((await outcome(host, "seen"))["content"][0]["text"])["cancelled"]

    async def is_noticed() -> bool:
        return await cancelled() > 0

    with anyio.CancelScope() as scope:

        async def progressed(*_) -> None:
            scope.cancel()

        await outcome(host, "sleep", {"seconds": 30}, progressed)
    await host.eventually(is_noticed)
    return {"isOver": scope.cancelled_caught, "cancelled": await cancelled()}


async def resources(host: Host):
    async def read(uri: str) -> dict:
        return await answered(host.peer.read(uri))

    return {
        "list": await every(host, "resources"),
        "templates": await every(host, "resource_templates"),
        "text": await read(MOTD),
        "binary": await read("peer://logo"),
        "template": await read("peer://knots/hitch"),
    }


async def not_found(host: Host):
    return await answered(host.peer.read("peer://nothing"))


async def follow(host: Host) -> dict:
    """Changes the resource and the list of tools."""
    since = len(host.heard)
    await outcome(host, "touch", {"uri": MOTD})
    updated = await host.hears(UPDATED, 1, since)
    await outcome(host, "learn", {"name": "splice"})
    lists = await host.hears(LISTED, 1, since)
    return {"updated": [str(it["uri"]) for it in updated], "list": len(lists) > 0}


async def changes(host: Host):
    if host.is_modern:
        async with host.peer.method("listen")(tools_list_changed=True, resource_subscriptions=[MOTD]):
            seen = await follow(host)
    else:
        await host.peer.method("subscribe_resource")(MOTD)
        seen = await follow(host)
        await host.peer.method("unsubscribe_resource")(MOTD)
        seen["after"] = await updates_afterwards(host)
    return seen | {"learned": any(tool["name"] == "splice" for tool in await named(host, "tools"))}


async def updates_afterwards(host: Host) -> list[str]:
    # Only where the end of a subscription has an answer: the end of a stream can be overtaken.
    before = len(host.heard)
    await outcome(host, "touch", {"uri": MOTD})
    return [str(it["uri"]) for it in await host.hears(UPDATED, 0, before)]


async def prompts(host: Host):
    async def get(name: str, arguments: dict | None = None) -> dict:
        return await answered(host.peer.client.get_prompt(host.prefix + name, arguments))

    return {
        # Servers differ in when they forget a prompt that was learned.
        "list": [prompt for prompt in await named(host, "prompts") if prompt["name"] != "splice"],
        "plain": await get("illustrate"),
        "arguments": await get("introduce", {"name": "Ada", "tone": "formally"}),
        "unknown": await get("untie"),
    }


async def completion(host: Host):
    prompt = PromptReference(type="ref/prompt", name=f"{host.prefix}introduce")
    template = ResourceTemplateReference(type="ref/resource", uri="peer://knots/{name}")
    complete = host.peer.complete
    return {
        "prompt": await complete(prompt, {"name": "name", "value": "A"}),
        "template": await complete(template, {"name": "name", "value": "b"}),
        "context": await complete(prompt, {"name": "tone", "value": ""}, {"name": "Ada"}),
    }


#: The features in order, and the methods that an SDK needs for them.
FEATURES = [
    (server, []),
    (tools, []),
    (structured, []),
    (content, []),
    (failure, []),
    (wrong_arguments, []),
    (unknown_tool, []),
    (progress, []),
    (accepted, []),
    (declined, []),
    (page, []),
    (page_first, []),
    (sampling, []),
    (sampling_tools, []),
    (logging, ["set_logging_level"]),
    (roots, []),
    (roots_change, ["send_roots_list_changed"]),
    (caching, []),
    (ping, ["ping"]),
    (cancellation, []),
    (resources, []),
    (not_found, []),
    (changes, ["listen", "subscribe_resource"]),
    (prompts, []),
    (completion, ["complete"]),
    # The last one: a call that is parked keeps its server to itself until it expires.
    (sampling_refused, []),
]
