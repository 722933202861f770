"""Runs every feature of a Python client against the everything-server and prints a report.

usage: .venv/bin/python everything/run.py --sdk mcp|fastmcp --revision 2025-06-18
    [--features crossing [--prefix name__]] (--url http://... | --sse http://... | -- command [arguments])

The report has the shape that `run.mjs` gives it.
"""

import argparse
import importlib
import json
import sys
import warnings

import anyio
from mcp import MCPDeprecationWarning
from peers import FastMcpPeer, McpPeer
from host import Host
from processes import capture_processes

SCENARIO_TIMEOUT = 120
SDKS = {peer.name: peer for peer in (McpPeer, FastMcpPeer)}


async def run(options: argparse.Namespace) -> dict:
    host = Host()
    host.peer = SDKS[options.sdk](host, options)
    host.prefix = options.prefix
    features = importlib.import_module(options.features).FEATURES
    report = {"peer": options.sdk, "features": {}, "absent": []}
    processes = capture_processes()
    async with host.peer.client as client:
        report["protocolVersion"] = client.protocol_version
        for feature, needs in features:
            name = camel_case(feature.__name__)
            if all(host.peer.method(need) for need in needs):
                report["features"][name] = await use(feature, host, report)
            else:
                report["absent"].append(name)
    (exit,) = [process.returncode for process in processes] or [None]
    return report | {"exit": exit, "oddities": host.oddities}


async def use(feature, host: Host, report: dict):
    try:
        return await feature(host)
    except Exception as error:
        raise RuntimeError(f"the feature {feature.__name__} broke; seen so far: {json.dumps(report)}") from error


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sdk", choices=SDKS, required=True)
    parser.add_argument("--revision", required=True)
    parser.add_argument("--features", default="features")
    parser.add_argument("--prefix", default="")
    server = parser.add_mutually_exclusive_group(required=True)
    server.add_argument("--url")
    server.add_argument("--sse")
    server.add_argument("command", nargs="*", default=[])
    return parser.parse_args()


async def main() -> None:
    # Many of these methods are deprecated, and servers still have to support them.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    with anyio.fail_after(SCENARIO_TIMEOUT):
        report = await run(command_line())
    json.dump(report, sys.stdout, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    anyio.run(main)
