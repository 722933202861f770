// A page of an origin that is not allowed: whatever it tries, it can read nothing.

import { main } from './report.mjs';

const attempts = {
  // With a preflight.
  json: () => ({ method: 'POST', headers: { 'Content-Type': 'application/json' } }),
  // Without a preflight; the browser hides the response from the page.
  text: () => ({ method: 'POST', headers: { 'Content-Type': 'text/plain' } }),
  // The same, with a mode in which the page cannot read the response.
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
