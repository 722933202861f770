// Tasks of both forms with the TypeScript SDK 2.x and its package of tasks, `ext-tasks`.
//
// usage: node ts-v2.mjs --revision 2026-07-28 (--url http://... | -- command [arguments])

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { z } from 'zod';
import { commandLine } from '../scenario.mjs';
import { ANSWER, CLIENT_CAPABILITIES, CLIENT_INFO, distinct, run, spoken } from './scenario.mjs';

const { revision, url, server } = commandLine(['revision', 'url']);
const isModern = revision === '2026-07-28';
const transport = url === undefined ? new StdioClientTransport(server) : new StreamableHTTPClientTransport(new URL(url));
const client = new Client(CLIENT_INFO, {
  capabilities: CLIENT_CAPABILITIES,
  versionNegotiation: { mode: isModern ? { pin: revision } : 'legacy' }
});

/** Requests that this program sends past the SDK, which knows no methods of extensions. */
const pending = new Map();

/** Sends a request on the transport of the client, and takes its answer before the client sees it. */
async function rawDispatch(request) {
  const id = `raw-${pending.size + 1}`;
  const answered = new Promise(resolve => pending.set(id, resolve));
  const { taskId, name = taskId } = request.params;
  const headers = { 'Mcp-Method': request.method, 'Mcp-Name': name, 'MCP-Protocol-Version': revision };
  await transport.send({ ...request, jsonrpc: '2.0', id }, { headers });
  const { result, error } = await answered;
  return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
}

function open() {
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const answer = 'method' in message ? undefined : pending.get(message.id);
    return answer === undefined ? toClient?.(message, extra) : answer(message);
  };
  return createTaskSessionFromClient(client, {
    endpointId: 'everything',
    onInputRequest: async () => ANSWER,
    ...(isModern && {
      rawDispatch,
      v2RequestFraming: { protocolVersion: revision, clientInfo: CLIENT_INFO, clientCapabilities: CLIENT_CAPABILITIES }
    })
  });
}

let session;

/** The package only polls a task that needs input, but on 2025-11-25 questions come while `tasks/result` waits. */
function fetchResult({ taskId, status }) {
  if (isModern || status !== 'input_required') return;
  client.request({ method: 'tasks/result', params: { taskId } }, z.looseObject({})).catch(error => console.error(error));
}

/** Calls a tool as a task, and notes its states; `onTask` gets each with the execution. */
async function call(name, args, onTask = async () => {}) {
  const states = [];
  const execution = await session.callTool(name, args, { task: { preference: 'require' } });
  const { outcome } = await execution.settle({
    onEvent: async ({ type, task }) => {
      if (type === 'task') {
        states.push(task.status);
        fetchResult(task);
        await onTask(task, execution);
      }
    }
  });
  if (outcome.status === 'completed') return { states: distinct(states), end: spoken(outcome.result) };
  return { states: distinct(states), end: outcome.status === 'failed' ? { code: outcome.error.code ?? null } : outcome.status };
}

async function list() {
  if (session.capabilities.inventory !== 'server-list') return null;
  const found = [];
  let cursor;
  do {
    const page = await session.listTasks(cursor);
    found.push(...page.tasks.map(task => task.status));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found.sort();
}

await run({
  name: '@modelcontextprotocol/client',
  client,
  transport,
  protocolVersion: () => client.getNegotiatedProtocolVersion(),
  open: () => {
    session = open();
  },
  close: () => session.close(),
  call,
  cancel: async (name, args) => {
    let isCancelled = false;
    const { states, end } = await call(name, args, async ({ status }, execution) => {
      if (status === 'working' && !isCancelled) {
        isCancelled = true;
        await execution.cancel();
      }
    });
    return distinct([...states, end]);
  },
  list
});
