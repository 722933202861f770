// A stdio server written with the TypeScript SDK 2.x; it serves both eras.
//
// usage: node ts-v2-server.mjs [--modern-only]

import { McpServer, ResourceTemplate, createRequestStateCodec, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const PROGRESS_INTERVAL = 100;
const requestState = createRequestStateCodec({ key: randomBytes(32) });
const text = value => ({ content: [{ type: 'text', text: value }] });

function echoServer() {
  const server = new McpServer(
    { name: 'ts-v2-server', version: '1.0.0' },
    { instructions: 'A peer for interoperability tests.', requestState: { verify: requestState.verify } }
  );
  addTools(server);
  addResources(server);
  server.registerPrompt(
    'introduce',
    { description: 'Asks for an introduction.', argsSchema: z.object({ name: z.string() }) },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Introduce ${name}.` } }] })
  );
  return server;
}

function addTools(server) {
  server.registerTool(
    'echo',
    { description: 'Returns the message.', inputSchema: z.object({ message: z.string() }) },
    ({ message }) => text(message)
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two integers.',
      inputSchema: z.object({ a: z.int(), b: z.int() }),
      outputSchema: z.object({ sum: z.int() })
    },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } })
  );
  server.registerTool(
    'sleep',
    { description: 'Sleeps, reporting progress.', inputSchema: z.object({ seconds: z.number() }) },
    sleepReportingProgress
  );
  server.registerTool('greet', { description: 'Greets the user by name.', inputSchema: z.object({}) }, greet);
}

async function sleepReportingProgress({ seconds }, { mcpReq }) {
  const total = seconds * 1000;
  const progressToken = mcpReq._meta?.progressToken;
  for (let slept = 0; slept < total; ) {
    await sleep(Math.min(PROGRESS_INTERVAL, total - slept), undefined, { signal: mcpReq.signal });
    slept = Math.min(slept + PROGRESS_INTERVAL, total);
    if (progressToken === undefined) continue;
    const progress = { progressToken, progress: slept / 1000, total: seconds };
    await mcpReq.notify({ method: 'notifications/progress', params: progress });
  }
  return text(`Slept ${seconds} s.`);
}

async function greet(_arguments, { mcpReq }) {
  const answer = inputResponse(mcpReq.inputResponses, 'name');
  if (answer.kind === 'missing') {
    const question = { message: 'What is your name?', requestedSchema: z.object({ name: z.string() }) };
    return inputRequired({
      inputRequests: { name: inputRequired.elicit(question) },
      requestState: await requestState.mint({ asked: 'name' })
    });
  }
  return text(answer.action === 'accept' ? `Hello, ${answer.content.name}!` : `Nobody to greet: ${answer.action}.`);
}

function addResources(server) {
  server.registerResource('motd', 'peer://motd', { mimeType: 'text/plain' }, uri => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Tie a bowline.' }]
  }));
  const template = new ResourceTemplate('peer://knots/{name}', { list: undefined });
  server.registerResource('knot', template, { mimeType: 'text/plain' }, (uri, { name }) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: `How to tie a ${name}.` }]
  }));
}

serveStdio(echoServer, {
  legacy: process.argv.includes('--modern-only') ? 'reject' : 'serve',
  onerror: error => console.error(error)
});
