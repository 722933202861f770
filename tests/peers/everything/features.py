"""Every feature of a client, used once; `features.mjs` is the same for TypeScript."""

import base64
import json

import anyio
import jsonschema
from mcp.client.subscriptions import ListenNotSupportedError
from mcp_types import PromptReference, ResourceTemplateReference
from world import PATIENCE, ROOT, UPDATED, World, answer_with, coded, refused

LOG_LEVEL = "io.modelcontextprotocol/logLevel"
COMPLETE = "notifications/elicitation/complete"
WATCHED = "test://watched-resource"
CONTENT = ["simple_text", "image_content", "audio_content", "embedded_resource", "resource_link", "multiple_content_types"]
CHANGES = {
    "tools": "test_trigger_tool_change",
    "prompts": "test_trigger_prompt_change",
    "resources": "interop_change_resources",
}
WRITTEN = {"untitledMulti": "option2, option3", "titledMulti": "value3"}


async def server(world: World):
    client = world.peer.client
    return {"name": client.server_info.name, "instructions": client.instructions}


async def every(world: World, kind: str) -> list:
    """All items of a list, page by page."""
    items, cursor = [], None
    while True:
        page = await world.peer.page(kind, cursor)
        items += getattr(page, kind)
        cursor = page.next_cursor
        if cursor is None:
            return items


async def tools(world: World):
    listed = await every(world, "tools")
    for schema in [schema for tool in listed for schema in (tool.input_schema, tool.output_schema or {})]:
        jsonschema.Draft202012Validator.check_schema(schema)
    return [tool.name for tool in listed]


async def content(world: World):
    return {name: [block.type for block in (await world.call(f"test_{name}")).content] for name in CONTENT}


async def tool_failure(world: World):
    return await world.say("test_error_handling")


async def structured_content(world: World):
    numbers, seen = await world.call("interop_numbers"), await world.call("interop_seen")
    return {"list": numbers.structured_content, "object": seen.structured_content}


async def arguments_checked(world: World):
    tool = "json_schema_2020_12_tool"
    return {
        "good": await world.say(tool, {"contactMethod": "phone", "phone": "1815"}),
        "bad": await world.say(tool, {"contactMethod": "phone", "email": "ada@example.com"}),
    }


async def resources(world: World):
    return [str(it.uri) for it in await every(world, "resources")]


async def templates(world: World):
    return [it.uri_template for it in await every(world, "resource_templates")]


async def reading(world: World):
    async def read(uri: str):
        return (await world.peer.read(uri)).contents[0]

    text, binary = await read("test://static-text"), await read("test://static-binary")
    one = await read("test://template/123/data")
    return {
        "text": [text.mime_type, text.text],
        "binary": [binary.mime_type, base64.b64decode(binary.blob)[1:4].decode()],
        "template": [str(one.uri), json.loads(one.text)["id"]],
    }


async def not_found(world: World):
    return await coded(world.peer.read("test://nothing"))


async def prompts(world: World):
    return [it.name for it in await every(world, "prompts")]


async def prompting(world: World):
    def shown(block) -> str:
        return {"text": lambda: block.text, "resource": lambda: str(block.resource.uri)}.get(
            block.type, lambda: block.mime_type
        )()

    async def get(name: str, arguments: dict | None = None) -> list[str]:
        result = await world.peer.client.get_prompt(name, arguments)
        return [shown(message.content) for message in result.messages]

    async def ask() -> None:
        seen["asking"] = await get("test_input_required_result_prompt")

    seen = {
        "simple": await get("test_simple_prompt"),
        "arguments": await get("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"}),
        "resource": await get("test_prompt_with_embedded_resource", {"resourceUri": "test://example-resource"}),
        "image": await get("test_prompt_with_image"),
    }
    world.user = answer_with({"action": "accept", "content": {"context": "knots"}})
    asking = await refused(ask())
    return {"asking": asking} | seen


async def no_prompt(world: World):
    return await coded(world.peer.client.get_prompt("nothing"))


async def completion(world: World):
    prompt = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    template = ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data")
    complete = world.peer.complete
    return {
        "prompt": await complete(prompt, {"name": "arg1", "value": "Pa"}),
        "template": await complete(template, {"name": "id", "value": "12"}),
        "context": await complete(prompt, {"name": "arg2", "value": "a"}, {"arg1": "Paris"}),
    }


async def logged(world: World, **options):
    since = len(world.heard)
    await world.call("test_logging_tool", **options)
    await world.settle()
    return [message["level"] for message in await world.hears("notifications/message", 0, since)]


async def log_level_of_request(world: World):
    return await logged(world, meta={LOG_LEVEL: "warning"})


async def log_level_of_session(world: World):
    setting = await refused(world.peer.method("set_logging_level")("error"))
    return setting if setting["refused"] else await logged(world)


async def progress(world: World):
    seen = []

    async def progressed(done: float, total: float | None, message: str | None) -> None:
        seen.append([int(done), int(total), message])

    await world.call("test_tool_with_progress", progress=progressed)
    return seen


async def cancellation(world: World):
    async def cancelled() -> int:
        return json.loads(await world.say("interop_seen"))["cancelled"]

    async def is_noticed() -> bool:
        return await cancelled() > 0

    with anyio.CancelScope() as scope:

        async def progressed(*_) -> None:
            scope.cancel()

        await world.call("interop_wait", progress=progressed)
    await world.eventually(is_noticed)
    return {"refused": scope.cancelled_caught, "cancelled": await cancelled()}


async def sampling(world: World):
    answer = await world.say("test_sampling", {"prompt": "What is six times seven?"})
    question = world.asked[-1]
    return {"answer": answer, "question": question["messages"][0]["content"]["text"], "maxTokens": question["maxTokens"]}


async def sampling_with_tools(world: World):
    return await world.say("interop_sample_with_tools")


async def roots(world: World):
    return await world.say("interop_list_roots")


async def roots_change(world: World):
    async def noticed() -> list[str] | None:
        return json.loads(await world.say("interop_seen"))["roots"]

    async def is_noticed() -> bool:
        return await noticed() is not None

    world.roots = [f"{ROOT}/other"]
    telling = await refused(world.peer.method("send_roots_list_changed")())
    if telling["refused"]:
        return telling
    if not world.is_modern:
        await world.eventually(is_noticed)
    return await noticed()


async def answering(world: World, answer: dict, tool: str, arguments: dict | None = None):
    world.user = answer_with(answer)
    return await world.say(tool, arguments)


async def form(world: World):
    async def ask(answer: dict):
        return await answering(world, answer, "test_elicitation", {"message": "Who are you?"})

    filled = {"username": "ada", "email": "ada@example.com"}
    return {
        "accepted": await ask({"action": "accept", "content": filled}),
        "declined": await ask({"action": "decline"}),
        "cancelled": await ask({"action": "cancel"}),
    }


async def form_defaults(world: World):
    return await answering(world, {"action": "accept", "content": {}}, "test_elicitation_sep1034_defaults")


async def form_choices(world: World):
    """Chooses the last option of each field. Several of them can only be written in older revisions."""

    def options(field: dict) -> list[str]:
        return field.get("enum") or [option["const"] for option in field.get("oneOf") or field.get("anyOf") or []]

    def choose(name: str, field: dict):
        if "items" in field:
            return [options(field["items"])[-1]]
        return options(field)[-1] if options(field) else WRITTEN[name]

    async def user(params: dict) -> dict:
        fields = params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: choose(name, field) for name, field in fields.items()}}

    world.user = user
    return await world.say("test_elicitation_sep1330_enums")


def pages(asked: list[dict], completed: list[dict]) -> list[dict]:
    """The pages that the user was sent to, and whether the server said which of them are done."""
    done = [notice["elicitationId"] for notice in completed]
    return [
        {"url": page["url"], "isDone": page["elicitationId"] in done if page.get("elicitationId") else None}
        for page in asked
    ]


async def page(world: World):
    since, before = len(world.asked), len(world.heard)
    agreed = await answering(world, {"action": "accept"}, "interop_ask_url")
    asked = world.asked[since:]
    completed = await world.hears(COMPLETE, len([it for it in asked if it.get("elicitationId")]), before)
    declined = await answering(world, {"action": "decline"}, "interop_ask_url")
    return {"agreed": agreed, "declined": declined, "pages": pages(asked, completed)}


async def page_required(world: World):
    async def user(params: dict) -> dict:
        await world.call("interop_visit_pages")
        return {"action": "accept"}

    before = len(world.heard)
    world.user = user
    answer = await world.call("interop_require_url")
    if not isinstance(answer, dict):
        return {"isError": True} if answer.is_error else {"said": answer.content[0].text}
    await world.call("interop_visit_pages")
    completed = await world.hears(COMPLETE, 1, before)
    visited = pages(answer["data"]["elicitations"], completed)
    return {"code": answer["code"], "pages": visited, "said": await world.say("interop_require_url")}


async def several_rounds(world: World):
    async def user(params: dict) -> dict:
        has_color = "color" in params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {"color": "red"} if has_color else {"name": "Ada"}}

    world.user = user
    return {
        "oneByOne": await world.say("test_input_required_result_multi_round"),
        "together": await world.say("test_input_required_result_multiple_inputs"),
        "keyed": await world.say("test_input_required_result_elicitation"),
    }


async def changes(world: World, least: int) -> list[str]:
    """Which of the lists are heard to change."""
    since, heard = len(world.heard), []
    for kind, tool in CHANGES.items():
        await world.call(tool)
        await world.settle()
        if await world.hears(f"notifications/{kind}/list_changed", least, since):
            heard.append(kind)
    return heard


async def list_changes(world: World):
    # In a session they are told unasked.
    return await changes(world, 0 if world.is_modern else 1)


async def updates(world: World, least: int) -> list[str]:
    since = len(world.heard)
    await world.call("interop_update_resource")
    await world.settle()
    return [str(notice["uri"]) for notice in await world.hears(UPDATED, least, since)]


async def subscription(world: World):
    subscribing = await refused(world.peer.method("subscribe_resource")(WATCHED))
    if subscribing["refused"]:
        return subscribing
    during = await updates(world, 1)
    await world.peer.method("unsubscribe_resource")(WATCHED)
    return {"during": during, "after": await updates(world, 0)}


async def listening(world: World):
    listen = world.peer.method("listen")
    seen = {}

    async def follow() -> None:
        lists = {f"{kind}_list_changed": True for kind in CHANGES}
        async with listen(**lists, resource_subscriptions=[WATCHED]) as stream:
            seen.update(lists=await changes(world, 1), during=await updates(world, 1))
            # What the message handler heard is in the stream as well, once each.
            with anyio.fail_after(PATIENCE):
                for _ in range(len(CHANGES) + 1):
                    await anext(stream)

    try:
        await follow()
    except ListenNotSupportedError:
        return {"refused": True}
    await world.settle()
    return seen | {"after": await updates(world, 0)}


async def ping(world: World):
    return await refused(world.peer.method("ping")())


#: The features in order, and the methods that an SDK needs for them.
FEATURES = [
    (server, []),
    (tools, []),
    (content, []),
    (tool_failure, []),
    (structured_content, []),
    (arguments_checked, []),
    (resources, []),
    (templates, []),
    (reading, []),
    (not_found, []),
    (prompts, []),
    (prompting, []),
    (no_prompt, []),
    (completion, ["complete"]),
    (log_level_of_request, []),
    (log_level_of_session, ["set_logging_level"]),
    (progress, []),
    (cancellation, []),
    (sampling, []),
    (sampling_with_tools, []),
    (roots, []),
    (roots_change, ["send_roots_list_changed"]),
    (form, []),
    (form_defaults, []),
    (form_choices, []),
    (page, []),
    (page_required, []),
    (several_rounds, []),
    (list_changes, []),
    (subscription, ["subscribe_resource", "unsubscribe_resource"]),
    (listening, ["listen"]),
    (ping, ["ping"]),
]
