// The scenario run by the TypeScript SDK 1.x, which knows only the handshake era.
//
// usage: node ts-v1-client.mjs [--revision 2025-06-18] -- command [arguments]

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { CLIENT_CAPABILITIES, CLIENT_INFO, commandLine, run } from './scenario.mjs';

const { revision, server } = commandLine(['revision']);

/** This SDK always asks for its newest revision; this puts an older one into the outgoing message. */
class RevisionTransport extends StdioClientTransport {
  send(message) {
    if (revision !== undefined && message.method === 'initialize') {
      message = { ...message, params: { ...message.params, protocolVersion: revision } };
    }
    return super.send(message);
  }

  setProtocolVersion(version) {
    this.protocolVersion = version;
  }
}

const client = new Client(CLIENT_INFO, { capabilities: CLIENT_CAPABILITIES });
const transport = new RevisionTransport(server);
const validator = new AjvJsonSchemaValidator();

await run({
  name: '@modelcontextprotocol/sdk',
  client,
  transport,
  protocolVersion: () => transport.protocolVersion,
  era: () => 'legacy',
  callTool: (params, options) => client.callTool(params, CallToolResultSchema, options),
  compile: schema => validator.getValidator(schema),
  answerElicitation: handler => client.setRequestHandler(ElicitRequestSchema, handler)
});
