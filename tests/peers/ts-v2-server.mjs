// A server written with the TypeScript SDK 2.x; it serves both eras, over HTTP with one session.
// With `--modern` it refuses clients that begin with a handshake.
//
// usage: node ts-v2-server.mjs [--http] [--modern]

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  McpServer,
  ResourceTemplate,
  UrlElicitationRequiredError,
  WebStandardStreamableHTTPServerTransport,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  isLegacyRequest
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import * as features from './server_features.mjs';

const requestState = createRequestStateCodec({ key: randomBytes(32) });
const onerror = error => console.error(error);

// Over HTTP there is a new server instance for every request since 2026-07-28; they share this.
const seen = features.sightings();
const learned = [];
let streams;

function peer() {
  const server = new McpServer(
    { name: 'ts-v2-server', version: '1.0.0' },
    {
      instructions: features.INSTRUCTIONS,
      capabilities: { logging: {}, resources: { subscribe: true } },
      // Templates never change here.
      cacheHints: { 'resources/templates/list': { ttlMs: 60_000, cacheScope: 'public' } },
      requestState: { verify: requestState.verify }
    }
  );
  addTools(server);
  addQuestions(server);
  addChanges(server);
  features.addResources(server, ResourceTemplate);
  addPrompts(server);
  return server;
}

function adder(server) {
  return (name, inputSchema, run, more = {}) =>
    server.registerTool(name, { description: `The tool ${name}.`, inputSchema: z.object(inputSchema), ...more }, run);
}

function addTools(server) {
  const tool = adder(server);
  tool('echo', { message: z.string() }, ({ message }) => features.text(message));
  tool('add', { a: z.int(), b: z.int() }, features.add, {
    title: 'Adder',
    annotations: { readOnlyHint: true },
    outputSchema: z.object({ sum: z.int() })
  });
  tool('lie', {}, () => features.LIE, { outputSchema: z.object({ sum: z.int() }) });
  tool('fail', { reason: z.string() }, ({ reason }) => {
    throw new Error(reason);
  });
  tool('gallery', {}, () => ({ content: features.GALLERY }));
  tool('sleep', { seconds: z.number() }, ({ seconds }, { mcpReq }) =>
    seen.sleep(seconds, {
      signal: mcpReq.signal,
      token: mcpReq._meta?.progressToken,
      notify: mcpReq.notify
    })
  );
  tool('chatter', {}, async (_arguments, { mcpReq }) => {
    for (const level of features.LEVELS) await mcpReq.log(level, `a ${level}`, 'peer');
    return features.text('said it');
  });
  tool('seen', {}, () => features.json(seen));
}

/** Adds a tool that asks one question and returns the answer; before 2026-07-28 the SDK sends the question. */
function addQuestion(server, name, question, tell) {
  adder(server)(name, {}, async (_arguments, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'answer');
    if (answer.kind !== 'missing') return features.json(tell(answer));
    return inputRequired({
      inputRequests: { answer: question },
      requestState: await requestState.mint({ asked: name })
    });
  });
}

function addQuestions(server) {
  const person = { message: 'Who are you?', requestedSchema: features.PERSON };
  addQuestion(server, 'greet', inputRequired.elicit(person), ({ action, content }) => ({ action, content }));
  addQuestion(server, 'sign_in', inputRequired.elicitUrl(features.PAGE), ({ action }) => ({ action }));
  adder(server)('locked', {}, () => {
    throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: 'unlock', ...features.PAGE }], 'Sign in first.');
  });
  adder(server)('unlock', {}, async () => {
    await server.server.createElicitationCompletionNotifier('unlock')();
    return features.text('unlocked');
  });
  addQuestion(server, 'sample', inputRequired.createMessage(features.CONVERSATION), ({ result }) => features.sampled(result));
  const withTools = inputRequired.createMessage(features.CONVERSATION_WITH_TOOLS);
  addQuestion(server, 'sample_tools', withTools, ({ result }) => features.sampled(result));
  addQuestion(server, 'roots', inputRequired.listRoots(), ({ roots }) => roots);
}

/** Whether an instance serves only one request, and cannot send changes. */
const isAlone = server => streams !== undefined && server.server.getNegotiatedProtocolVersion() === '2026-07-28';

function addLearned(server, name) {
  adder(server)(name, {}, () => features.text(name));
  server.registerResource(name, `peer://learned/${name}`, {}, uri => features.contents(uri, name));
  server.registerPrompt(name, {}, () => features.said(name));
}

function addChanges(server) {
  const tool = adder(server);
  learned.forEach(name => addLearned(server, name));
  tool('learn', { name: z.string() }, ({ name }) => {
    learned.push(name);
    if (isAlone(server)) {
      streams.toolsChanged();
      streams.resourcesChanged();
      streams.promptsChanged();
    } else {
      addLearned(server, name);
    }
    return features.text('learned');
  });
  tool('touch', { uri: z.string() }, async ({ uri }) => {
    if (isAlone(server)) streams.resourceUpdated(uri);
    else await server.server.sendResourceUpdated({ uri });
    return features.text('touched');
  });
  server.server.setRequestHandler('resources/subscribe', ({ params }) => seen.subscribe(params.uri));
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => seen.unsubscribe(params.uri));
  server.server.setNotificationHandler('notifications/roots/list_changed', () => seen.changeRoots());
}

function addPrompts(server) {
  const argsSchema = z.object({
    name: completable(z.string(), features.completeName),
    tone: completable(z.string(), features.completeTone).optional()
  });
  server.registerPrompt('introduce', { description: 'Asks for an introduction.', argsSchema }, features.introduce);
  server.registerPrompt('illustrate', { title: 'Illustrate' }, () => features.ILLUSTRATION);
}

function serveHttp() {
  const modern = createMcpHandler(peer, { legacy: 'reject', onerror });
  streams = modern.notify;
  if (features.isModernOnly()) return features.listen(toNodeHandler(modern));
  const session = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  peer().connect(session);
  const fetch = async (request, options) =>
    (await isLegacyRequest(request)) ? session.handleRequest(request, options) : modern.fetch(request, options);
  features.listen(toNodeHandler({ fetch }));
}

if (features.isOverHttp()) serveHttp();
else serveStdio(peer, { onerror, legacy: features.isModernOnly() ? 'reject' : 'serve' });
