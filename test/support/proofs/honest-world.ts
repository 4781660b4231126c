import { randomBytes } from 'node:crypto';
import { as, asRoot, type Client } from '../http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../builders/agents.js';
import type { Receiver } from '../http/receiver.js';
import type { TestServer } from '../servers/server.js';
import { oneOf } from './races.js';

/** What a grant may say: of every kind some. */
export const TERMS: readonly GrantTerms[] = [
  ...['auto', 'notify', 'propose', 'escalate', 'block', 'on_risk'].map((hitlMode) => ({ hitlMode })),
  { hitlMode: 'auto', conditions: [{ when: 'now.getSeconds() % 2 == 0', hitlMode: 'propose' }] },
  {
    hitlMode: 'auto',
    conditions: [{ when: 'now.getMilliseconds() % 3 == 0', hitlMode: 'block' }, { when: 'input.n > 5', hitlMode: 'propose' }],
  },
  { hitlMode: 'auto', conditions: [{ when: '"eu" in agent.tags', hitlMode: 'propose' }] },
  { hitlMode: 'auto', limits: [{ max: 3, per: 'minute', then: 'propose' }] },
  { hitlMode: 'propose', quorum: { approvals: 2 } }, { hitlMode: 'propose', quorum: { approvals: 2, groups: [{ role: 'admin' }] } },
  ...['approve', 'reject', 'escalate', 'notify_only'].map((hitlTimeoutAction) =>
    ({ hitlMode: 'propose', hitlTimeoutSeconds: 1, hitlTimeoutAction })),
];

export const CAPABILITIES = ['web.search', 'email.send', 'data.write', 'crm.push', 'phone.call'] as const;

/** Two organizations of a tenant, people of every role, agents of a team; and what of their work is still open. */
export interface HonestWorld {
  readonly servers: readonly TestServer[];
  readonly archive: string;
  readonly organizations: readonly [string, string];
  readonly people: { readonly id: string; readonly token: string }[];
  readonly agents: { readonly id: string; token: string }[];
  readonly teamId: string;
  readonly requests: { readonly id: string; digest?: string }[];
  readonly stops: string[];
  readonly random: () => number;
  /** How often each kind of operation was answered as done. */
  readonly coverage: Record<string, number>;
}

export const INTERNAL_KEY = 'q3Vt8LmYx2Kd7Wp5Rz1Nc6Hs4Jf9BgTe';

export async function honestWorld(
  servers: readonly TestServer[], receiver: Receiver, archive: string, random: () => number, coverage: Record<string, number>,
): Promise<HonestWorld> {
  const [server] = servers as [TestServer];
  const root = asRoot(server);
  const tenant = (await root.post('/internal/v1/tenants', { name: 'Acme', tier: 'enterprise' })).expect(201);
  const first = tenant.text('tenant.firstOrganizationId');
  const owner = await aPerson(server, 'owner', first);
  const second = (await as(server, owner.token).post('/api/v1/organizations', { name: 'Second' })).expect(201).text('organization.id');
  const people = [owner];
  for (const role of ['owner', 'admin', 'admin', 'member', 'member', 'viewer']) people.push(await aPerson(server, role, second));
  const admin = as(server, people[2]!.token);
  const teamId = (await admin.post('/api/v1/teams', { name: 'mail' })).expect(201).text('team.id');
  for (const [{ id }, role] of [[people[4]!, 'lead'], [people[5]!, 'member']] as const) {
    (await admin.post(`/api/v1/teams/${teamId}/members`, { userId: id, role })).expect(201);
  }
  (await admin.post('/api/v1/capabilities', {
    name: 'crm.push', description: 'pushes', defaultHitlMode: 'auto',
    connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}', idempotent: true, timeoutSeconds: 2 },
  })).expect(201);
  const agents: BuiltAgent[] = [];
  for (let n = 0; n < 4; n++) {
    let building = anAgent(server).inOrganization(second).tagged(...(n % 2 === 0 ? ['eu'] : []))
      .having({ ...(n < 3 ? { teamId } : {}), ...(n === 3 ? { ownerId: people[5]!.id } : {}) });
    for (const capability of CAPABILITIES.slice(0, 5 - n)) building = building.granted(capability, oneOf(TERMS.slice(0, 9), random));
    agents.push(await building.create());
  }
  return {
    servers, archive, organizations: [first, second], teamId, requests: [], stops: [], random, coverage,
    people, agents: agents.map(({ id, token }) => ({ id, token })),
  };
}

/** Whom the log knows, with a personal key. */
export async function aPerson(server: TestServer, role: string, organizationId: string): Promise<{ id: string; token: string }> {
  const root = asRoot(server);
  const made = await root.post('/api/v1/users', { email: `${role}-${randomBytes(6).toString('hex')}@example.test`, role, organizationId });
  const id = made.expect(201).text('user.id');
  const key = (await root.post(`/api/v1/users/${id}/keys`, { name: 'honest' })).expect(201);
  return { id, token: JSON.stringify(key.body).match(/svc_user_[0-9a-f]+/)![0] };
}

/** Somebody at one of the servers. */
export function at({ servers, random }: HonestWorld, who: 'root' | { readonly token: string }): Client {
  const server = oneOf(servers, random);
  return who === 'root' ? asRoot(server) : as(server, who.token);
}
