// A server written with the TypeScript SDK 1.x, which begins with a handshake.
//
// The four servers of this directory offer the same tools, resources and prompts, which are defined
// in `server_features.mjs` and, for Python, in `server_features.py`.
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
import * as features from './server_features.mjs';

const capabilities = { logging: {}, resources: { subscribe: true } };
// Sessions over HTTP share this.
const seen = features.sightings();

/** A server for one session. */
function peer() {
  const server = new McpServer({ name: 'ts-v1-server', version: '1.0.0' }, { instructions: features.INSTRUCTIONS, capabilities });
  addTools(server);
  addQuestions(server);
  addChanges(server);
  features.addResources(server, ResourceTemplate);
  addPrompts(server);
  return server;
}

function adder(server) {
  return (name, inputSchema, run, more = {}) =>
    server.registerTool(name, { description: `The tool ${name}.`, inputSchema, ...more }, run);
}

function addTools(server) {
  const tool = adder(server);
  tool('echo', { message: z.string() }, ({ message }) => features.text(message));
  tool('add', { a: z.int(), b: z.int() }, features.add, {
    title: 'Adder',
    annotations: { readOnlyHint: true },
    outputSchema: { sum: z.int() }
  });
  tool('lie', {}, () => features.LIE, { outputSchema: { sum: z.int() } });
  tool('fail', { reason: z.string() }, ({ reason }) => {
    throw new Error(reason);
  });
  tool('gallery', {}, () => ({ content: features.GALLERY }));
  tool('sleep', { seconds: z.number() }, ({ seconds }, extra) =>
    seen.sleep(seconds, {
      signal: extra.signal,
      token: extra._meta?.progressToken,
      notify: extra.sendNotification
    })
  );
  tool('chatter', {}, async (_arguments, extra) => {
    for (const level of features.LEVELS) {
      await server.sendLoggingMessage({ level, logger: 'peer', data: `a ${level}` }, extra.sessionId);
    }
    return features.text('said it');
  });
  tool('seen', {}, () => features.json(seen));
}

function addQuestions(server) {
  const tool = adder(server);
  const ask = server.server;
  tool('greet', {}, async () => features.json(await ask.elicitInput({ message: 'Who are you?', requestedSchema: features.PERSON })));
  tool('sign_in', {}, async () => {
    const { action } = await ask.elicitInput({ mode: 'url', elicitationId: 'sign-in', ...features.PAGE });
    return features.json({ action });
  });
  tool('locked', {}, () => {
    throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: 'unlock', ...features.PAGE }], 'Sign in first.');
  });
  tool('unlock', {}, async () => {
    await ask.createElicitationCompletionNotifier('unlock')();
    return features.text('unlocked');
  });
  let hasSignedIn = false;
  const signIn = async () => {
    hasSignedIn = true;
    await ask.createElicitationCompletionNotifier('enter')();
  };
  tool('enter', {}, () => {
    if (hasSignedIn) return features.text('welcome');
    setTimeout(signIn, features.TIME_TO_SIGN_IN);
    throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: 'enter', ...features.PAGE }], 'Sign in first.');
  });
  tool('sample', {}, async () => features.json(features.sampled(await ask.createMessage(features.CONVERSATION))));
  tool('sample_tools', {}, async () => features.json(features.sampled(await ask.createMessage(features.CONVERSATION_WITH_TOOLS))));
  tool('roots', {}, async () => features.json((await ask.listRoots()).roots));
}

function addChanges(server) {
  const tool = adder(server);
  tool('learn', { name: z.string() }, ({ name }) => {
    tool(name, {}, () => features.text(name));
    server.registerResource(name, `peer://learned/${name}`, {}, uri => features.contents(uri, name));
    server.registerPrompt(name, {}, () => features.said(name));
    return features.text('learned');
  });
  tool('touch', { uri: z.string() }, async ({ uri }) => {
    await server.server.sendResourceUpdated({ uri });
    return features.text('touched');
  });
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => seen.subscribe(params.uri));
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => seen.unsubscribe(params.uri));
  server.server.setNotificationHandler(RootsListChangedNotificationSchema, () => seen.changeRoots());
}

function addPrompts(server) {
  const argsSchema = {
    name: completable(z.string(), features.completeName),
    tone: completable(z.string().optional(), features.completeTone)
  };
  server.registerPrompt('introduce', { description: 'Asks for an introduction.', argsSchema }, features.introduce);
  server.registerPrompt('illustrate', { title: 'Illustrate' }, () => features.ILLUSTRATION);
}

/** Serves many sessions over HTTP. */
function serveHttp() {
  const sessions = new Map();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport)
    });
    await peer().connect(transport);
    return transport;
  };
  features.listen(async (request, response) => {
    const transport = sessions.get(request.headers['mcp-session-id']) ?? (await open());
    await transport.handleRequest(request, response);
  });
}

if (features.isOverHttp()) serveHttp();
else await peer().connect(new StdioServerTransport());
