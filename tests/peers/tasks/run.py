"""Tasks of 2026-07-28 with the Python SDK.

The SDK has no tasks of its own. An extension claims a type of result and says how to come from it to
the result of the tool; here it polls.

usage: python run.py --revision 2026-07-28 (--url http://... | -- command [arguments])
"""

import argparse
import json
import sys
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import CallToolResult, ElicitResult

TASKS = "io.modelcontextprotocol/tasks"
SCENARIO_TIMEOUT = 60
POLL = 0.1


class Params(types.RequestParams):
    """Params of a method that names a task."""

    task_id: str
    input_responses: dict[str, Any] | None = None


class TaskMethod(types.Request[Params, str]):
    """A request for a task; a proxy finds the id in a header."""

    name_param = "taskId"


class CreatedTask(types.Result):
    """The answer to a call that became a task."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class TaskState(types.Result):
    """A task of 2026-07-28, and the answers to `tasks/update` and `tasks/cancel`, which are empty."""

    status: str | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


async def elicited(context, params) -> ElicitResult:
    return ElicitResult(action="accept", content={"confirm": True})


class Tasks(ClientExtension):
    """Waits for the tasks of 2026-07-28."""

    identifier = TASKS
    cancels = False

    def __init__(self) -> None:
        self.states: list[str] = []

    def claims(self):
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self.resolve)]

    async def resolve(self, created: CreatedTask, context: ClaimContext) -> CallToolResult:
        task = TaskState(status=created.status)
        ask = lambda method, **params: context.session.send_request(
            TaskMethod(method=method, params=Params(task_id=created.task_id, **params)), TaskState
        )
        while True:
            self.states.append(task.status)
            match task.status:
                case "completed":
                    return CallToolResult.model_validate(task.result)
                case "failed":
                    raise MCPError(task.error["code"], task.error["message"])
                case "cancelled":
                    raise MCPError(-32603, "cancelled")
                case "input_required":
                    answer = {"action": "accept", "content": {"confirm": True}}
                    await ask("tasks/update", input_responses={key: answer for key in task.input_requests})
                case "working" if self.cancels:
                    await ask("tasks/cancel")
            await anyio.sleep(POLL)
            task = await ask("tasks/get")


async def call(client: Client, tasks: Tasks, name: str, arguments: dict) -> dict:
    tasks.states.clear()
    try:
        result = await client.call_tool(name, arguments)
        text = "".join(block.text for block in result.content)
        end: dict = {"text": text, "isError": bool(result.is_error)}
    except MCPError as error:
        end = {"code": error.code}
    states = [state for at, state in enumerate(tasks.states) if at == 0 or state != tasks.states[at - 1]]
    return {"states": states, "end": end}


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--revision", required=True)
    parser.add_argument("--url")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    server: Any = options.url
    if server is None:
        server = StdioServerParameters(command=options.command[0], args=options.command[1:])
    tasks = Tasks()
    with anyio.fail_after(SCENARIO_TIMEOUT):
        async with Client(server, mode=options.revision, elicitation_callback=elicited, extensions=[tasks]) as client:
            report: dict[str, Any] = {"peer": "mcp", "protocolVersion": client.protocol_version}
            report["compute"] = await call(client, tasks, "slow_compute", {"seconds": 1, "label": "knots"})
            report["question"] = await call(client, tasks, "confirm_delete", {"filename": "old.txt"})
            report["toolError"] = await call(client, tasks, "failing_job", {})
            report["protocolError"] = await call(client, tasks, "protocol_error_job", {})
            tasks.cancels = True
            report["cancelled"] = (await call(client, tasks, "slow_compute", {"seconds": 30}))["states"]
            report["listed"] = None
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
