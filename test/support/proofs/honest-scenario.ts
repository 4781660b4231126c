import { randomBytes } from 'node:crypto';
import { as, asRoot, type Client } from '../http/actors.js';
import { anAgent } from '../builders/agents.js';
import type { Receiver } from '../http/receiver.js';
import type { TestServer } from '../servers/server.js';
import { done, oneOf } from './races.js';

/** What a grant may say: of every kind some. */
export const TERMS: readonly (Readonly<Record<string, unknown>> & { readonly hitlMode: string })[] = [
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
/** Those with which an agent begins: without limits, quorums and short windows. */
const FIRST_TERMS = TERMS.slice(0, 9);

export const CAPABILITIES = ['web.search', 'email.send', 'data.write', 'crm.push', 'phone.call'] as const;
const CUSTOMERS = ['ann archer', 'bob barker', 'cyd carter', 'dee draper', 'eve elder', 'fay fisher', 'gus gardner', 'hal hunter'];

export interface HonestAgent {
  readonly id: string;
  token: string;
  /** What was once granted to the agent or its team. */
  readonly capabilities: Set<string>;
}

/** A task that nobody has seen ended. */
export interface HonestTask {
  readonly id: string;
  readonly to: HonestAgent;
  readonly capability: string;
  readonly input: object;
}

/** Two organizations of a tenant, people of every role, agents of a team; and what of their work is still open. */
export interface HonestScenario {
  readonly servers: readonly TestServer[];
  /** Those of them that were killed and are not back. */
  readonly away: Set<TestServer>;
  /** Agents work in the second; in the first is an owner, who may act in both. */
  readonly organizations: readonly [string, string];
  readonly people: { readonly id: string; readonly token: string }[];
  readonly agents: HonestAgent[];
  /** Ids of agents that are out of service. */
  readonly inactive: Set<string>;
  readonly teamId: string;
  /** Whom agents' inputs are about. */
  readonly customers: readonly string[];
  /** Ids of requests that nobody has seen ended. */
  readonly requests: Set<string>;
  /** By id. */
  readonly tasks: Map<string, HonestTask>;
  /** Whether any may be in force: of one that nobody was answered about the server alone knows. */
  readonly stops: { mayBe: boolean };
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

export type Surroundings = Pick<HonestScenario, 'servers' | 'away' | 'coverage'> & { readonly receiver: Receiver };

export const INTERNAL_KEY = 'q3Vt8LmYx2Kd7Wp5Rz1Nc6Hs4Jf9BgTe';

export async function honestScenario({ servers, away, receiver, coverage }: Surroundings, random: () => number): Promise<HonestScenario> {
  const [server] = servers as [TestServer];
  const tenant = (await done(() => asRoot(server).post('/internal/v1/tenants', { name: 'Acme', tier: 'enterprise' }))).expect(201);
  const first = tenant.text('tenant.firstOrganizationId');
  const owner = await aPerson(server, 'owner', first);
  const made = await done(() => as(server, owner.token).post('/api/v1/organizations', { name: 'Second' }));
  const second = made.expect(201).text('organization.id');
  const roles = ['owner', 'admin', 'admin', 'member', 'member', 'viewer'];
  const people = [owner, ...(await Promise.all(roles.map((role) => aPerson(server, role, second))))];
  const admin = as(server, people[2]!.token);
  const teamId = (await done(() => admin.post('/api/v1/teams', { name: 'mail' }))).expect(201).text('team.id');
  for (const [{ id }, role] of [[people[4]!, 'lead'], [people[5]!, 'member']] as const) {
    (await done(() => admin.post(`/api/v1/teams/${teamId}/members`, { userId: id, role }))).expect(201);
  }
  (await admin.post('/api/v1/capabilities', {
    name: 'crm.push', description: 'pushes', defaultHitlMode: 'auto',
    connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}', idempotent: true, timeoutSeconds: 2 },
  })).expect(201);
  const id = randomBytes(4).toString('hex');
  const scenario: HonestScenario = {
    servers, away, organizations: [first, second], teamId, people, agents: [], inactive: new Set(), requests: new Set(), tasks: new Map(),
    stops: { mayBe: false }, customers: CUSTOMERS.map((name) => `${name} ${id}`), random, coverage,
  };
  const ofTeam: Ties = { teamId };
  for (const ties of [ofTeam, ofTeam, ofTeam, { ownerId: people[5]!.id }]) await anHonestAgent(scenario, ties);
  return scenario;
}

export type Ties = { readonly teamId: string } | { readonly ownerId: string };

/** One more agent, with grants for most capabilities. */
export async function anHonestAgent(scenario: HonestScenario, ties: Ties): Promise<void> {
  const { random, organizations: [, second] } = scenario;
  const capabilities = new Set<string>(CAPABILITIES.filter(() => random() < 0.7));
  let building = anAgent(aServer(scenario)).inOrganization(second).tagged(...(random() < 0.5 ? ['eu'] : [])).having(ties);
  for (const capability of capabilities) building = building.granted(capability, oneOf(FIRST_TERMS, random));
  const { id, token } = await building.create();
  scenario.agents.push({ id, token, capabilities });
}

/** Whom the log knows, with a personal key. */
export async function aPerson(server: TestServer, role: string, organizationId: string): Promise<{ id: string; token: string }> {
  const root = asRoot(server);
  const email = `${role}-${randomBytes(6).toString('hex')}@example.test`;
  const made = await done(() => root.post('/api/v1/users', { email, role, organizationId }));
  const id = made.expect(201).text('user.id');
  const key = (await done(() => root.post(`/api/v1/users/${id}/keys`, { name: 'honest' }))).expect(201);
  return { id, token: JSON.stringify(key.body).match(/svc_user_[0-9a-f]+/)![0] };
}

/** One of the servers that are there. */
export function aServer({ servers, away, random }: HonestScenario): TestServer {
  return oneOf(servers.filter((server) => !away.has(server)), random);
}

/** Somebody at one of the servers. */
export function at(scenario: HonestScenario, who: 'root' | { readonly token: string }): Client {
  const server = aServer(scenario);
  return who === 'root' ? asRoot(server) : as(server, who.token);
}
