// A node: it polls for work of its agent, does it, and says what came of it. The journal makes that nothing is done twice and no result is
// lost when the node is killed, at whatever moment.
//
//   COUNTERSIGN_URL=https://… COUNTERSIGN_SETUP_TOKEN=svc_setup_… node examples/node.mjs      its token is kept beside the journal
//   COUNTERSIGN_URL=https://… COUNTERSIGN_AGENT_KEY=svc_agent_…  node examples/node.mjs      or with a key of the agent
//
// NODE_ID names the machine, NODE_JOURNAL the file in which it writes down what it is at.
import { runNode } from '@countersign/sdk/node';

const { COUNTERSIGN_URL, COUNTERSIGN_SETUP_TOKEN, COUNTERSIGN_AGENT_KEY, NODE_ID, NODE_JOURNAL } = process.env;
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort());

await runNode({
  url: COUNTERSIGN_URL ?? 'http://localhost:3000',
  credential: COUNTERSIGN_AGENT_KEY ?? COUNTERSIGN_SETUP_TOKEN ?? '',
  // By capability, such as 'press.print'. Replace it by what yours does; throw to fail.
  handlers: { '*': (input) => ({ echo: input, at: new Date().toISOString() }) },
  journal: NODE_JOURNAL ?? 'node-journal.jsonl',
  nodeId: NODE_ID,
  version: 'example-1',
  signal: ending.signal,
  onLog: (line) => process.stdout.write(`${new Date().toISOString()} ${line}\n`),
});
