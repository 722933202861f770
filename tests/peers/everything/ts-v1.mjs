// The features of the TypeScript SDK 1.x, which knows only the handshake era.
//
// usage: node ts-v1.mjs [--revision 2025-06-18] [--features crossing [--prefix name__]] (--url http://... | --sse http://... | -- command [arguments])

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { commandLine } from '../scenario.mjs';
import { CLIENT_CAPABILITIES, CLIENT_INFO, run } from './run.mjs';

const { revision, url, sse, features, prefix = '', server } = commandLine(['revision', 'url', 'sse', 'features', 'prefix']);

/** This SDK always asks for its newest revision; this puts an older one into the outgoing message. */
const offering = Transport =>
  class extends Transport {
    send(message, options) {
      if (revision !== undefined && message.method === 'initialize') {
        message = { ...message, params: { ...message.params, protocolVersion: revision } };
      }
      return super.send(message, options);
    }

    setProtocolVersion(version) {
      super.setProtocolVersion?.(version);
      this.negotiated = version;
    }
  };

function open() {
  if (url !== undefined) return new (offering(StreamableHTTPClientTransport))(new URL(url));
  if (sse !== undefined) return new (offering(SSEClientTransport))(new URL(sse));
  return new (offering(StdioClientTransport))(server);
}

/** The schemas of messages, which this SDK takes where others take methods. */
const SCHEMAS = {
  'elicitation/create': types.ElicitRequestSchema,
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
  'notifications/message': types.LoggingMessageNotificationSchema,
  'notifications/elicitation/complete': types.ElicitationCompleteNotificationSchema,
  'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
  'notifications/resources/list_changed': types.ResourceListChangedNotificationSchema,
  'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
  'notifications/prompts/list_changed': types.PromptListChangedNotificationSchema
};

const client = new Client(CLIENT_INFO, { capabilities: CLIENT_CAPABILITIES });
const transport = open();
const validator = new AjvJsonSchemaValidator();

await run({
  name: '@modelcontextprotocol/sdk',
  prefix,
  client,
  transport,
  protocolVersion: () => transport.negotiated,
  callTool: (params, options) => client.callTool(params, types.CallToolResultSchema, options),
  compile: schema => validator.getValidator(schema),
  answer: (method, handler) => client.setRequestHandler(SCHEMAS[method], handler),
  hear: (method, handler) => client.setNotificationHandler(SCHEMAS[method], handler)
}, features);
