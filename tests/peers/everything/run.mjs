// Runs every feature of a TypeScript client against the everything-server and prints a report.
//
// The features are in `features.mjs`, or in the file that `--features` names; the two generations of
// the SDK come in as a `peer`: `{ name, prefix, client, transport, protocolVersion(),
// callTool(params, options), compile(schema), answer(method, handler), hear(method, handler) }`.
// `prefix` stands before the names of tools and prompts, behind a gateway. One JSON object is printed on stdout:
// `features` has the result of each feature, `absent` the features that the SDK has no method for, and
// `exit` the exit code of a server that was started.

import { once } from 'node:events';
import { Host } from './host.mjs';

const SCENARIO_TIMEOUT = 120_000;

export const CLIENT_INFO = { name: 'bowline-peer', version: '1.0.0' };
export const CLIENT_CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  sampling: { tools: {} }
};

export async function run(peer, features = 'features') {
  const { FEATURES } = await import(`./${features}.mjs`);
  const watchdog = setTimeout(() => {
    console.error(`the features did not end within ${SCENARIO_TIMEOUT} ms`);
    process.exit(3);
  }, SCENARIO_TIMEOUT);
  const host = new Host(peer);
  await peer.client.connect(peer.transport);
  const report = { peer: peer.name, protocolVersion: peer.protocolVersion(), features: {}, absent: [] };
  for (const [name, { needs = [], use }] of Object.entries(FEATURES)) {
    if (needs.every(method => typeof peer.client[method] === 'function')) {
      report.features[name] = await use(host).catch(error => {
        throw new Error(`the feature "${name}" broke; seen so far: ${JSON.stringify(report)}`, { cause: error });
      });
    } else {
      report.absent.push(name);
    }
  }
  report.exit = await close(peer);
  report.oddities = host.oddities;
  clearTimeout(watchdog);
  console.log(JSON.stringify(report, null, 2));
}

async function close({ client, transport }) {
  await transport.terminateSession?.();
  // Neither SDK reports how the server ended, so the child is taken from the transport before it is closed.
  const child = transport._process;
  if (child === undefined) {
    // An SDK may abort a POST that was answered on another stream, and report that as an error.
    client.onerror = undefined;
    await client.close();
    return null;
  }
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  await client.close();
  await exited;
  return child.exitCode;
}
