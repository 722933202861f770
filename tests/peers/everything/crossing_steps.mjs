// Steps of the features that cross a bridge, for servers with different tools.

const UPDATED = 'notifications/resources/updated';

/** Members of results that belong to one connection, and say nothing about the server behind. */
const OF_THE_HOP = ['resultType', 'ttlMs', 'cacheScope'];

/** A result without what belongs to the connection. */
export function bare(result) {
  const kept = Object.entries(result).filter(([name]) => !OF_THE_HOP.includes(name));
  const { _meta: meta = {}, ...rest } = Object.fromEntries(kept);
  const own = Object.entries(meta).filter(([name]) => !name.startsWith('io.modelcontextprotocol/'));
  return own.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(own) };
}

/** Reads all pages of a list. */
export async function all({ client }, list, key) {
  const items = [];
  let cursor;
  do {
    const page = await client[list](cursor === undefined ? undefined : { cursor });
    items.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

/** Items of a list with the names that their server gave them. */
export function stripped({ peer: { prefix } }, items) {
  return items.map(item => ({ ...item, name: item.name.startsWith(prefix) ? item.name.slice(prefix.length) : `?${item.name}` }));
}

/** The result of a tool, or the error of the call. */
export async function outcome(host, name, args = {}, { meta, ...options } = {}) {
  const params = { name: host.peer.prefix + name, arguments: args, ...(meta && { _meta: meta }) };
  try {
    return bare(await host.peer.callTool(params, options));
  } catch (error) {
    return { code: error.code ?? error.constructor.name, message: error.message, ...(error.data && { data: error.data }) };
  }
}

/** Calls a tool that asks the user, and reports the questions too. */
export async function form(host, tool, answer) {
  const since = host.asked.length;
  host.user = async () => answer;
  const result = await outcome(host, tool);
  const asked = host.asked.slice(since).map(({ message, requestedSchema, url }) => ({ message, requestedSchema, url }));
  return { result, asked };
}

/** Follows a resource and the list of tools while both change. */
export async function change(host, uri, touch, learn) {
  const since = host.heard.length;
  const end = await follow(host, uri).catch(({ code }) => ({ code }));
  if ('code' in end) return { refused: end.code };
  await touch();
  const updated = await host.hears(UPDATED, 1, since);
  await learn?.();
  const lists = learn && (await host.hears('notifications/tools/list_changed', 1, since));
  await end();
  const seen = { updated: updated.map(it => it.uri), list: lists && lists.length > 0 };
  // The end of a stream has no answer, and can be overtaken.
  return host.isModern ? seen : { ...seen, after: await updatesAfterwards(host, touch) };
}

async function updatesAfterwards(host, touch) {
  const before = host.heard.length;
  await touch();
  return (await host.hears(UPDATED, 0, before)).map(it => it.uri);
}

async function follow({ client, isModern }, uri) {
  if (isModern) {
    const stream = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
    return () => stream.close();
  }
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}
