"""The two Python clients, the official SDK's and FastMCP's, behind one set of methods."""

import json
from argparse import Namespace

import mcp.client.session
from fastmcp import Client as FastClient
from fastmcp.client.elicitation import ElicitResult as FastElicitResult
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    Implementation,
    ListRootsResult,
    Root,
    SamplingCapability,
    SamplingToolsCapability,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

INFO = Implementation(name="bowline-peer", version="1.0.0")
SAMPLING = SamplingCapability(tools=SamplingToolsCapability())


def negotiation(revision: str) -> str:
    """The settings with which a client speaks a revision."""
    if revision in MODERN_PROTOCOL_VERSIONS:
        return "auto"
    # The handshake always offers the newest revision; there is no option for an older one.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = revision
    return "legacy"


class McpPeer:
    """The official SDK's client."""

    name = "mcp"
    NAMES = {"ping": "send_ping"}

    def __init__(self, host, options: Namespace) -> None:
        self.host = host
        self.client = Client(
            self.way_to(options),
            mode=negotiation(options.revision),
            client_info=INFO,
            sampling_callback=self.sampled,
            sampling_capabilities=SAMPLING,
            elicitation_callback=self.elicited,
            list_roots_callback=self.rooted,
            message_handler=host.received,
        )

    @staticmethod
    def way_to(server: Namespace):
        """The client's parameter for a URL or a command."""
        if server.url:
            return server.url
        if server.sse:
            return sse_client(server.sse)
        return StdioServerParameters(command=server.command[0], args=server.command[1:])

    def method(self, name: str):
        """Returns a method of the client, or `None` if it has none of that name."""
        return getattr(self.client, self.NAMES.get(name, name), None)

    async def call(self, name, arguments, progress=None, meta=None):
        return await self.client.call_tool(name, arguments, progress_callback=progress, meta=meta)

    async def page(self, kind, cursor):
        return await getattr(self.client, f"list_{kind}")(cursor=cursor)

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def complete(self, ref, argument, context=None):
        return (await self.client.complete(ref, argument, context)).completion.values

    async def elicited(self, context, params):
        return ElicitResult(**await self.host.elicited(dump(params)))

    async def sampled(self, context, params):
        try:
            return sampled(self.host, params)
        except MCPError as refusal:
            return refusal.error

    async def rooted(self, context):
        return ListRootsResult(roots=[Root(uri=uri) for uri in self.host.roots])


class FastMcpPeer(McpPeer):
    """FastMCP's client, which wraps the official SDK and hides much of it."""

    name = "fastmcp"
    NAMES = {}

    def __init__(self, host, options: Namespace) -> None:
        self.host = host
        self.client = FastClient(
            self.way_to(options),
            mode=negotiation(options.revision),
            client_info=INFO,
            roots=lambda context: self.host.roots,
            sampling_handler=lambda messages, params, context: sampled(self.host, params),
            sampling_capabilities=SAMPLING,
            elicitation_handler=self.asked,
            message_handler=host.received,
        )

    @staticmethod
    def way_to(server: Namespace):
        if server.url:
            return StreamableHttpTransport(server.url)
        if server.sse:
            return SSETransport(server.sse)
        return StdioTransport(command=server.command[0], args=server.command[1:], keep_alive=False)

    async def call(self, name, arguments, progress=None, meta=None):
        return await self.client.call_tool_mcp(name, arguments, progress_handler=progress, meta=meta)

    async def page(self, kind, cursor):
        return await getattr(self.client, f"list_{kind}_mcp")(cursor=cursor)

    async def read(self, uri):
        return await self.client.read_resource_mcp(uri)

    async def complete(self, ref, argument, context=None):
        return (await self.client.complete(ref, argument, context)).values

    async def asked(self, message, response_type, params, context):
        return FastElicitResult(**await self.host.elicited(dump(params)))


def sampled(host, params):
    host.asked.append(dump(params))
    answer = host.model(host.asked[-1])
    many = isinstance(answer["content"], list)
    return (CreateMessageResultWithTools if many else CreateMessageResult).model_validate(answer)


def dump(model) -> dict:
    return json.loads(model.model_dump_json(by_alias=True, exclude_none=True))
