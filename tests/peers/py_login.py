"""The Python SDK logs in to a protected server with its own OAuth client, and calls tools without arguments.

usage: .venv/bin/python py_login.py [--era legacy|modern] [--document URL] URL TOOL...

With a metadata document, its URL is the client id; without, the client registers itself. Prints what it
saw as JSON.
"""

import argparse
import json
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

MODES = {"legacy": "legacy", "modern": "2026-07-28"}
REDIRECT = "http://127.0.0.1:4000/callback"
MOST_REDIRECTS = 10


class Saved:
    """What the SDK keeps of a login."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class User:
    """The user and the browser: signs in by following redirects with their cookies."""

    def __init__(self) -> None:
        self.logins: list[dict[str, str | None]] = []
        self.answer: dict[str, list[str]] = {}

    async def visit(self, page: str) -> None:
        asked = parse_qs(urlsplit(page).query)
        self.logins.append({key: asked.get(key, [None])[0] for key in ("scope", "resource")})
        async with httpx2.AsyncClient() as browser:
            for _ in range(MOST_REDIRECTS):
                answer = await browser.get(page)
                if "location" not in answer.headers:
                    raise RuntimeError(f"the page answers {answer.status_code}: {answer.text}")
                page = str(answer.url.join(answer.headers["location"]))
                if page.startswith(REDIRECT):
                    self.answer = parse_qs(urlsplit(page).query)
                    return
        raise RuntimeError("too many redirects")

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**{key: self.answer[key][0] for key in ("code", "state", "iss") if key in self.answer})


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=MODES, default="modern")
    parser.add_argument("--document")
    parser.add_argument("url")
    parser.add_argument("tools", nargs="+")
    options = parser.parse_args()
    saved, user = Saved(), User()
    metadata = OAuthClientMetadata(
        client_name="py-login",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",
    )
    login = OAuthClientProvider(options.url, metadata, saved, user.visit, user.come_back, options.document)
    async with httpx2.AsyncClient(auth=login) as http:
        transport = streamable_http_client(options.url, http_client=http)
        async with Client(transport, mode=MODES[options.era]) as client:
            report = {"logins": user.logins, "revision": client.protocol_version, "tools": {}}
            for name in options.tools:
                outcome = await client.call_tool(name, {})
                report["tools"][name] = outcome.content[0].text
    report |= {"client": saved.client.client_id, "scope": saved.tokens.scope}
    print(json.dumps(report))


if __name__ == "__main__":
    anyio.run(main)
