// Questions as tasks with the TypeScript SDK 2.x and its package of tasks, `ext-tasks`.
//
// usage: node asked-ts-v2.mjs --url http://...

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { bindTaskReceiver } from '@modelcontextprotocol/ext-tasks/receiver';
import { commandLine } from '../scenario.mjs';
import { answerTo, run } from './asked.mjs';
import { CLIENT_INFO } from './scenario.mjs';

const { url } = commandLine(['url', 'revision']);
const tasks = { cancel: {}, list: {}, requests: { elicitation: { create: {} } } };
const client = new Client(CLIENT_INFO, {
  capabilities: { elicitation: { form: {} }, tasks },
  versionNegotiation: { mode: 'legacy' }
});
const cancelled = new Promise(resolve => {
  bindTaskReceiver(client, {
    methods: { 'elicitation/create': true },
    pollIntervalMs: 200,
    elicitation: ({ params }, { signal }) => {
      signal.addEventListener('abort', () => resolve());
      return answerTo(params);
    }
  });
});
await run({ name: '@modelcontextprotocol/client', client, transport: new StreamableHTTPClientTransport(new URL(url)), cancelled });
