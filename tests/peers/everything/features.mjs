// Every feature of a client, used once; what each gives is the same for all SDKs.

import { coded, refused, ROOT } from './host.mjs';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const WATCHED = 'test://watched-resource';
const CONTENT = ['simple_text', 'image_content', 'audio_content', 'embedded_resource', 'resource_link', 'multiple_content_types'];

export const FEATURES = {
  server: { use: async ({ client }) => ({ name: client.getServerVersion().name, instructions: client.getInstructions() }) },
  tools: { needs: ['listTools'], use: listTools },
  content: { needs: ['callTool'], use: contents },
  toolFailure: { use: host => host.say('test_error_handling') },
  structuredContent: { use: structure },
  argumentsChecked: { use: checked },
  resources: { needs: ['listResources'], use: async host => (await all(host, 'listResources', 'resources')).map(it => it.uri) },
  templates: { needs: ['listResourceTemplates'], use: async host => (await all(host, 'listResourceTemplates', 'resourceTemplates')).map(it => it.uriTemplate) },
  reading: { needs: ['readResource'], use: reading },
  notFound: { needs: ['readResource'], use: ({ client }) => coded(client.readResource({ uri: 'test://nothing' })) },
  prompts: { needs: ['listPrompts'], use: async host => (await all(host, 'listPrompts', 'prompts')).map(it => it.name) },
  prompting: { needs: ['getPrompt'], use: prompting },
  noPrompt: { needs: ['getPrompt'], use: ({ client }) => coded(client.getPrompt({ name: 'nothing' })) },
  completion: { needs: ['complete'], use: completion },
  logLevelOfRequest: { use: host => logged(host, { meta: { [LOG_LEVEL]: 'warning' } }) },
  logLevelOfSession: { needs: ['setLoggingLevel'], use: logLevelOfSession },
  progress: { use: progress },
  cancellation: { use: cancellation },
  sampling: { use: sampling },
  samplingWithTools: { use: host => host.say('interop_sample_with_tools') },
  roots: { use: async host => (await host.call('interop_list_roots')).content.map(block => block.text).join('') },
  rootsChange: { needs: ['sendRootsListChanged'], use: rootsChange },
  form: { use: form },
  formDefaults: { use: host => answering(host, { action: 'accept', content: {} }, 'test_elicitation_sep1034_defaults') },
  formChoices: { use: formChoices },
  page: { use: page },
  pageRequired: { use: pageRequired },
  severalRounds: { use: severalRounds },
  // In a session the server sends them without a subscription.
  listChanges: { use: host => listChanges(host, host.isModern ? 0 : 1) },
  subscription: { needs: ['subscribeResource', 'unsubscribeResource'], use: subscription },
  listening: { needs: ['listen'], use: listening },
  ping: { needs: ['ping'], use: ({ client }) => refused(client.ping()) }
};

/** Reads all pages of a list. */
async function all({ client }, list, key) {
  const items = [];
  let cursor;
  do {
    const page = await client[list](cursor === undefined ? undefined : { cursor });
    items.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

async function listTools(host) {
  const tools = await all(host, 'listTools', 'tools');
  const schemas = tools.flatMap(tool => [tool.inputSchema, tool.outputSchema ?? {}]);
  schemas.forEach(host.peer.compile);
  return tools.map(tool => tool.name);
}

async function contents(host) {
  const seen = {};
  for (const name of CONTENT) {
    const { content } = await host.call(`test_${name}`);
    seen[name] = content.map(block => block.type);
  }
  return seen;
}

async function structure(host) {
  const { structuredContent: list } = await host.call('interop_numbers');
  const { structuredContent: object } = await host.call('interop_seen');
  return { list: list ?? null, object: object ?? null };
}

async function checked(host) {
  const good = await host.say('json_schema_2020_12_tool', { contactMethod: 'phone', phone: '1815' });
  const bad = await host.say('json_schema_2020_12_tool', { contactMethod: 'phone', email: 'ada@example.com' });
  return { good, bad };
}

async function reading({ client }) {
  const read = async uri => (await client.readResource({ uri })).contents[0];
  const text = await read('test://static-text');
  const binary = await read('test://static-binary');
  const one = await read('test://template/123/data');
  return {
    text: [text.mimeType, text.text],
    binary: [binary.mimeType, Buffer.from(binary.blob, 'base64').subarray(1, 4).toString()],
    template: [one.uri, JSON.parse(one.text).id]
  };
}

async function prompting(host) {
  const get = async (name, args) => {
    const { messages } = await host.client.getPrompt({ name, arguments: args });
    return messages.map(({ content }) => content.text ?? content.resource?.uri ?? content.mimeType);
  };
  const seen = {
    simple: await get('test_simple_prompt'),
    arguments: await get('test_prompt_with_arguments', { arg1: 'one', arg2: 'two' }),
    resource: await get('test_prompt_with_embedded_resource', { resourceUri: 'test://example-resource' }),
    image: await get('test_prompt_with_image')
  };
  host.user = async () => ({ action: 'accept', content: { context: 'knots' } });
  const asking = await refused(get('test_input_required_result_prompt').then(messages => (seen.asking = messages)));
  return asking.refused ? { ...seen, asking } : seen;
}

async function completion({ client }) {
  const prompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  const template = { type: 'ref/resource', uri: 'test://template/{id}/data' };
  const complete = async params => (await client.complete(params)).completion.values;
  return {
    prompt: await complete({ ref: prompt, argument: { name: 'arg1', value: 'Pa' } }),
    template: await complete({ ref: template, argument: { name: 'id', value: '12' } }),
    context: await complete({ ref: prompt, argument: { name: 'arg2', value: 'a' }, context: { arguments: { arg1: 'Paris' } } })
  };
}

async function logged(host, options) {
  const since = host.heard.length;
  await host.call('test_logging_tool', {}, options);
  await host.settle();
  return (await host.hears('notifications/message', 0, since)).map(({ level }) => level);
}

async function logLevelOfSession(host) {
  const setting = await refused(host.client.setLoggingLevel('error'));
  return setting.refused ? setting : logged(host);
}

async function progress(host) {
  const seen = [];
  await host.call('test_tool_with_progress', {}, { onprogress: step => seen.push(step) });
  return seen.map(({ progress, total, message }) => [progress, total, message ?? null]);
}

async function cancellation(host) {
  const controller = new AbortController();
  const options = { onprogress: () => controller.abort('enough'), signal: controller.signal };
  const ended = await refused(host.peer.callTool({ name: 'interop_wait', arguments: {} }, options));
  const cancelled = async () => JSON.parse(await host.say('interop_seen')).cancelled;
  await host.eventually(async () => (await cancelled()) > 0);
  return { ...ended, cancelled: await cancelled() };
}

async function sampling(host) {
  const answer = await host.say('test_sampling', { prompt: 'What is six times seven?' });
  const { messages, maxTokens } = host.asked.at(-1);
  return { answer, question: [messages[0].content].flat()[0].text, maxTokens };
}

async function rootsChange(host) {
  host.roots = [{ uri: `${ROOT}/other` }];
  const telling = await refused(host.client.sendRootsListChanged());
  if (telling.refused) return telling;
  const roots = async () => JSON.parse(await host.say('interop_seen')).roots;
  if (!host.isModern) await host.eventually(async () => (await roots()) !== null);
  return roots();
}

async function answering(host, answer, tool, args) {
  host.user = async () => answer;
  return host.say(tool, args);
}

async function form(host) {
  const content = { username: 'ada', email: 'ada@example.com' };
  const ask = answer => answering(host, answer, 'test_elicitation', { message: 'Who are you?' });
  return {
    accepted: await ask({ action: 'accept', content }),
    declined: await ask({ action: 'decline' }),
    cancelled: await ask({ action: 'cancel' })
  };
}

/** The options of a field of a form. */
const options = field => field.enum ?? (field.oneOf ?? field.anyOf)?.map(option => option.const);

/** Chooses the last option of each field. In older revisions a multiple choice is text. */
async function formChoices(host) {
  const choose = ([name, field]) => [name, field.items ? [options(field.items).at(-1)] : (options(field)?.at(-1) ?? WRITTEN[name])];
  host.user = async ({ requestedSchema: { properties } }) => {
    return { action: 'accept', content: Object.fromEntries(Object.entries(properties).map(choose)) };
  };
  return host.say('test_elicitation_sep1330_enums');
}

const WRITTEN = { untitledMulti: 'option2, option3', titledMulti: 'value3' };

/** The URL elicitations since, and whether the server announced their completion. */
function pages(host, asked, completed) {
  return asked.map(({ url, elicitationId }) => {
    const isDone = completed.some(({ elicitationId: id }) => id === elicitationId);
    return { url, isDone: elicitationId === undefined ? null : isDone };
  });
}

async function page(host) {
  const [since, before] = [host.asked.length, host.heard.length];
  const agreed = await answering(host, { action: 'accept' }, 'interop_ask_url');
  const asked = host.asked.slice(since);
  const ids = asked.filter(({ elicitationId }) => elicitationId !== undefined);
  const completed = await host.hears('notifications/elicitation/complete', ids.length, before);
  const declined = await answering(host, { action: 'decline' }, 'interop_ask_url');
  return { agreed, declined, pages: pages(host, asked, completed) };
}

async function pageRequired(host) {
  const before = host.heard.length;
  const visit = () => host.call('interop_visit_pages');
  host.user = async () => {
    await visit();
    return { action: 'accept' };
  };
  const { code, data, isError, content } = await host.call('interop_require_url');
  if (code === undefined) return isError ? { isError } : { said: content[0].text };
  await visit();
  const completed = await host.hears('notifications/elicitation/complete', 1, before);
  return { code, pages: pages(host, data.elicitations, completed), said: await host.say('interop_require_url') };
}

async function severalRounds(host) {
  host.user = async ({ requestedSchema: { properties } }) => {
    const content = 'color' in properties ? { color: 'red' } : { name: 'Ada' };
    return { action: 'accept', content };
  };
  return {
    oneByOne: await host.say('test_input_required_result_multi_round'),
    together: await host.say('test_input_required_result_multiple_inputs'),
    keyed: await host.say('test_input_required_result_elicitation')
  };
}

const CHANGES = { tools: 'test_trigger_tool_change', prompts: 'test_trigger_prompt_change', resources: 'interop_change_resources' };

/** The lists whose changes the client got. */
async function listChanges(host, least) {
  const since = host.heard.length;
  const heard = [];
  for (const [list, tool] of Object.entries(CHANGES)) {
    await host.call(tool);
    await host.settle();
    const told = await host.hears(`notifications/${list}/list_changed`, least, since);
    if (told.length > 0) heard.push(list);
  }
  return heard;
}

async function updates(host, least) {
  const since = host.heard.length;
  await host.call('interop_update_resource');
  await host.settle();
  return (await host.hears('notifications/resources/updated', least, since)).map(({ uri }) => uri);
}

async function subscription(host) {
  const { client } = host;
  const subscribing = await refused(client.subscribeResource({ uri: WATCHED }));
  if (subscribing.refused) return subscribing;
  const during = await updates(host, 1);
  await client.unsubscribeResource({ uri: WATCHED });
  return { during, after: await updates(host, 0) };
}

async function listening(host) {
  const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: [WATCHED] };
  let stream;
  const opening = await refused(host.client.listen(filter).then(opened => (stream = opened)));
  if (opening.refused) return opening;
  const lists = await listChanges(host, 1);
  const during = await updates(host, 1);
  await stream.close();
  await host.settle();
  return { lists, during, after: await updates(host, 0) };
}
