// Tasks of 2025-11-25 with the TypeScript SDK 1.x.
//
// usage: node ts-v1.mjs (--url http://... | -- command [arguments])

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { commandLine } from '../scenario.mjs';
import { ANSWER, CLIENT_CAPABILITIES, CLIENT_INFO, distinct, run, spoken } from './scenario.mjs';

const { url, server } = commandLine(['url', 'revision']);
const client = new Client(CLIENT_INFO, { capabilities: CLIENT_CAPABILITIES });
client.setRequestHandler(ElicitRequestSchema, async () => ANSWER);
const transport = url === undefined ? new StdioClientTransport(server) : new StreamableHTTPClientTransport(new URL(url));
let negotiated;
transport.setProtocolVersion = (inner => version => {
  negotiated = version;
  inner?.call(transport, version);
})(transport.setProtocolVersion);

const { tasks } = client.experimental;

/** Calls a tool as a task, and notes its states; `onTask` gets each. */
async function call(name, args, onTask = async () => {}) {
  const states = [];
  for await (const message of tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, { task: { ttl: 60_000 } })) {
    if (message.type === 'taskCreated' || message.type === 'taskStatus') {
      states.push(message.task.status);
      await onTask(message.task);
    } else {
      const end = message.type === 'result' ? spoken(message.result) : { code: message.error.code ?? null };
      return { states: distinct(states), end };
    }
  }
}

async function list() {
  const found = [];
  let cursor;
  do {
    const page = await tasks.listTasks(cursor);
    found.push(...page.tasks.map(task => task.status));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found.sort();
}

await run({
  name: '@modelcontextprotocol/sdk',
  client,
  transport,
  protocolVersion: () => negotiated,
  call,
  cancel: async (name, args) => {
    const { states } = await call(name, args, async ({ taskId, status }) => {
      if (status === 'working') await tasks.cancelTask(taskId);
    });
    return states;
  },
  list: () => (client.getServerCapabilities().tasks.list === undefined ? null : list())
});
