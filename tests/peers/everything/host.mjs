// The host of the client: a user, a model, roots, and records of what the server sent.

export const ROOT = 'file:///srv/project';
const PATIENCE = 10_000;

/** The host of a client: answers questions of servers, and records their messages. */
export class Host {
  roots = [{ uri: ROOT, name: 'project' }];
  /** The questions of the server, in order. */
  asked = [];
  /** The notifications of the server, as `[method, params]`. */
  heard = [];
  oddities = [];
  /** How the user answers forms and URL elicitations. */
  user = async () => ({ action: 'decline' });
  /** How the model answers. */
  model = answerOfModel;

  constructor(peer) {
    this.peer = peer;
    this.client = peer.client;
    peer.client.onerror = ({ message }) => this.oddities.push(message);
    peer.answer('elicitation/create', ({ params }) => this.#note(params, this.user));
    peer.answer('sampling/createMessage', ({ params }) => this.#note(params, this.model));
    peer.answer('roots/list', async () => ({ roots: this.roots }));
    for (const method of [
      'notifications/message',
      'notifications/elicitation/complete',
      'notifications/resources/updated',
      'notifications/resources/list_changed',
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed'
    ]) {
      peer.hear(method, ({ params }) => void this.heard.push([method, params]));
    }
  }

  get isModern() {
    return this.peer.protocolVersion() >= '2026';
  }

  #note(params, answer) {
    this.asked.push(params);
    return answer(params);
  }

  /** Calls a tool; returns its text, that it failed, or the code of the JSON-RPC error. */
  async say(name, args = {}, options = {}) {
    const result = await this.call(name, args, options);
    return 'content' in result ? spoken(result) : result;
  }

  /** Calls a tool; returns its result, or the code of the JSON-RPC error. */
  async call(name, args = {}, { meta, ...options } = {}) {
    return coded(this.peer.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, options));
  }

  /** Sends a request and waits for its answer, so that all earlier messages have arrived. */
  async settle() {
    await this.call('test_simple_text');
  }

  /** Returns the notifications of a method since `since`, once there are at least `least`. */
  async hears(method, least, since = 0) {
    const said = () => this.heard.slice(since).filter(([name]) => name === method).map(([, params]) => params);
    await this.eventually(() => said().length >= least);
    return said();
  }

  /** Waits until a condition holds, for a limited time. */
  async eventually(isSo, patience = PATIENCE) {
    for (const end = Date.now() + patience; !(await isSo()) && Date.now() < end; ) {
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  }
}

/** The model: calls the first tool, and then repeats its result. */
export async function answerOfModel({ messages, tools = [] }) {
  const base = { role: 'assistant', model: 'peer-model' };
  const [last] = [messages.at(-1).content].flat();
  if (last.type === 'tool_result') {
    return { ...base, content: { type: 'text', text: `It is ${last.content[0].text}` } };
  }
  if (tools.length === 0) return { ...base, content: { type: 'text', text: '42' } };
  const wish = { type: 'tool_use', id: 'wish-1', name: tools[0].name, input: {} };
  return { ...base, stopReason: 'toolUse', content: [wish] };
}

function spoken({ content, isError }) {
  return isError ? { isError } : content.map(block => block.text ?? `<${block.type}>`).join('');
}

/** Returns a result, or the code of the JSON-RPC error. */
export async function coded(asking) {
  try {
    return await asking;
  } catch (error) {
    if (typeof error.code === 'number') return { code: error.code, ...(error.data && { data: error.data }) };
    throw error;
  }
}

/** Whether a call was refused, by the server or by the SDK itself. */
export async function refused(asking) {
  return asking.then(() => ({ refused: false }), () => ({ refused: true }));
}
