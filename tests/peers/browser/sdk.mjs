// A page that calls a server with the TypeScript SDK 2.x, in either era.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { main } from './report.mjs';

const MODES = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };

async function run(url, mode) {
  const versionNegotiation = { mode };
  const client = new Client({ name: 'page', version: '1' }, { versionNegotiation });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const revision = client.getNegotiatedProtocolVersion();
  const session = typeof transport.sessionId;
  const { tools } = await client.listTools();
  const progress = [];
  const onprogress = ({ message }) => progress.push(message);
  const advanced = await client.callTool({ name: 'advance', arguments: {} }, { onprogress });
  // In a browser this SDK does not send mirrored headers of arguments by itself.
  const headers = { 'Mcp-Param-Region': 'us-west1', 'Mcp-Param-Zone': '42' };
  const place = { name: 'place', arguments: { region: 'us-west1', zone: 42 } };
  const placed = await client.callTool(place, { headers });
  if (transport.sessionId) await transport.terminateSession();
  await client.close();
  return {
    revision,
    session,
    lists: tools.some(({ name }) => name === 'echo'),
    progress,
    advanced: advanced.content[0].text,
    placed: placed.content[0].text
  };
}

await main(async url => {
  const seen = {};
  for (const [era, mode] of Object.entries(MODES)) seen[era] = await run(url, mode);
  return seen;
});
