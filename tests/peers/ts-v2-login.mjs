// The TypeScript SDK 2.x logs in to a protected server with its own OAuth client, and calls tools without
// arguments. Prints what it saw as JSON.
//
// usage: node ts-v2-login.mjs [--era legacy|modern] [--document URL] URL TOOL...
//
// --document URL    is the client id; without it, the client registers itself

import { parseArgs } from 'node:util';

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const { values, positionals } = parseArgs({
  options: { era: { type: 'string', default: 'modern' }, document: { type: 'string' } },
  allowPositionals: true
});
const [url, ...tools] = positionals;
const MODES = { legacy: 'legacy', modern: { pin: '2026-07-28' } };
const REDIRECT = 'http://127.0.0.1:4000/callback';
const MOST_REDIRECTS = 10;

const saved = {};
const report = { logins: [], tools: {} };

// Stands in for the user and the browser: signs in by following redirects with their cookies, and gives
// the query with which the browser would come back.
async function visit(page) {
  const cookies = new Map();
  for (let next = page, redirects = 0; redirects < MOST_REDIRECTS; redirects += 1) {
    const cookie = [...cookies].map(pair => pair.join('=')).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [name, value] = line.split(';')[0].split(/=(.*)/);
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`${next.origin} answers ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
    if (next.href.startsWith(REDIRECT)) return next.searchParams;
  }
  throw new Error('too many redirects');
}

const provider = {
  redirectUrl: REDIRECT,
  clientMetadataUrl: values.document,
  clientMetadata: {
    client_name: 'ts-v2-login',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none'
  },
  state: () => 'state',
  clientInformation: () => saved.client,
  saveClientInformation: client => (saved.client = client),
  tokens: () => saved.tokens,
  saveTokens: tokens => (saved.tokens = tokens),
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: verifier => (saved.verifier = verifier),
  discoveryState: () => saved.discovery,
  saveDiscoveryState: discovery => (saved.discovery = discovery),
  async redirectToAuthorization(page) {
    const { scope, resource } = Object.fromEntries(page.searchParams);
    report.logins.push({ scope, resource });
    saved.answer = await visit(page);
  }
};

// Runs an action; if that took the user to a page, finishes the login and acts again.
async function withLogin(transport, act, again = act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !saved.answer) throw error;
    const answer = saved.answer;
    saved.answer = undefined;
    await transport.finishAuth(answer);
    return again();
  }
}

const client = new Client({ name: 'ts-v2-login', version: '1.0.0' }, { versionNegotiation: { mode: MODES[values.era] } });
const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
let transport = open();
await withLogin(
  transport,
  () => client.connect(transport),
  () => client.connect((transport = open()))
);
report.revision = client.getNegotiatedProtocolVersion();
for (const name of tools) {
  const outcome = await withLogin(transport, () => client.callTool({ name, arguments: {} }));
  report.tools[name] = outcome.content[0].text;
}
report.client = saved.client?.client_id;
report.scope = saved.tokens.scope;
await client.close();
console.log(JSON.stringify(report));
