"""Exports the per-revision message models of `mcp-types` as JSON Schema files.

usage: .venv/bin/python schemas.py <directory>

`schemas.mjs` runs this; what the files hold is told there.
"""

import json
import sys
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Literal, get_origin

import mcp_types._v2025_11_25 as revision_2025_11_25
import mcp_types._v2026_07_28 as revision_2026_07_28
from mcp_types._wire_base import WireModel
from pydantic import TypeAdapter

REVISIONS = {"2025-11-25": revision_2025_11_25, "2026-07-28": revision_2026_07_28}


def export(revision: str, module: ModuleType, directory: Path) -> None:
    named = {name: value for name, value in vars(module).items() if is_definition(value)}
    adapters = [(name, "validation", TypeAdapter(value)) for name, value in named.items()]
    by_name, shared = TypeAdapter.json_schemas(adapters, by_alias=True)
    definitions = shared["$defs"]
    for (name, _), schema in by_name.items():
        definitions.setdefault(name, schema)
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": optional_not_null(definitions)}
    file = directory / f"{revision}.json"
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    print(f"{file}: {len(definitions)} definitions from {module.__name__} (pydantic, revision {revision})")


def is_definition(value: object) -> bool:
    """Whether a module member is a message model or an alias for a union or an enumeration of them."""
    if isinstance(value, type):
        return issubclass(value, WireModel) and value is not WireModel
    return isinstance(value, UnionType) or get_origin(value) in (Annotated, Literal)


def optional_not_null(schema):
    """Undoes what pydantic makes of an optional member: one that may be absent, not one that may be null."""
    if isinstance(schema, list):
        return [optional_not_null(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: optional_not_null(part) for key, part in schema.items()}
    if schema.get("default", 0) is None and {"type": "null"} in schema.get("anyOf", []):
        del schema["default"]
        schema["anyOf"].remove({"type": "null"})
    return schema


if __name__ == "__main__":
    for revision, module in REVISIONS.items():
        export(revision, module, Path(sys.argv[1]))
