// What crosses a bridge, used once by a client, on the servers of the folder above.
//
// Results are reported whole, so that the reports with and without a bridge can be compared. A
// gateway puts the name of the server before the names of tools and prompts; `--prefix` says which,
// and the report leaves it out.

import { all, bare, change, form, outcome, stripped } from './crossing_steps.mjs';
import { answerOfModel, refused, ROOT } from './host.mjs';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const MOTD = 'peer://motd';
/** How long to wait for what may never come. */
const MOMENT = 5_000;
const FILLED = { name: 'Ada', age: 36, member: false, knot: 'hitch' };

export const FEATURES = {
  server: { use: async ({ client }) => ({ ...client.getServerVersion(), instructions: client.getInstructions() }) },
  tools: { use: async host => stripped(host, await all(host, 'listTools', 'tools')) },
  structured: { use: host => outcome(host, 'add', { a: 2, b: 40 }) },
  content: { use: host => outcome(host, 'gallery') },
  failure: { use: host => outcome(host, 'fail', { reason: 'no rope' }) },
  wrongArguments: { use: host => outcome(host, 'add', { a: 'two', b: 40 }) },
  unknownTool: { use: host => outcome(host, 'untie') },
  progress: { use: progress },
  accepted: { use: host => form(host, 'greet', { action: 'accept', content: FILLED }) },
  declined: { use: host => form(host, 'greet', { action: 'decline' }) },
  page: { use: host => form(host, 'sign_in', { action: 'accept' }) },
  pageFirst: { use: pageFirst },
  sampling: { use: host => outcome(host, 'sample') },
  samplingTools: { use: host => outcome(host, 'sample_tools') },
  logging: { use: logging },
  roots: { use: host => outcome(host, 'roots') },
  rootsChange: { use: rootsChange },
  caching: { use: caching },
  ping: { use: ({ client }) => refused(client.ping()) },
  cancellation: { use: cancellation },
  resources: { use: resources },
  notFound: { use: host => failed(host.client.readResource({ uri: 'peer://nothing' })) },
  changes: { use: changes },
  prompts: { use: prompts },
  completion: { use: completion },
  // The last one: a call that is parked keeps its server to itself until it expires.
  samplingRefused: { use: samplingRefused }
};

async function failed(asking) {
  return asking.then(() => 'no error', ({ code, message }) => ({ code, message }));
}

async function progress(host) {
  const seen = [];
  const result = await outcome(host, 'sleep', { seconds: 0.3 }, { onprogress: step => seen.push(step) });
  // Both SDKs may miss the last steps, which arrive together with the answer.
  const isIncreasing = seen.every((step, index) => index === 0 || step.progress > seen[index - 1].progress);
  return { result, first: seen[0] ?? null, isIncreasing };
}

/** A tool that refuses until the user has signed in at a page, which the user does a moment later. */
async function pageFirst(host) {
  if (!(await offers(host, 'enter'))) return null;
  const before = host.heard.length;
  const { result, asked } = await form(host, 'enter', { action: 'accept' });
  if (result.content) return { result, asked };
  const completed = await host.hears('notifications/elicitation/complete', 1, before);
  return { refused: result, completed, result: await outcome(host, 'enter'), asked };
}

async function offers(host, tool) {
  return (await all(host, 'listTools', 'tools')).some(({ name }) => name === host.peer.prefix + tool);
}

async function samplingRefused(host) {
  host.model = async () => {
    throw Object.assign(new Error('not today'), { code: -1 });
  };
  const result = await outcome(host, 'sample');
  host.model = answerOfModel;
  return result;
}

/** The log messages of a call at the level `warning`, which a session sets and a request states. */
async function logging(host) {
  const since = host.heard.length;
  if (!host.isModern) await host.client.setLoggingLevel('warning');
  await outcome(host, 'chatter', {}, { meta: { [LOG_LEVEL]: 'warning' } });
  return host.hears('notifications/message', 2, since);
}

/** Other roots: what the server hears of the change, and what it gets when it asks again. */
async function rootsChange(host) {
  host.roots = [{ uri: `${ROOT}/other` }];
  // A client without a session has nobody to tell.
  if (!host.isModern) await host.client.sendRootsListChanged();
  const changed = async () => JSON.parse((await outcome(host, 'seen')).content[0].text).rootsChanged;
  if (!host.isModern) await host.eventually(async () => (await changed()) > 0, MOMENT);
  return { heard: await changed(), roots: await outcome(host, 'roots') };
}

async function caching({ client }) {
  const kept = ({ ttlMs, cacheScope }) => ({ ttlMs, cacheScope });
  return { templates: kept(await client.listResourceTemplates()), motd: kept(await client.readResource({ uri: MOTD })) };
}

async function cancellation(host) {
  const controller = new AbortController();
  const options = { onprogress: () => controller.abort('enough'), signal: controller.signal };
  const ended = await outcome(host, 'sleep', { seconds: 30 }, options);
  const cancelled = async () => JSON.parse((await outcome(host, 'seen')).content[0].text).cancelled;
  await host.eventually(async () => (await cancelled()) > 0);
  return { isOver: 'code' in ended, cancelled: await cancelled() };
}

async function resources(host) {
  const read = async uri => bare(await host.client.readResource({ uri }));
  return {
    list: await all(host, 'listResources', 'resources'),
    templates: await all(host, 'listResourceTemplates', 'resourceTemplates'),
    text: await read(MOTD),
    binary: await read('peer://logo'),
    template: await read('peer://knots/hitch')
  };
}

async function changes(host) {
  const touch = () => outcome(host, 'touch', { uri: MOTD });
  const seen = await change(host, MOTD, touch, () => outcome(host, 'learn', { name: 'splice' }));
  const tools = stripped(host, await all(host, 'listTools', 'tools'));
  return { ...seen, learned: tools.some(({ name }) => name === 'splice') };
}

async function prompts(host) {
  const get = async (name, args) => bare(await host.client.getPrompt({ name: host.peer.prefix + name, arguments: args }));
  const list = stripped(host, await all(host, 'listPrompts', 'prompts'));
  return {
    // Servers differ in when they forget a prompt that was learned.
    list: list.filter(({ name }) => name !== 'splice'),
    plain: await get('illustrate'),
    arguments: await get('introduce', { name: 'Ada', tone: 'formally' }),
    unknown: await failed(get('untie'))
  };
}

async function completion({ client, peer }) {
  const prompt = { type: 'ref/prompt', name: `${peer.prefix}introduce` };
  const template = { type: 'ref/resource', uri: 'peer://knots/{name}' };
  const complete = async params => (await client.complete(params)).completion.values;
  return {
    prompt: await complete({ ref: prompt, argument: { name: 'name', value: 'A' } }),
    template: await complete({ ref: template, argument: { name: 'name', value: 'b' } }),
    context: await complete({ ref: prompt, argument: { name: 'tone', value: '' }, context: { arguments: { name: 'Ada' } } })
  };
}
