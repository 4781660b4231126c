// An executor of receipts: the agent's own function behind the gate. It runs once the gate, or a person, has let it through, on the input
// as that person may have edited it, and what comes of it is reported.
//
//   COUNTERSIGN_AGENT_KEY=svc_agent_… npm run example:executor -- '{"to": "sales@steel.example", "text": "Does the price hold?"}'
//
// COUNTERSIGN_URL names the service. The agent needs a grant of email.send. What it has sent stands in sent.jsonl, or SENT_FILE.
import { appendFileSync } from 'node:fs';
import { Countersign, isCountersignError } from '@countersign/sdk';

const { COUNTERSIGN_URL, COUNTERSIGN_AGENT_KEY, SENT_FILE } = process.env;
const sdk = new Countersign({ url: COUNTERSIGN_URL ?? 'http://localhost:3000', credential: COUNTERSIGN_AGENT_KEY });

// Replace it by what yours does; throw to fail.
function send(mail, { executionId }) {
  appendFileSync(SENT_FILE ?? 'sent.jsonl', `${JSON.stringify({ executionId, ...mail })}\n`);
  return { sentTo: mail.to };
}

const governed = sdk.governed(send, 'email.send', {
  action: 'Send a mail',
  onPending: ({ hitlRequestId, expiresAt }) => console.log(`a person is asked until ${expiresAt}: ${hitlRequestId}`),
});
try {
  console.log('done', JSON.stringify(await governed(JSON.parse(process.argv[2] ?? '{"to": "sales@steel.example"}'))));
} catch (error) {
  if (!isCountersignError(error)) throw error;
  console.error(`not done: ${error.message}`);
  process.exitCode = 1;
}
