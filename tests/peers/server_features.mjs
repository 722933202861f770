// The features of the TypeScript servers, the same for every SDK.

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const PROGRESS_INTERVAL = 50;

export const INSTRUCTIONS = 'A peer for interoperability tests.';
export const LEVELS = ['debug', 'info', 'warning', 'error'];
const MOTD = 'peer://motd';
const MOTD_TEXT = 'Tie a bowline.';
export const TIME_TO_SIGN_IN = 300;
export const PAGE = { message: 'Sign in there.', url: 'https://example.com/sign-in' };

const BYTES = Buffer.from([0, 1, 254, 255]).toString('base64');
const EMBEDDED = { type: 'resource', resource: { uri: MOTD, mimeType: 'text/plain', text: MOTD_TEXT } };

export const text = value => ({ content: [{ type: 'text', text: value }] });
export const json = value => text(JSON.stringify(value));
export const add = ({ a, b }) => ({ ...json({ sum: a + b }), structuredContent: { sum: a + b } });
export const LIE = { ...text('many'), structuredContent: { sum: 'many' } };

export const GALLERY = [
  { type: 'text', text: 'a text', annotations: { audience: ['user'], priority: 0.5 } },
  { type: 'image', data: BYTES, mimeType: 'image/png' },
  { type: 'audio', data: BYTES, mimeType: 'audio/wav' },
  { type: 'resource_link', uri: MOTD, name: 'motd' },
  EMBEDDED
];

export const contents = (uri, value) => ({ contents: [{ uri: `${uri}`, mimeType: 'text/plain', text: value }] });
const picture = uri => ({ contents: [{ uri: `${uri}`, mimeType: 'image/png', blob: BYTES }] });

export const said = value => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
export const introduce = ({ name, tone }) => said(`Introduce ${name}, ${tone ?? 'plainly'}.`);
export const ILLUSTRATION = {
  description: 'A picture and a resource.',
  messages: [
    { role: 'user', content: { type: 'image', data: BYTES, mimeType: 'image/png' } },
    { role: 'assistant', content: EMBEDDED }
  ]
};

const startingWith = (values, typed) => values.filter(value => value.startsWith(typed ?? ''));
const completeKnot = typed => startingWith(['bowline', 'butterfly', 'hitch'], typed);
export const completeName = typed => startingWith(['Ada', 'Alan', 'Grace'], typed);
export const completeTone = (_typed, context) => (context?.arguments?.name === 'Ada' ? ['formally'] : ['casually']);

/** Adds the resources; `ResourceTemplate` is the class of the SDK. */
export function addResources(server, ResourceTemplate) {
  server.registerResource('motd', MOTD, { title: 'Message of the day', mimeType: 'text/plain' }, uri => contents(uri, MOTD_TEXT));
  server.registerResource('logo', 'peer://logo', { mimeType: 'image/png' }, picture);
  const knots = new ResourceTemplate('peer://knots/{name}', { list: undefined, complete: { name: completeKnot } });
  server.registerResource('knot', knots, { mimeType: 'text/plain' }, (uri, { name }) => contents(uri, `How to tie a ${name}.`));
}

export const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2 },
    age: { type: 'integer', minimum: 0, default: 30 },
    member: { type: 'boolean', default: true },
    knot: { type: 'string', enum: ['bowline', 'hitch'], default: 'bowline' }
  },
  required: ['name']
};

export const CONVERSATION = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Which knot?' } }],
  systemPrompt: 'You are a sailor.',
  modelPreferences: { hints: [{ name: 'sailor' }] },
  maxTokens: 100
};

/** A sampling request with an earlier tool use in its messages. */
export const CONVERSATION_WITH_TOOLS = {
  ...CONVERSATION,
  messages: [
    ...CONVERSATION.messages,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'use-1', name: 'lookup', input: { knot: 'hitch' } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', toolUseId: 'use-1', content: [{ type: 'text', text: 'no such knot' }] }]
    }
  ],
  tools: [{ name: 'lookup', inputSchema: { type: 'object', properties: { knot: { type: 'string' } } } }],
  toolChoice: { mode: 'required' }
};

/** The answer of a model, which may have one block or a list of blocks. */
export const sampled = ({ model, content }) => ({ model, content: [content].flat() });

const { values: options } = parseArgs({ options: { http: { type: 'boolean' }, modern: { type: 'boolean' } } });

/** Whether to serve over HTTP, with `--http`, rather than over stdio. */
export const isOverHttp = () => options.http ?? false;

/** Whether to refuse clients that begin with a handshake, with `--modern`. */
export const isModernOnly = () => options.modern ?? false;

/** Serves on a free port, and prints the URL. */
export function listen(handle) {
  const http = createServer(handle);
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}

/** What a server records of its client outside of requests. */
export function sightings() {
  return {
    cancelled: 0,
    rootsChanged: 0,
    subscribed: [],
    changeRoots() {
      this.rootsChanged += 1;
    },
    subscribe(uri) {
      this.subscribed.push(uri);
      return {};
    },
    unsubscribe(uri) {
      this.subscribed = this.subscribed.filter(other => other !== uri);
      return {};
    },
    /** Sleeps and reports progress until it is cancelled. */
    async sleep(seconds, { signal, token, notify }) {
      const total = seconds * 1000;
      const count = () => (this.cancelled += 1);
      signal.addEventListener('abort', count);
      for (let slept = 0; slept < total; ) {
        await pause(Math.min(PROGRESS_INTERVAL, total - slept), undefined, { signal });
        slept = Math.min(slept + PROGRESS_INTERVAL, total);
        if (token === undefined) continue;
        const params = { progressToken: token, progress: slept / 1000, total: seconds, message: 'sleeping' };
        await notify({ method: 'notifications/progress', params });
      }
      // An abort after the end does not count as a cancellation.
      signal.removeEventListener('abort', count);
      return text(`Slept ${seconds} s.`);
    }
  };
}
