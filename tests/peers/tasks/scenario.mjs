// The scenario that every TypeScript client runs against the tools of the everything-server that run
// as tasks. Prints one JSON object: what became of each call, and which states the SDK saw.
//
// A `peer` is `{ name, client, transport, protocolVersion(), open(), call(name, args), cancel(name, args), list() }`.
// `call` returns `{ states, end }`, `cancel` the states of a call that it cancels once it is a task,
// `list` the states of all tasks, or null if the SDK lists none.

const SCENARIO_TIMEOUT = 60_000;

export const CLIENT_INFO = { name: 'bowline-peer', version: '1.0.0' };
export const CLIENT_CAPABILITIES = { elicitation: { form: {} } };

/** The user of the client agrees to everything. */
export const ANSWER = { action: 'accept', content: { confirm: true } };

export async function run(peer) {
  const watchdog = setTimeout(() => {
    console.error(`the scenario did not end within ${SCENARIO_TIMEOUT} ms`);
    process.exit(3);
  }, SCENARIO_TIMEOUT);
  await peer.client.connect(peer.transport);
  await peer.open?.();
  const report = { peer: peer.name, protocolVersion: peer.protocolVersion() };
  report.compute = await peer.call('slow_compute', { seconds: 1, label: 'knots' });
  report.question = await peer.call('confirm_delete', { filename: 'old.txt' });
  report.toolError = await peer.call('failing_job', {});
  report.protocolError = await peer.call('protocol_error_job', {});
  report.cancelled = await peer.cancel('slow_compute', { seconds: 30 });
  report.listed = await peer.list();
  await peer.close?.();
  await peer.client.close();
  clearTimeout(watchdog);
  console.log(JSON.stringify(report, null, 2));
}

/** What a tool returned: its text, and whether it failed. */
export function spoken({ content, isError }) {
  return { text: content.map(block => block.text ?? `<${block.type}>`).join(''), isError: isError ?? false };
}

/** States without repetitions, since polls may see one state twice. */
export function distinct(states) {
  return states.filter((state, index) => state !== states[index - 1]);
}
