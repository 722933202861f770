// The scenario every TypeScript client runs against a stdio server under test.
//
// The two generations of the TypeScript SDK share most of their client API; what differs comes in
// as a `peer`. The report of the client is printed as one JSON object on stdout, including expected
// errors; the test checks it. A step that cannot run ends the program with a message on stderr and a
// non-zero exit code.

import { once } from 'node:events';
import { parseArgs } from 'node:util';

const MESSAGE = 'Grüße, 世界 🪢\nsecond line\ttab "quotes" \\ \u2028 end';
const STEP_TIMEOUT = 10_000;
const SCENARIO_TIMEOUT = 60_000;

// Both SDKs handle a response before a notification that arrived just ahead of it in the same
// chunk, and then do not know its token any more. That is not a fault of the server.
const LATE_PROGRESS = 'Received a progress notification for an unknown token';

/** Client identity and capabilities that every peer announces. */
export const CLIENT_INFO = { name: 'bowline-peer', version: '1.0.0' };
export const CLIENT_CAPABILITIES = { elicitation: { form: {} } };

/** Reads `[options] -- command [arguments]`; `names` are the string options the program takes. With `--url` or `--sse` there is no command. */
export function commandLine(names) {
  const options = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [command, ...args] = positionals;
  if ((command ?? values.url ?? values.sse) === undefined) throw new Error('usage: [options] -- command [arguments]');
  return { ...values, server: { command, args } };
}

/**
 * Runs the scenario and prints the report.
 *
 * `peer` is `{ name, client, transport, protocolVersion(), era(), callTool(params, options),
 * compile(schema), answerElicitation(handler) }`.
 */
export async function run(peer) {
  const watchdog = setTimeout(() => {
    console.error(`the scenario did not end within ${SCENARIO_TIMEOUT} ms`);
    process.exit(3);
  }, SCENARIO_TIMEOUT);
  const report = { peer: peer.name, oddities: [], lateProgress: 0 };
  peer.client.onerror = ({ message }) => {
    if (message.startsWith(LATE_PROGRESS)) report.lateProgress += 1;
    else report.oddities.push(message);
  };
  try {
    for (const [name, step] of steps(peer, report)) {
      await step().catch(error => {
        throw new Error(`step "${name}" failed: ${error.message}`, { cause: error });
      });
    }
  } catch (error) {
    console.error(error);
    console.error(`seen so far: ${JSON.stringify(report)}`);
    process.exit(1);
  }
  clearTimeout(watchdog);
  console.log(JSON.stringify(report, null, 2));
}

function steps(peer, report) {
  return [
    ['connect', async () => Object.assign(report, await connect(peer))],
    ['list tools', async () => (report.tools = await listTools(peer))],
    ['echo', async () => (report.echo = await echo(peer))],
    ['add', async () => (report.add = await outcome(call(peer, 'add', { a: 2, b: 40 })))],
    ['add with wrong types', async () => (report.addWrongTypes = await outcome(call(peer, 'add', { a: 'two', b: true })))],
    ['unknown tool', async () => (report.unknownTool = await outcome(call(peer, 'no-such-tool', {})))],
    ['progress', async () => (report.progress = await progress(peer))],
    ['cancellation', async () => (report.cancellation = await cancellation(peer))],
    ['greet, accepted', async () => (report.greetAccepted = await greet(peer, { action: 'accept', content: { name: 'Ada' } }))],
    ['greet, declined', async () => (report.greetDeclined = await greet(peer, { action: 'decline' }))],
    ['ping', async () => (report.ping = await ping(peer))],
    ['close', async () => (report.exit = await close(peer))]
  ];
}

async function connect({ client, transport, protocolVersion, era }) {
  await client.connect(transport, { timeout: STEP_TIMEOUT });
  return {
    era: era(),
    protocolVersion: protocolVersion(),
    serverInfo: client.getServerVersion() ?? null,
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions() ?? null
  };
}

async function listTools({ client, compile }) {
  const { tools } = await client.listTools();
  return tools.map(tool => ({
    name: tool.name,
    inputSchema: compiles(compile, tool.inputSchema),
    outputSchema: tool.outputSchema === undefined ? null : compiles(compile, tool.outputSchema)
  }));
}

function compiles(compile, schema) {
  try {
    compile(schema);
    return 'valid';
  } catch (error) {
    return `invalid: ${error.message}`;
  }
}

async function echo(peer) {
  const { text } = await call(peer, 'echo', { message: MESSAGE });
  return { text, unchanged: text === MESSAGE };
}

async function progress(peer) {
  const values = [];
  const { text } = await call(peer, 'sleep', { seconds: 0.5 }, { onprogress: ({ progress }) => values.push(progress) });
  return { text, values, increasing: values.every((value, index) => index === 0 || value > values[index - 1]) };
}

async function cancellation(peer) {
  const controller = new AbortController();
  const started = Date.now();
  const sleeping = call(peer, 'sleep', { seconds: 30 }, {
    onprogress: () => controller.abort('enough'),
    signal: controller.signal
  });
  const ended = await outcome(sleeping);
  const milliseconds = Date.now() - started;
  const echoAfterwards = (await call(peer, 'echo', { message: 'still here' })).text;
  return { aborted: controller.signal.aborted, ended, milliseconds, echoAfterwards };
}

async function greet(peer, answer) {
  const questions = [];
  peer.answerElicitation(async ({ params }) => {
    questions.push(params);
    return answer;
  });
  return { ...(await outcome(call(peer, 'greet', {}))), questions };
}

async function ping({ client, era }) {
  if (era() === 'modern') return null;
  await client.ping({ timeout: STEP_TIMEOUT });
  return true;
}

async function close({ client, transport }) {
  // Neither SDK reports how the server ended, so the child is taken from the transport before it
  // is closed.
  const child = transport._process;
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  const started = Date.now();
  await client.close();
  await exited;
  return { code: child.exitCode, signal: child.signalCode, milliseconds: Date.now() - started };
}

async function call(peer, name, args, options = {}) {
  const result = await peer.callTool({ name, arguments: args }, { timeout: STEP_TIMEOUT, ...options });
  return {
    text: result.content.map(block => block.text ?? `<${block.type}>`).join(''),
    structuredContent: result.structuredContent ?? null,
    isError: result.isError ?? false
  };
}

async function outcome(calling) {
  try {
    return { result: await calling };
  } catch (error) {
    return { error: { name: error.constructor.name, code: error.code ?? null, message: error.message } };
  }
}
