// The features of the TypeScript SDK 2.x, in either era.
//
// usage: node ts-v2.mjs [--revision 2025-06-18] [--features crossing [--prefix name__]] (--url http://... | --sse http://... | -- command [arguments])

import { Client, SSEClientTransport, StreamableHTTPClientTransport, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { commandLine } from '../scenario.mjs';
import { CLIENT_CAPABILITIES, CLIENT_INFO, run } from './run.mjs';

const { revision, url, sse, features, prefix = '', server } = commandLine(['revision', 'url', 'sse', 'features', 'prefix']);
const isModern = revision === '2026-07-28';

function open() {
  if (url !== undefined) return new StreamableHTTPClientTransport(new URL(url));
  if (sse !== undefined) return new SSEClientTransport(new URL(sse));
  return new StdioClientTransport(server);
}

const client = new Client(CLIENT_INFO, {
  capabilities: CLIENT_CAPABILITIES,
  versionNegotiation: { mode: isModern ? { pin: revision } : 'legacy' },
  // The handshake offers the first revision of the list.
  ...(!isModern && { supportedProtocolVersions: [revision, ...SUPPORTED_PROTOCOL_VERSIONS.filter(known => known !== revision)] })
});
const validator = new AjvJsonSchemaValidator();

await run({
  name: '@modelcontextprotocol/client',
  prefix,
  client,
  transport: open(),
  protocolVersion: () => client.getNegotiatedProtocolVersion(),
  callTool: (params, options) => client.callTool(params, options),
  compile: schema => validator.getValidator(schema),
  answer: (method, handler) => client.setRequestHandler(method, handler),
  hear: (method, handler) => client.setNotificationHandler(method, handler)
}, features);
