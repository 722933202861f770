// Questions as tasks with the TypeScript SDK 1.x, whose `taskStore` keeps the tasks of a client.
//
// usage: node asked-ts-v1.mjs --url http://...

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { commandLine } from '../scenario.mjs';
import { answerTo, run } from './asked.mjs';
import { CLIENT_INFO } from './scenario.mjs';

const { url } = commandLine(['url', 'revision']);
const taskStore = new InMemoryTaskStore();
const tasks = { cancel: {}, list: {}, requests: { elicitation: { create: {} } } };
const client = new Client(CLIENT_INFO, { capabilities: { elicitation: { form: {} }, tasks }, taskStore });
const cancelled = new Promise(resolve => {
  const update = taskStore.updateTaskStatus.bind(taskStore);
  taskStore.updateTaskStatus = async (id, status, ...rest) => {
    await update(id, status, ...rest);
    if (status === 'cancelled') resolve();
  };
});
client.setRequestHandler(ElicitRequestSchema, async ({ params }, extra) => {
  if (params.task === undefined) return answerTo(params);
  const task = await extra.taskStore.createTask({ ttl: params.task.ttl, pollInterval: 200 });
  answerTo(params).then(answer => extra.taskStore.storeTaskResult(task.taskId, 'completed', answer));
  return { task };
});
await run({ name: '@modelcontextprotocol/sdk', client, transport: new StreamableHTTPClientTransport(new URL(url)), cancelled });
