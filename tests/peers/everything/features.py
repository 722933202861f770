"""Every feature of a client, used once; `features.mjs` is the same for TypeScript."""

import base64
import json

import anyio
import jsonschema
from mcp.client.subscriptions import ListenNotSupportedError
from mcp_types import PromptReference, ResourceTemplateReference
from host import PATIENCE, ROOT, UPDATED, Host, answer_with, coded, refused

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


async def server(host: Host):
    client = host.peer.client
    return {"name": client.server_info.name, "instructions": client.instructions}


async def every(host: Host, kind: str) -> list:
    """Reads all pages of a list."""
    items, cursor = [], None
    while True:
        page = await host.peer.page(kind, cursor)
        items += getattr(page, kind)
        cursor = page.next_cursor
        if cursor is None:
            return items


async def tools(host: Host):
    listed = await every(host, "tools")
    for schema in [schema for tool in listed for schema in (tool.input_schema, tool.output_schema or {})]:
        jsonschema.Draft202012Validator.check_schema(schema)
    return [tool.name for tool in listed]


async def content(host: Host):
    return {name: [block.type for block in (await host.call(f"test_{name}")).content] for name in CONTENT}


async def tool_failure(host: Host):
    return await host.say("test_error_handling")


async def structured_content(host: Host):
    numbers, seen = await host.call("interop_numbers"), await host.call("interop_seen")
    return {"list": numbers.structured_content, "object": seen.structured_content}


async def arguments_checked(host: Host):
    tool = "json_schema_2020_12_tool"
    return {
        "good": await host.say(tool, {"contactMethod": "phone", "phone": "1815"}),
        "bad": await host.say(tool, {"contactMethod": "phone", "email": "ada@example.com"}),
    }


async def resources(host: Host):
    return [str(it.uri) for it in await every(host, "resources")]


async def templates(host: Host):
    return [it.uri_template for it in await every(host, "resource_templates")]


async def reading(host: Host):
    async def read(uri: str):
        return (await host.peer.read(uri)).contents[0]

    text, binary = await read("test://static-text"), await read("test://static-binary")
    one = await read("test://template/123/data")
    return {
        "text": [text.mime_type, text.text],
        "binary": [binary.mime_type, base64.b64decode(binary.blob)[1:4].decode()],
        "template": [str(one.uri), json.loads(one.text)["id"]],
    }


async def not_found(host: Host):
    return await coded(host.peer.read("test://nothing"))


async def prompts(host: Host):
    return [it.name for it in await every(host, "prompts")]


async def prompting(host: Host):
    def shown(block) -> str:
        return {"text": lambda: block.text, "resource": lambda: str(block.resource.uri)}.get(
            block.type, lambda: block.mime_type
        )()

    async def get(name: str, arguments: dict | None = None) -> list[str]:
        result = await host.peer.client.get_prompt(name, arguments)
        return [shown(message.content) for message in result.messages]

    async def ask() -> None:
        seen["asking"] = await get("test_input_required_result_prompt")

    seen = {
        "simple": await get("test_simple_prompt"),
        "arguments": await get("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"}),
        "resource": await get("test_prompt_with_embedded_resource", {"resourceUri": "test://example-resource"}),
        "image": await get("test_prompt_with_image"),
    }
    host.user = answer_with({"action": "accept", "content": {"context": "knots"}})
    asking = await refused(ask())
    return {"asking": asking} | seen


async def no_prompt(host: Host):
    return await coded(host.peer.client.get_prompt("nothing"))


async def completion(host: Host):
    prompt = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    template = ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data")
    complete = host.peer.complete
    return {
        "prompt": await complete(prompt, {"name": "arg1", "value": "Pa"}),
        "template": await complete(template, {"name": "id", "value": "12"}),
        "context": await complete(prompt, {"name": "arg2", "value": "a"}, {"arg1": "Paris"}),
    }


async def logged(host: Host, **options):
    since = len(host.heard)
    await host.call("test_logging_tool", **options)
    await host.settle()
    return [message["level"] for message in await host.hears("notifications/message", 0, since)]


async def log_level_of_request(host: Host):
    return await logged(host, meta={LOG_LEVEL: "warning"})


async def log_level_of_session(host: Host):
    setting = await refused(host.peer.method("set_logging_level")("error"))
    return setting if setting["refused"] else await logged(host)


async def progress(host: Host):
    seen = []

    async def progressed(done: float, total: float | None, message: str | None) -> None:
        seen.append([int(done), int(total), message])

    await host.call("test_tool_with_progress", progress=progressed)
    return seen


async def cancellation(host: Host):
    async def cancelled() -> int:
        return json.loads(await host.say("interop_seen"))["cancelled"]

    async def is_noticed() -> bool:
        return await cancelled() > 0

    with anyio.CancelScope() as scope:

        async def progressed(*_) -> None:
            scope.cancel()

        await host.call("interop_wait", progress=progressed)
    await host.eventually(is_noticed)
    return {"refused": scope.cancelled_caught, "cancelled": await cancelled()}


async def sampling(host: Host):
    answer = await host.say("test_sampling", {"prompt": "What is six times seven?"})
    question = host.asked[-1]
    return {"answer": answer, "question": question["messages"][0]["content"]["text"], "maxTokens": question["maxTokens"]}


async def sampling_with_tools(host: Host):
    return await host.say("interop_sample_with_tools")


async def roots(host: Host):
    return await host.say("interop_list_roots")


async def roots_change(host: Host):
    async def noticed() -> list[str] | None:
        return json.loads(await host.say("interop_seen"))["roots"]

    async def is_noticed() -> bool:
        return await noticed() is not None

    host.roots = [f"{ROOT}/other"]
    telling = await refused(host.peer.method("send_roots_list_changed")())
    if telling["refused"]:
        return telling
    if not host.is_modern:
        await host.eventually(is_noticed)
    return await noticed()


async def answering(host: Host, answer: dict, tool: str, arguments: dict | None = None):
    host.user = answer_with(answer)
    return await host.say(tool, arguments)


async def form(host: Host):
    async def ask(answer: dict):
        return await answering(host, answer, "test_elicitation", {"message": "Who are you?"})

    filled = {"username": "ada", "email": "ada@example.com"}
    return {
        "accepted": await ask({"action": "accept", "content": filled}),
        "declined": await ask({"action": "decline"}),
        "cancelled": await ask({"action": "cancel"}),
    }


async def form_defaults(host: Host):
    return await answering(host, {"action": "accept", "content": {}}, "test_elicitation_sep1034_defaults")


async def form_choices(host: Host):
    """Chooses the last option of each field. In older revisions a multiple choice is text."""

    def options(field: dict) -> list[str]:
        return field.get("enum") or [option["const"] for option in field.get("oneOf") or field.get("anyOf") or []]

    def choose(name: str, field: dict):
        if "items" in field:
            return [options(field["items"])[-1]]
        return options(field)[-1] if options(field) else WRITTEN[name]

    async def user(params: dict) -> dict:
        fields = params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: choose(name, field) for name, field in fields.items()}}

    host.user = user
    return await host.say("test_elicitation_sep1330_enums")


def pages(asked: list[dict], completed: list[dict]) -> list[dict]:
    """The URL elicitations, and whether the server announced their completion."""
    done = [notice["elicitationId"] for notice in completed]
    return [
        {"url": page["url"], "isDone": page["elicitationId"] in done if page.get("elicitationId") else None}
        for page in asked
    ]


async def page(host: Host):
    since, before = len(host.asked), len(host.heard)
    agreed = await answering(host, {"action": "accept"}, "interop_ask_url")
    asked = host.asked[since:]
    completed = await host.hears(COMPLETE, len([it for it in asked if it.get("elicitationId")]), before)
    declined = await answering(host, {"action": "decline"}, "interop_ask_url")
    return {"agreed": agreed, "declined": declined, "pages": pages(asked, completed)}


async def page_required(host: Host):
    async def user(params: dict) -> dict:
        await host.call("interop_visit_pages")
        return {"action": "accept"}

    before = len(host.heard)
    host.user = user
    answer = await host.call("interop_require_url")
    if not isinstance(answer, dict):
        return {"isError": True} if answer.is_error else {"said": answer.content[0].text}
    await host.call("interop_visit_pages")
    completed = await host.hears(COMPLETE, 1, before)
    visited = pages(answer["data"]["elicitations"], completed)
    return {"code": answer["code"], "pages": visited, "said": await host.say("interop_require_url")}


async def several_rounds(host: Host):
    async def user(params: dict) -> dict:
        has_color = "color" in params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {"color": "red"} if has_color else {"name": "Ada"}}

    host.user = user
    return {
        "oneByOne": await host.say("test_input_required_result_multi_round"),
        "together": await host.say("test_input_required_result_multiple_inputs"),
        "keyed": await host.say("test_input_required_result_elicitation"),
    }


async def changes(host: Host, least: int) -> list[str]:
    """The lists whose changes the client got."""
    since, heard = len(host.heard), []
    for kind, tool in CHANGES.items():
        await host.call(tool)
        await host.settle()
        if await host.hears(f"notifications/{kind}/list_changed", least, since):
            heard.append(kind)
    return heard


async def list_changes(host: Host):
    # In a session the server sends them without a subscription.
    return await changes(host, 0 if host.is_modern else 1)


async def updates(host: Host, least: int) -> list[str]:
    since = len(host.heard)
    await host.call("interop_update_resource")
    await host.settle()
    return [str(notice["uri"]) for notice in await host.hears(UPDATED, least, since)]


async def subscription(host: Host):
    subscribing = await refused(host.peer.method("subscribe_resource")(WATCHED))
    if subscribing["refused"]:
        return subscribing
    during = await updates(host, 1)
    await host.peer.method("unsubscribe_resource")(WATCHED)
    return {"during": during, "after": await updates(host, 0)}


async def listening(host: Host):
    listen = host.peer.method("listen")
    seen = {}

    async def follow() -> None:
        lists = {f"{kind}_list_changed": True for kind in CHANGES}
        async with listen(**lists, resource_subscriptions=[WATCHED]) as stream:
            seen.update(lists=await changes(host, 1), during=await updates(host, 1))
            # The stream has the notifications of the message handler too, once each.
            with anyio.fail_after(PATIENCE):
                for _ in range(len(CHANGES) + 1):
                    await anext(stream)

    try:
        await follow()
    except ListenNotSupportedError:
        return {"refused": True}
    await host.settle()
    return seen | {"after": await updates(host, 0)}


async def ping(host: Host):
    return await refused(host.peer.method("ping")())


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
