// A server of the TypeScript SDK 1.x that is its own authorization server, with the provider of the
// SDK's examples, which approves every login. Prints its URL.
//
// usage: node ts-v1-protected.mjs

import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';

const SCOPES = ['mcp'];

function peer() {
  const server = new McpServer({ name: 'ts-v1-protected', version: '1.0.0' });
  server.registerTool('whoami', {}, ({ authInfo }) => {
    const { clientId, scopes, resource } = authInfo;
    return { content: [{ type: 'text', text: JSON.stringify({ clientId, scopes, resource }) }] };
  });
  return server;
}

// Each request gets a server of its own: there are no sessions.
async function answer(request, response) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await peer().connect(transport);
  await transport.handleRequest(request, response, request.body);
}

const app = express();
const http = app.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${http.address().port}`;
  const url = new URL(`${origin}/mcp`);
  const provider = new DemoInMemoryAuthProvider(resource => resource?.href === url.href);
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl: url, scopesSupported: SCOPES }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  app.use('/mcp', requireBearerAuth({ verifier: provider, requiredScopes: SCOPES, resourceMetadataUrl }));
  app.post('/mcp', express.json(), answer);
  app.all('/mcp', (_request, response) => response.status(405).end());
  console.log(url.href);
});
