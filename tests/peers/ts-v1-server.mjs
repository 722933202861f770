// A server written with the TypeScript SDK 1.x, which begins with a handshake; over HTTP it has one
// session.
//
// The four servers of this directory offer the same tools, resources and prompts; what they say is
// in `kit.mjs` and, in Python, in `kit.py`.
//
// usage: node ts-v1-server.mjs [--http]

import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  RootsListChangedNotificationSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  UrlElicitationRequiredError
} from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import * as kit from './kit.mjs';

const capabilities = { logging: {}, resources: { subscribe: true } };
const server = new McpServer({ name: 'ts-v1-server', version: '1.0.0' }, { instructions: kit.INSTRUCTIONS, capabilities });
const seen = kit.sightings();

function tool(name, inputSchema, run, more = {}) {
  server.registerTool(name, { description: `The tool ${name}.`, inputSchema, ...more }, run);
}

function addTools() {
  tool('echo', { message: z.string() }, ({ message }) => kit.text(message));
  tool('add', { a: z.int(), b: z.int() }, kit.add, {
    title: 'Adder',
    annotations: { readOnlyHint: true },
    outputSchema: { sum: z.int() }
  });
  tool('lie', {}, () => kit.LIE, { outputSchema: { sum: z.int() } });
  tool('fail', { reason: z.string() }, ({ reason }) => {
    throw new Error(reason);
  });
  tool('gallery', {}, () => ({ content: kit.GALLERY }));
  tool('sleep', { seconds: z.number() }, ({ seconds }, extra) =>
    seen.sleep(seconds, {
      signal: extra.signal,
      token: extra._meta?.progressToken,
      notify: extra.sendNotification
    })
  );
  tool('chatter', {}, async (_arguments, extra) => {
    for (const level of kit.LEVELS) {
      await server.sendLoggingMessage({ level, logger: 'peer', data: `a ${level}` }, extra.sessionId);
    }
    return kit.text('said it');
  });
  tool('seen', {}, () => kit.json(seen));
}

function addQuestions() {
  const ask = server.server;
  tool('greet', {}, async () => kit.json(await ask.elicitInput({ message: 'Who are you?', requestedSchema: kit.PERSON })));
  tool('sign_in', {}, async () => {
    const { action } = await ask.elicitInput({ mode: 'url', elicitationId: 'sign-in', ...kit.PAGE });
    return kit.json({ action });
  });
  tool('locked', {}, () => {
    throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: 'unlock', ...kit.PAGE }], 'Sign in first.');
  });
  tool('unlock', {}, async () => {
    await ask.createElicitationCompletionNotifier('unlock')();
    return kit.text('unlocked');
  });
  tool('sample', {}, async () => kit.json(kit.sampled(await ask.createMessage(kit.CONVERSATION))));
  tool('sample_tools', {}, async () => kit.json(kit.sampled(await ask.createMessage(kit.CONVERSATION_WITH_TOOLS))));
  tool('roots', {}, async () => kit.json((await ask.listRoots()).roots));
}

function addChanges() {
  tool('learn', { name: z.string() }, ({ name }) => {
    tool(name, {}, () => kit.text(name));
    server.registerResource(name, `peer://learned/${name}`, {}, uri => kit.contents(uri, name));
    server.registerPrompt(name, {}, () => kit.said(name));
    return kit.text('learned');
  });
  tool('touch', { uri: z.string() }, async ({ uri }) => {
    await server.server.sendResourceUpdated({ uri });
    return kit.text('touched');
  });
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => seen.subscribe(params.uri));
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => seen.unsubscribe(params.uri));
  server.server.setNotificationHandler(RootsListChangedNotificationSchema, () => seen.changeRoots());
}

function addResources() {
  server.registerResource('motd', kit.MOTD, { title: 'Message of the day', mimeType: 'text/plain' }, uri =>
    kit.contents(uri, kit.MOTD_TEXT)
  );
  server.registerResource('logo', kit.LOGO, { mimeType: 'image/png' }, uri => kit.binary(uri, 'image/png'));
  const knots = new ResourceTemplate(kit.KNOTS, { list: undefined, complete: { name: kit.completeKnot } });
  server.registerResource('knot', knots, { mimeType: 'text/plain' }, (uri, { name }) =>
    kit.contents(uri, `How to tie a ${name}.`)
  );
}

function addPrompts() {
  const argsSchema = {
    name: completable(z.string(), kit.completeName),
    tone: completable(z.string().optional(), kit.completeTone)
  };
  server.registerPrompt('introduce', { description: 'Asks for an introduction.', argsSchema }, kit.introduce);
  server.registerPrompt('illustrate', { title: 'Illustrate' }, () => kit.ILLUSTRATION);
}

addTools();
addQuestions();
addChanges();
addResources();
addPrompts();
if (kit.isOverHttp()) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  kit.listen((request, response) => transport.handleRequest(request, response));
} else {
  await server.connect(new StdioServerTransport());
}
