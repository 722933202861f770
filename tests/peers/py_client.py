"""The scenario run by the Python SDK, in either era.

usage: .venv/bin/python py_client.py [--era legacy|modern|auto] [--revision 2025-06-18] -- command [arguments]

The report has the shape that `scenario.mjs` gives it. `legacy` only shakes hands, offering
`--revision`; `auto` (the SDK's default) asks `server/discover` first and falls back to
`initialize`; `modern` is `auto` without accepting the fallback.
"""

import argparse
import json
import signal
import sys
import time
import traceback

import anyio
import jsonschema
import mcp.client.session
from everything.processes import capture_processes
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult, Implementation
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

MESSAGE = 'Grüße, 世界 🪢\nsecond line\ttab "quotes" \\ \u2028 end'
STEP_TIMEOUT = 10
SCENARIO_TIMEOUT = 60


class Scenario:
    """The steps, and their reports."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.report = {"peer": "mcp", "oddities": [], "lateProgress": 0}
        self.step = "connect"
        self.answer: ElicitResult | None = None
        self.questions: list[dict] = []
        self.required_era = options.era
        self.client = Client(
            StdioServerParameters(command=options.command[0], args=options.command[1:]),
            mode="legacy" if options.era == "legacy" else "auto",
            client_info=Implementation(name="bowline-peer", version="1.0.0"),
            read_timeout_seconds=STEP_TIMEOUT,
            elicitation_callback=self.elicited,
            message_handler=self.received,
        )

    async def run(self) -> None:
        processes = capture_processes()
        async with self.client:
            self.connected()
            for name, step in [
                ("tools", self.list_tools),
                ("echo", self.echo),
                ("add", lambda: self.outcome("add", {"a": 2, "b": 40})),
                ("addWrongTypes", lambda: self.outcome("add", {"a": "two", "b": True})),
                ("unknownTool", lambda: self.outcome("no-such-tool", {})),
                ("progress", self.progress),
                ("cancellation", self.cancellation),
                ("greetAccepted", lambda: self.greet(ElicitResult(action="accept", content={"name": "Ada"}))),
                ("greetDeclined", lambda: self.greet(ElicitResult(action="decline"))),
                ("ping", self.ping),
            ]:
                self.step = name
                self.report[name] = await step()
            self.step = "close"
            started = time.monotonic()
        (process,) = processes
        self.report["exit"] = {
            "code": process.returncode if process.returncode >= 0 else None,
            "signal": signal.Signals(-process.returncode).name if process.returncode < 0 else None,
            "milliseconds": milliseconds_since(started),
        }

    def connected(self) -> None:
        self.report |= {
            "era": "modern" if self.client.protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy",
            "protocolVersion": self.client.protocol_version,
            "serverInfo": dump(self.client.server_info),
            "capabilities": dump(self.client.server_capabilities),
            "instructions": self.client.instructions,
        }
        if self.required_era == "modern" and self.report["era"] != "modern":
            raise RuntimeError("the server does not speak a modern revision")

    async def list_tools(self) -> list[dict]:
        listed = await self.client.list_tools()
        return [
            {
                "name": tool.name,
                "inputSchema": checked(tool.input_schema),
                "outputSchema": None if tool.output_schema is None else checked(tool.output_schema),
            }
            for tool in listed.tools
        ]

    async def echo(self) -> dict:
        text = (await self.call("echo", {"message": MESSAGE}))["text"]
        return {"text": text, "unchanged": text == MESSAGE}

    async def progress(self) -> dict:
        values: list[float] = []

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            values.append(progress)

        text = (await self.call("sleep", {"seconds": 0.5}, progressed))["text"]
        increasing = all(earlier < later for earlier, later in zip(values, values[1:]))
        return {"text": text, "values": values, "increasing": increasing}

    async def cancellation(self) -> dict:
        started = time.monotonic()
        with anyio.CancelScope() as scope:

            async def progressed(progress: float, total: float | None, message: str | None) -> None:
                scope.cancel()

            ended = await self.outcome("sleep", {"seconds": 30}, progressed)
        if scope.cancelled_caught:
            ended = {"error": {"name": "Cancelled", "code": None, "message": "the call was cancelled"}}
        milliseconds = milliseconds_since(started)
        echo_afterwards = (await self.call("echo", {"message": "still here"}))["text"]
        return {
            "aborted": scope.cancel_called,
            "ended": ended,
            "milliseconds": milliseconds,
            "echoAfterwards": echo_afterwards,
        }

    async def greet(self, answer: ElicitResult) -> dict:
        self.answer, self.questions = answer, []
        return {**await self.outcome("greet", {}), "questions": self.questions}

    async def ping(self) -> bool | None:
        if self.report["era"] == "modern":
            return None
        await self.client.session.send_ping()
        return True

    async def call(self, name: str, arguments: dict, progressed=None) -> dict:
        result = await self.client.call_tool(name, arguments, progress_callback=progressed)
        return {
            "text": "".join(getattr(block, "text", f"<{block.type}>") for block in result.content),
            "structuredContent": result.structured_content,
            "isError": result.is_error,
        }

    async def outcome(self, name: str, arguments: dict, progressed=None) -> dict:
        try:
            return {"result": await self.call(name, arguments, progressed)}
        except MCPError as error:
            return {"error": {"name": type(error).__name__, "code": error.code, "message": error.message}}

    async def elicited(self, context, params) -> ElicitResult:
        self.questions.append(dump(params))
        return self.answer

    async def received(self, message) -> None:
        if isinstance(message, Exception):
            self.report["oddities"].append(str(message))


def dump(model) -> dict | None:
    return None if model is None else model.model_dump(mode="json", by_alias=True, exclude_none=True)


def checked(schema: dict) -> str:
    try:
        jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator).check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"invalid: {error.message}"
    return "valid"


def milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern", "auto"], default="auto")
    parser.add_argument("--revision")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


async def main() -> int:
    options = command_line()
    if options.revision is not None:
        # The handshake always offers the newest revision; there is no option for an older one.
        mcp.client.session.LATEST_HANDSHAKE_VERSION = options.revision
    scenario = Scenario(options)
    try:
        with anyio.fail_after(SCENARIO_TIMEOUT):
            await scenario.run()
    except Exception:
        traceback.print_exc()
        print(f'step "{scenario.step}" failed; seen so far: {json.dumps(scenario.report)}', file=sys.stderr)
        return 1
    print(json.dumps(scenario.report, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
