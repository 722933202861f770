// A page that calls a server in both eras with nothing but `fetch`.

import { main, report } from './report.mjs';

const ACCEPT = 'application/json, text/event-stream';
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

const post = (url, headers, message) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: ACCEPT, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message })
  });

/** Reads the events of a response that is a stream. */
async function* events(response) {
  if (response.headers.get('Content-Type') !== 'text/event-stream') {
    throw new Error(`no stream: ${response.status} ${await response.text()}`);
  }
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const field = name => new RegExp(`^${name}: ?(.*)$`, 'm').exec(text.slice(0, end))?.[1];
      yield { id: field('id'), data: field('data') };
    }
  }
}

/** Reads the messages of a response that is a stream, each with the id of its event. */
async function* messages(response) {
  for await (const { id, data } of events(response)) {
    if (data) yield { id, message: JSON.parse(data) };
  }
}

/** A message in short form, for the report. */
const gist = message => message.method ?? message.result.content[0].text;

async function gists(response) {
  const said = [];
  for await (const { message } of messages(response)) said.push(gist(message));
  return said;
}

async function legacy(url) {
  const clientInfo = { name: 'page', version: '1' };
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  const opened = await post(url, {}, { id: 0, method: 'initialize', params });
  const id = opened.headers.get('Mcp-Session-Id');
  const { result } = await opened.json();
  const session = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': LEGACY };
  const initialized = await post(url, session, { method: 'notifications/initialized' });

  const stop = new AbortController();
  const headers = { Accept: 'text/event-stream', ...session };
  const stream = await fetch(url, { headers, signal: stop.signal });
  await report('listening');
  const { value: told } = await messages(stream).next();
  stop.abort();

  const advance = { name: 'advance', arguments: {}, _meta: { progressToken: 'p' } };
  const answer = await post(url, session, { id: 1, method: 'tools/call', params: advance });
  const said = [];
  for await (const item of messages(answer)) said.push(item);
  const resumed = await fetch(url, { headers: { ...headers, 'Last-Event-ID': said[0].id } });

  const ended = await fetch(url, { method: 'DELETE', headers: session });
  const gone = await post(url, session, { id: 2, method: 'ping' });
  return {
    session: typeof id,
    revision: result.protocolVersion,
    initialized: initialized.status,
    stream: gist(told.message),
    call: said.map(({ message }) => gist(message)),
    resumed: await gists(resumed),
    ended: ended.status,
    gone: gone.status,
    reason: (await gone.json()).error.message
  };
}

/** A modern call of a tool, with its mirrored headers. */
function call(url, name, args, headers, meta) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta
  };
  const repeated = { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
  const params = { name, arguments: args, _meta };
  return post(url, { ...repeated, ...headers }, { id: 1, method: 'tools/call', params });
}

async function modern(url) {
  const region = { 'Mcp-Param-Region': 'us-west1', 'Mcp-Param-Zone': '42' };
  const placed = await call(url, 'place', { region: 'us-west1', zone: 42 }, region);
  const wrong = await call(url, 'place', { region: 'eu-north1', zone: 42 }, region);
  const advanced = await call(url, 'advance', {}, {}, { progressToken: 'p' });
  return {
    placed: gist(await placed.json()),
    wrong: { status: wrong.status, code: (await wrong.json()).error.code },
    advanced: await gists(advanced)
  };
}

/** Whether the browser sent a request and let the page read its response. */
const refused = request =>
  request.then(({ status }) => `answered ${status}`, error => error.constructor.name);

/** What a page sees of failed requests: a response, or nothing if the browser hides it. */
async function wrong(url) {
  const elsewhere = await post(new URL('/other', url), {}, { id: 1, method: 'ping' });
  const get = await fetch(url, { headers: { 'MCP-Protocol-Version': MODERN } });
  return {
    path: { status: elsewhere.status, reason: (await elsewhere.json()).error.message },
    method: { status: get.status, allow: get.headers.get('Allow') },
    otherMethod: await refused(fetch(url, { method: 'PUT' })),
    otherHeader: await refused(post(url, { 'X-Api-Key': 'x' }, { id: 1, method: 'ping' })),
    cookies: await refused(fetch(url, { credentials: 'include' }))
  };
}

await main(async url => ({
  legacy: await legacy(url),
  modern: await modern(url),
  wrong: await wrong(url)
}));
