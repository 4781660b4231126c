// Requests for the pages of decisions, and links as mails have them.
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { asRoot } from './sign-in-steps.mjs';

const INPUT = {
  to: 'harbour.master@example.org', subject: 'Berth 7 from Tuesday on',
  body: 'Good morning,\n\nwe would like to move the Aurora to berth 7.\nPlease confirm until noon.\n',
  attachments: [{ name: 'crew-\u202egnp.pdf', bytes: 48_213 }], urgent: false,
};

/** @returns makers of requests by agents of their own, in the first organization */
export async function askedIn(server) {
  const call = (method, path, body) => asRoot(server, method, `/api/v1${path}`, body);
  const request = async ({ onBehalfOf, quorum = false } = {}) => {
    const grants = [{ capability: 'email.send', hitlMode: 'propose', ...(quorum ? { quorum: { approvals: 2 } } : {}) }];
    const { agent } = await call('POST', '/agents', { name: 'Port Agent', riskLevel: 'high', grants });
    const context = { purpose: 'moving ships', ...(onBehalfOf === undefined ? {} : { on_behalf_of: onBehalfOf }) };
    const asked = await call('POST', '/execute', { agentId: agent.id, capability: 'email.send', input: INPUT, context });
    return asked.hitlRequestId;
  };
  const [{ id: organizationId }] = (await call('GET', '/organizations')).organizations;
  const mailed = async () => {
    await call('PATCH', `/organizations/${organizationId}`, { settings: { decideByMail: true } });
    const id = await request();
    const token = randomBytes(32).toString('base64url');
    await withDatabase(server, (client) => client.query(
      `insert into mail_tokens (organization_id, token_hash, hitl_request_id, user_id, digest, created_at, expires_at)
       select q.organization_id, $2, q.id, (select u.id from users u where u.organization_id = q.organization_id order by u.id limit 1),
         q.digest, clock_timestamp(), q.expires_at from hitl_requests q where q.id = $1`,
      [id, createHash('sha256').update(token).digest('hex')],
    ));
    const page = `${server.origin}/hitl/${id}`;
    return { id, approve: `${page}/approve?token=${token}`, reject: `${page}/reject?token=${token}` };
  };
  return { request, mailed };
}

async function withDatabase(server, work) {
  const client = new pg.Client({ connectionString: server.databaseUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
