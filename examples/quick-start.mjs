// An agent asks, a person approves, and the log says so.   COUNTERSIGN_KEY=svc_root_… npm run example:quick-start
import { Countersign } from '@countersign/sdk';

const url = process.env.COUNTERSIGN_URL ?? 'http://localhost:3000';
const root = new Countersign({ url, credential: process.env.COUNTERSIGN_KEY });
const { token } = await root.agents.register({ name: 'purchasing', grants: [{ capability: 'email.send', hitlMode: 'propose' }] });
const sdk = new Countersign({ url, credential: token });
// Here root stands for the person, who sees the request and says yes.
const onPending = async ({ hitlRequestId }) => root.hitl.approve(await root.hitl.get(hitlRequestId));
const outcome = await sdk.execute('email.send', { to: 'sales@steel.example' }, { waitForApproval: true, onPending });
console.log(outcome.status, outcome.auditId);
