// Writes the official JSON Schema of each revision to a directory, from packages that carry them.
//
// usage: node schemas.mjs <directory>
//
// The specification publishes no package of its schemas. The official conformance suite has those of
// 2025-03-26 and later inside its bundle, as object literals; the crate `mcp-types` has that of
// 2024-11-05 as a file. They become `<directory>/<revision>.json`, unchanged.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const here = fileURLToPath(new URL('.', import.meta.url));
const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node schemas.mjs <directory>');
  process.exit(2);
}

const schemas = { '2024-11-05': fromCrate(), ...fromSuite() };
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
mkdirSync(directory, { recursive: true });
for (const revision of revisions) {
  if (schemas[revision] === undefined) throw new Error(`no schema of ${revision} was found`);
  writeFileSync(join(directory, `${revision}.json`), JSON.stringify(schemas[revision], null, 2) + '\n');
}

// The bundle does not name revisions; a definition that is new in each identifies it.
function fromSuite() {
  const bundle = readFileSync(join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'), 'utf8');
  const found = {};
  for (const { index } of bundle.matchAll(/\{\$schema:`[^`]*`,(?:definitions|\$defs):\{Annotations:/g)) {
    const schema = vm.runInNewContext(`(${literalAt(bundle, index)})`);
    const names = schema.$defs ?? schema.definitions;
    const revision = names.DiscoverRequest ? '2026-07-28'
      : names.CreateTaskResult ? '2025-11-25'
      : names.ElicitRequest ? '2025-06-18'
      : '2025-03-26';
    found[revision] = JSON.parse(JSON.stringify(schema));
  }
  return found;
}

// The object literal that begins at `start`; braces inside strings do not count.
function literalAt(text, start) {
  let depth = 0;
  for (let at = start, quote = ''; at < text.length; at += 1) {
    const character = text[at];
    if (quote !== '') {
      if (character === '\\') at += 1;
      else if (character === quote) quote = '';
    } else if ('`"\''.includes(character)) quote = character;
    else if (character === '{') depth += 1;
    else if (character === '}' && (depth -= 1) === 0) return text.slice(start, at + 1);
  }
  throw new Error('the bundle ends inside a schema');
}

function fromCrate() {
  const options = { cwd: here, encoding: 'utf8', maxBuffer: 1 << 28 };
  const metadata = JSON.parse(execFileSync('cargo', ['metadata', '--format-version', '1', '--locked', '--manifest-path', 'crates/Cargo.toml'], options));
  const crate = metadata.packages.find(({ name }) => name === 'mcp-types');
  return JSON.parse(readFileSync(join(dirname(crate.manifest_path), 'spec/2024-11-05-schema.json'), 'utf8'));
}
