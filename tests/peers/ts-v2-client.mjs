// The scenario run by the TypeScript SDK 2.x, in either era.
//
// usage: node ts-v2-client.mjs [--era legacy|modern|auto] [--revision 2025-06-18] -- command [arguments]
//
// `modern` pins 2026-07-28 and does not fall back; `auto` asks `server/discover` first and falls
// back to `initialize`; `legacy` (the SDK's default) only sends `initialize`, with `--revision`.

import { Client, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { CLIENT_CAPABILITIES, CLIENT_INFO, commandLine, run } from './scenario.mjs';

const { era = 'legacy', revision, server } = commandLine(['era', 'revision']);
const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };
if (!(era in modes)) throw new Error(`--era is one of ${Object.keys(modes).join(', ')}, not "${era}"`);

const client = new Client(CLIENT_INFO, {
  capabilities: CLIENT_CAPABILITIES,
  versionNegotiation: { mode: modes[era] },
  // The handshake offers the first revision of the list.
  ...(revision && { supportedProtocolVersions: [revision, ...SUPPORTED_PROTOCOL_VERSIONS.filter(known => known !== revision)] })
});
const validator = new AjvJsonSchemaValidator();

await run({
  name: '@modelcontextprotocol/client',
  client,
  transport: new StdioClientTransport(server),
  protocolVersion: () => client.getNegotiatedProtocolVersion(),
  era: () => client.getProtocolEra(),
  callTool: (params, options) => client.callTool(params, options),
  compile: schema => validator.getValidator(schema),
  answerElicitation: handler => client.setRequestHandler('elicitation/create', handler)
});
