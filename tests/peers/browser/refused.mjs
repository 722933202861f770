// A page of an origin that may not call: whatever it tries, it learns nothing.

import { main } from './kit.mjs';

const attempts = {
  // Asked for by a preflight.
  json: () => ({ method: 'POST', headers: { 'Content-Type': 'application/json' } }),
  // Sent without a preflight, and its answer is kept from the page.
  text: () => ({ method: 'POST', headers: { 'Content-Type': 'text/plain' } }),
  // The same, by a page that does not want to read the answer.
  unread: () => ({ method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } }),
  stream: () => ({ method: 'GET', headers: { Accept: 'text/event-stream' } }),
  ended: () => ({ method: 'DELETE' })
};

const name = 'hold';
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {}
};
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta } };

await main(async url => {
  const seen = {};
  for (const [kind, attempt] of Object.entries(attempts)) {
    const request = attempt();
    if (request.method === 'POST') request.body = JSON.stringify(call);
    seen[kind] = await fetch(url, request).then(
      ({ type, status }) => `${type} ${status}`,
      error => error.constructor.name
    );
  }
  return seen;
});
