// What crosses a bridge to `@modelcontextprotocol/server-everything`, which lists tools by what its
// client declares. `crossing.mjs` says how reports are made.

import { all, bare, form, outcome, stripped } from './crossing_steps.mjs';

export const FEATURES = {
  server: { use: async ({ client }) => ({ ...client.getServerVersion(), instructions: client.getInstructions() }) },
  tools: { use: tools },
  structured: { use: host => outcome(host, 'get-structured-content', { location: 'Chicago' }) },
  content: { use: host => outcome(host, 'get-tiny-image') },
  wrongArguments: { use: host => outcome(host, 'get-sum', { a: 'two', b: 40 }) },
  progress: { use: progress },
  form: { use: host => form(host, 'trigger-elicitation-request', { action: 'decline' }) },
  sampling: { use: host => outcome(host, 'trigger-sampling-request', { prompt: 'Which knot?', maxTokens: 10 }) },
  cancellation: { use: cancellation },
  resources: { use: resources },
  prompts: { use: prompts },
  completion: { use: completion },
  toolsAfterwards: { use: tools }
};

async function tools(host) {
  // It adds the tools that depend on its client a moment after the handshake.
  let listed = [];
  await host.eventually(async () => {
    listed = stripped(host, await all(host, 'listTools', 'tools'));
    return listed.some(({ name }) => name === 'trigger-elicitation-request');
  });
  return listed;
}

async function progress(host) {
  const seen = [];
  const options = { onprogress: step => seen.push(step) };
  const result = await outcome(host, 'trigger-long-running-operation', { duration: 0.3, steps: 6 }, options);
  // The server asks for roots a moment after the handshake; through a bridge that can fall into this
  // call, and the SDK then reports progress of its own, without a total.
  return { result, first: seen.find(({ total }) => total !== undefined) ?? null };
}

async function cancellation(host) {
  const controller = new AbortController();
  const options = { onprogress: () => controller.abort('enough'), signal: controller.signal };
  const ended = await outcome(host, 'trigger-long-running-operation', { duration: 3, steps: 30 }, options);
  return { isOver: 'code' in ended, echo: await outcome(host, 'echo', { message: 'still here' }) };
}

async function resources(host) {
  const list = await all(host, 'listResources', 'resources');
  return {
    list,
    templates: await all(host, 'listResourceTemplates', 'resourceTemplates'),
    first: bare(await host.client.readResource({ uri: list[0].uri }))
  };
}

async function prompts(host) {
  const get = async (name, args) => bare(await host.client.getPrompt({ name: host.peer.prefix + name, arguments: args }));
  return {
    list: stripped(host, await all(host, 'listPrompts', 'prompts')),
    plain: await get('simple-prompt'),
    arguments: await get('completable-prompt', { department: 'Sales', name: 'Eve' })
  };
}

async function completion({ client, peer }) {
  const ref = { type: 'ref/prompt', name: `${peer.prefix}completable-prompt` };
  const complete = async params => (await client.complete({ ref, ...params })).completion.values;
  return {
    plain: await complete({ argument: { name: 'department', value: 'S' } }),
    context: await complete({ argument: { name: 'name', value: '' }, context: { arguments: { department: 'Sales' } } })
  };
}
