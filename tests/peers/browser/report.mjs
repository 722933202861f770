// What the pages share: they run in a browser, and report to the test that opened them.

/** Sends a report to the test, which may act on it before the page goes on. */
export async function report(value) {
  await fetch('/report', { method: 'POST', body: JSON.stringify(value) });
}

/** Runs a page, and reports its result or why it failed. */
export async function main(run) {
  const server = new URLSearchParams(location.search).get('server');
  try {
    await report({ done: await run(server) });
  } catch (error) {
    await report({ failed: String(error?.stack ?? error) });
  }
}
