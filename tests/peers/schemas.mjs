// Exports the message schemas that the installed SDKs carry, as JSON Schema files.
//
// usage: node schemas.mjs <directory>
//
// No package ships the official JSON Schema documents. What there is:
// - `@modelcontextprotocol/core` has Zod schemas, one set for all revisions together; they become
//   `<directory>/core.json`.
// - `mcp-types` (Python) has models generated from the official schemas of 2025-11-25 and
//   2026-07-28; they become `<directory>/<revision>.json`.
// Every file holds its definitions under `$defs`, by the specification's names.

import * as core from '@modelcontextprotocol/core';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const here = fileURLToPath(new URL('.', import.meta.url));
const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node schemas.mjs <directory>');
  process.exit(2);
}

mkdirSync(directory, { recursive: true });
exportCore(join(directory, 'core.json'));
const python = spawnSync(join(here, '.venv/bin/python'), [join(here, 'schemas.py'), directory], { stdio: 'inherit' });
process.exit(python.status ?? 1);

function exportCore(file) {
  const registry = z.registry();
  for (const [name, schema] of Object.entries(core)) registry.add(schema, { id: name.replace(/Schema$/, '') });
  const reference = id => `#/$defs/${id}`;
  // What a sender may write, before defaults are filled in; what JSON Schema cannot say is left open.
  const { schemas } = z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', uri: reference });
  const definitions = Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...definition }]) => [name, definition])
  );
  const dialect = 'https://json-schema.org/draft/2020-12/schema';
  writeFileSync(file, JSON.stringify({ $schema: dialect, $defs: definitions }, null, 2) + '\n');
  const from = relative(here, fileURLToPath(import.meta.resolve('@modelcontextprotocol/core')));
  console.log(`${file}: ${Object.keys(definitions).length} definitions from ${from} (Zod, all revisions)`);
}
