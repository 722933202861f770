// The scenario that TypeScript clients run against a server that asks its questions as tasks
// (2025-11-25): the user answers the first after a moment, and the server withdraws the second.
// Prints one JSON object.
//
// A `peer` is `{ name, client, transport, cancelled }`. It runs each question as a task whose work is
// `answerTo(params)`, and `cancelled` resolves when the server has cancelled a task.

import { setTimeout as sleep } from 'node:timers/promises';
import { spoken } from './scenario.mjs';

const SCENARIO_TIMEOUT = 60_000;

/** The questions that came as tasks: their messages and the time for which they are to be kept. */
const asked = [];

/** What the user answers. */
export async function answerTo({ message, task }) {
  asked.push({ message, ttl: task?.ttl ?? null });
  if (message === 'In a hurry?') return new Promise(() => {});
  await sleep(300);
  return { action: 'accept', content: { confirm: true } };
}

export async function run({ name, client, transport, cancelled }) {
  const watchdog = setTimeout(() => {
    console.error(`the scenario did not end within ${SCENARIO_TIMEOUT} ms`);
    process.exit(3);
  }, SCENARIO_TIMEOUT);
  await client.connect(transport);
  const call = async name => spoken(await client.callTool({ name, arguments: {} }));
  const report = { peer: name, release: await call('release'), hurry: await call('hurry') };
  await cancelled;
  report.asked = asked;
  await client.close();
  clearTimeout(watchdog);
  console.log(JSON.stringify(report, null, 2));
  // An answer that never comes keeps nothing, but timers of a store may.
  process.exit(0);
}
