"""A server written with FastMCP that serves both eras to callers with a token. Prints its URL.

usage: .venv/bin/python fastmcp_protected.py [--issuer URL]

With an issuer, tokens are JWTs of that authorization server, for this server, with the scope `mcp`; the
tool `purge` also wants `admin`. Without one, the server is its own authorization server, with the
provider that FastMCP has for tests, which approves every login.
"""

import argparse
import socket

import anyio
import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider, require_scopes
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth.settings import ClientRegistrationOptions

SCOPES = ["mcp"]


def protection(origin: str, issuer: str | None) -> RemoteAuthProvider | InMemoryOAuthProvider:
    if issuer is None:
        registration = ClientRegistrationOptions(
            enabled=True, valid_scopes=[*SCOPES, "admin"], default_scopes=SCOPES
        )
        return InMemoryOAuthProvider(
            base_url=origin, client_registration_options=registration, required_scopes=SCOPES
        )
    verifier = JWTVerifier(
        jwks_uri=f"{issuer}/jwks",
        issuer=issuer,
        audience=f"{origin}/mcp",
        algorithm="ES256",
        required_scopes=SCOPES,
    )
    return RemoteAuthProvider(verifier, [issuer], base_url=origin)


def peer(origin: str, issuer: str | None) -> FastMCP:
    server = FastMCP("fastmcp-protected", version="1.0.0", auth=protection(origin, issuer))

    @server.tool(output_schema=None)
    def whoami() -> str:
        token = get_access_token()
        return token.claims.get("sub") or token.client_id

    @server.tool(output_schema=None, auth=require_scopes("admin"))
    def purge() -> str:
        return "gone"

    return server


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--issuer")
    issuer = parser.parse_args().issuer
    listener = socket.create_server(("127.0.0.1", 0))
    # asyncio sets this only on its own sockets; without it every response takes 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = peer(origin, issuer).http_app()
    print(f"{origin}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="critical")).serve(sockets=[listener])


if __name__ == "__main__":
    anyio.run(main)
