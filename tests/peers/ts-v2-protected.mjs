// A server of the TypeScript SDK 2.x that serves both eras to callers with a token. Prints its URL.
//
// usage: node ts-v2-protected.mjs --issuer URL
//
// Tokens are JWTs of that authorization server, for this server, with the scope `mcp`; the tool `purge`
// also wants `admin`.

import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  McpServer,
  OAuthError,
  OAuthErrorCode,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  oauthMetadataResponse,
  requireBearerAuth,
  requireScopes
} from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { issuer } = parseArgs({ options: { issuer: { type: 'string' } } }).values;
const metadata = await fetch(`${issuer}/.well-known/oauth-authorization-server`).then(answer => answer.json());
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));

function peer() {
  const server = new McpServer({ name: 'ts-v2-protected', version: '1.0.0' });
  const text = value => ({ content: [{ type: 'text', text: value }] });
  server.registerTool('whoami', {}, context => text(context.http.authInfo.extra.subject));
  server.registerTool('purge', { scopeChallenge: requireScopes('mcp', 'admin') }, () => text('gone'));
  return server;
}

function protect(url) {
  const handler = createMcpHandler(peer);
  const verifier = {
    async verifyAccessToken(token) {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: url.href }).catch(error => {
        throw new OAuthError(OAuthErrorCode.InvalidToken, error.message);
      });
      const { sub, client_id: clientId, scope, exp: expiresAt } = payload;
      return { token, clientId, scopes: scope.split(' '), expiresAt, resource: url, extra: { subject: sub } };
    }
  };
  const documents = {
    oauthMetadata: metadata,
    resourceServerUrl: url,
    scopesSupported: ['mcp'],
    // Everything here is on this machine.
    dangerouslyAllowInsecureIssuerUrl: true
  };
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  const gate = requireBearerAuth({ verifier, requiredScopes: ['mcp'], resourceMetadataUrl, expectedResource: url });
  return async request => {
    const document = oauthMetadataResponse(request, documents);
    if (document) return document;
    const authInfo = await gate(request);
    return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
  };
}

const http = createServer();
http.listen(0, '127.0.0.1', () => {
  const url = new URL(`http://127.0.0.1:${http.address().port}/mcp`);
  http.on('request', toNodeHandler({ fetch: protect(url) }));
  console.log(url.href);
});
