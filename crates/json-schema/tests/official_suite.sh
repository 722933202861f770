#!/bin/sh
# Brings the official JSON Schema Test Suite to the directory given, unless it is there already.
#
# The suite has no releases of its own; the source distribution of Python's `jsonschema` carries it.
# The version and the hash below decide what is judged by.
set -eu

version=4.26.0
hash=0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326

destination=$1
[ "$(cat "$destination/version" 2>/dev/null)" = "$version" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "jsonschema==$version --hash=sha256:$hash" >"$work/requirements.txt"

python=python3
# Debian's Python comes without pip, but the one of the interoperability tests has it.
"$python" -m pip --version >/dev/null 2>&1 ||
    python=$(cd "$(dirname "$0")/../../../tests/peers" && pwd -P)/.venv/bin/python
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
    --require-hashes --requirement "$work/requirements.txt" --dest "$work"

tar -xzf "$work/jsonschema-$version.tar.gz" -C "$work"
rm -rf "$destination"
mkdir -p "$(dirname "$destination")"
mv "$work/jsonschema-$version/json" "$destination"
# Written last: an interrupted run leaves no version and is done again.
echo "$version" >"$destination/version"
