import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AuditEvent } from '../../../src/domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../src/domain/audit/entry/chain.js';
import { definitionDigest } from '../../../src/domain/gate/definition-digest.js';
import { newId } from '../../../src/domain/ids.js';
import type { Verification } from '../../../src/modules/audit/verification/verification-result.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { forge } from '../../support/log/forged-entry.js';
import { aDecidedLog, decide, known, type DecidedLog } from '../../support/memory/decided-log.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { restingOnNow } from '../../support/log/resting-on.js';
import { verifiedLog } from '../../support/log/verified-log.js';

const DEFINITION = definitionDigest({});

let server: TestServer;
let receiver: Receiver;
let story: DecidedLog;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination } });
  story = await aDecidedLog(server, receiver);
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

/** What replay says: that forged entries have no rows is another matter. */
async function replayed(): Promise<Verification> {
  const outcome = await verifiedLog(server.database.url);
  return { ...outcome, breaks: outcome.breaks.filter(({ kind }) => kind !== 'incomplete') };
}

interface Held {
  readonly agent: BuiltAgent;
  readonly grantId: string;
  readonly capability: string;
}

async function held(capability: string, terms: GrantTerms, more: Readonly<Record<string, unknown>> = {}): Promise<Held> {
  const agent = await anAgent(server).inOrganization(story.organizationId).having(more).granted(capability, terms).create();
  const listed = (await asRoot(server).get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200);
  return { agent, capability, grantId: (listed.list('grants') as { id: string }[])[0]!.id };
}

type Forged = AuditEvent & { readonly by?: string };

/** @returns the ids of the entries */
async function forged({ agent }: Pick<Held, 'agent'>, ...events: readonly Forged[]): Promise<string[]> {
  const ids = events.map(() => newId('audit'));
  const run = (sql: string, parameters: unknown[]) => server.sql<Record<string, unknown>>(sql, parameters);
  const recorded = await Promise.all(events.map(async ({ by = agent.id, ...event }) =>
    ({ by, ...(await restingOnNow(run, story.organizationId, event as AuditEvent, by)) })));
  await forge(server.database, ...recorded.map(({ by, ...event }, i) => [
    { ...event, chain: agentChain(story.organizationId, agent.id), agentId: agent.id },
    { id: ids[i]!, actorId: by, timestamp: new Date() },
  ] as const));
  return ids;
}

const started = ({ capability, grantId }: Held, more: object = {}): Forged => ({
  type: 'execution.started', capability,
  metadata: { executionId: newId('exec'), grantId, grantVersion: 1, definition: DEFINITION, input: {}, reasons: [], ...more },
} as Forged);

const created = ({ capability, grantId }: Held, hitlId: string, executionId: string, mode = 'propose'): Forged => ({
  type: 'hitl.created', capability,
  metadata: {
    hitlId, capability, input: {}, hitlMode: mode, expiresAt: new Date(Date.now() + 1_800_000).toISOString(), digest: 'd', executionId,
    grantId, grantVersion: 1, definition: DEFINITION, level: mode === 'escalate' ? 2 : 0,
  },
} as Forged);

const approved = ({ capability }: Held, hitlId: string, by: string, more: object = {}): Forged =>
  ({ type: 'hitl.approved', capability, metadata: { hitlId, digest: 'd', ...more }, by } as Forged);

/** Asked, approved by somebody, begun. @returns ids of the three entries */
async function ran(grant: Held, by: string, mode = 'propose', more: object = {}): Promise<string[]> {
  const [hitlId, executionId] = [newId('hitl'), newId('exec')];
  const [asked] = await forged(grant, created(grant, hitlId, executionId, mode));
  const [decision] = await forged(grant, approved(grant, hitlId, by, more));
  const [begun] = await forged(grant, started(grant, { executionId, hitlId, decisionId: decision }));
  return [asked!, decision!, begun!];
}

type Case = readonly [what: string, make: () => Promise<string>, detail: RegExp];

const CASES: readonly Case[] = [
  ['begun without the approval that its grant asks for', async () => {
    const grant = await held('email.send', { hitlMode: 'propose' });
    return (await forged(grant, started(grant)))[0]!;
  }, /the gate asks a person first \(propose\)/],
  ['money moved at once', async () => {
    const grant = await held('finance.transfer', { hitlMode: 'auto' });
    return (await forged(grant, started(grant)))[0]!;
  }, /the gate asks a person first \(escalate\)/],
  ['begun under what blocks it', async () => {
    const grant = await held('web.search', { hitlMode: 'block' });
    return (await forged(grant, started(grant)))[0]!;
  }, /the gate blocks it/],
  ['begun though a condition held', async () => {
    const grant = await held('web.search', { conditions: [{ when: 'input.amount > 10', hitlMode: 'propose' }] });
    return (await forged(grant, started(grant, { input: { amount: 11 } })))[0]!;
  }, /the gate asks a person first/],
  ['another version of its grant', async () => {
    const grant = await held('web.search', {});
    return (await forged(grant, started(grant, { grantVersion: 2 })))[0]!;
  }, /the grant stood at version 1, not at 2/],
  ["somebody else's grant", async () => {
    const [grant, other] = [await held('web.search', {}), await held('web.search', {})];
    return (await forged(grant, started({ ...grant, grantId: other.grantId })))[0]!;
  }, /grant grt_\w+ was not the one that held/],
  ['another definition', async () => {
    const grant = await held('web.search', {});
    return (await forged(grant, started(grant, { definition: 'x'.repeat(43) })))[0]!;
  }, /was not defined as it says/],
  ['a grant that had run out', async () => {
    const grant = await held('web.search', {});
    const metadata = {
      grantId: grant.grantId, version: 2, capability: 'web.search', hitlMode: 'auto', timeoutAction: 'reject',
      expiresAt: new Date(Date.now() - 20_000).toISOString(),
    } as const;
    const changed: Forged = { type: 'capability.config_updated', capability: 'web.search', metadata } as Forged;
    return (await forged(grant, changed, started(grant, { grantVersion: 2 })))[1]!;
  }, /The grant has expired/],
  ['a grant that was revoked', async () => {
    const grant = await held('web.search', {});
    (await asRoot(server).delete(`/api/v1/capabilities/grant/${grant.grantId}`)).expect(204);
    return (await forged(grant, started(grant)))[0]!;
  }, /was not the one that held/],
  ['an agent out of service', async () => {
    const grant = await held('web.search', {});
    (await asRoot(server).post(`/api/v1/agents/${grant.agent.id}/deactivate`)).expect(200);
    return (await forged(grant, started(grant)))[0]!;
  }, /The agent is deactivated/],
  ['while a stop held it', async () => {
    const grant = await held('web.search', {});
    (await asRoot(server).post('/api/v1/stops', { scope: 'agent', id: grant.agent.id, reason: 'no more' })).expect(201);
    return (await forged(grant, started(grant)))[0]!;
  }, /A stop holds this agent/],
  ['what no token held', async () => {
    const grant = await held('file.read', {});
    const later = (await asRoot(server).post('/api/v1/capabilities/grant',
      { agentId: grant.agent.id, capability: 'web.search', hitlMode: 'auto' })).expect(201);
    const got = { ...grant, capability: 'web.search', grantId: later.text('grant.id') };
    return (await forged(got, started(got)))[0]!;
  }, /no token or key of the agent held the capability/],
  ['a decision that is another request\'s', async () => {
    const grant = await held('email.send', { hitlMode: 'propose' });
    const [, decision] = await ran(grant, story.admin.id);
    return (await forged(grant, started(grant, { decisionId: decision })))[0]!;
  }, /no approval stands before it/],
  ['one approval for two', async () => {
    const grant = await held('email.send', { hitlMode: 'propose' });
    const [hitlId, executionId] = [newId('hitl'), newId('exec')];
    await forged(grant, created(grant, hitlId, executionId));
    const [decision] = await forged(grant, approved(grant, hitlId, story.admin.id));
    const once = started(grant, { executionId, hitlId, decisionId: decision });
    return (await forged(grant, once, once))[1]!;
  }, /no approval stands before it/],
  ['something else than what was approved', async () => {
    const grant = await held('email.send', { hitlMode: 'propose' });
    const [hitlId, executionId] = [newId('hitl'), newId('exec')];
    await forged(grant, created(grant, hitlId, executionId));
    const [decision] = await forged(grant, approved(grant, hitlId, story.admin.id));
    return (await forged(grant, started(grant, { executionId, hitlId, decisionId: decision, input: { to: 'eve' } })))[0]!;
  }, /what began is not what hitl_\w+ asked for/],
  ['approved by a viewer', async () => {
    const viewer = await known(server, 'viewer', story.organizationId);
    return (await ran(await held('email.send', { hitlMode: 'propose' }), viewer.id))[1]!;
  }, /may not decide at level 0/],
  ['approved by a lead where an admin has to', async () =>
    (await ran(await held('phone.call', { hitlMode: 'auto' }, { teamId: story.teamId }), story.lead.id, 'escalate'))[1]!,
  /may not decide at level 2/],
  ['approved by nobody whom the log knows', async () =>
    (await ran(await held('email.send', { hitlMode: 'propose' }), newId('usr')))[1]!, /nobody called usr_\w+ is there/],
  ['approved by time before its end', async () =>
    (await ran(await held('email.send', { hitlMode: 'propose', hitlTimeoutAction: 'approve' }), 'system'))[1]!, /its time was not over/],
  ['approved by one of two', async () =>
    (await ran(await held('email.send', { hitlMode: 'propose', quorum: { approvals: 2 } }), story.admin.id))[1]!,
  /2 people have to approve, and the log knows of 1/],
  ['glass broken by an admin', async () =>
    (await ran(await held('email.send', { hitlMode: 'propose', quorum: { approvals: 2 } }), story.admin.id, 'propose',
      { breakGlass: true }))[1]!,
  /is no owner/],
  ['another digest than what stood', async () =>
    (await ran(await held('email.send', { hitlMode: 'propose' }), story.admin.id, 'propose', { digest: 'other' }))[1]!,
  /the approved digest is not that of the version that stood/],
  ['blocked without a reason', async () => {
    const grant = await held('web.search', {});
    return (await forged(grant, {
      type: 'execution.blocked', capability: 'web.search', metadata: { reason: 'capability blocked by policy', input: {} },
    }))[0]!;
  }, /the gate lets it run \(auto\)/],
];

test('entries that fit the chain, of decisions that the gate never made, are found, each in plain words', async () => {
  expect((await replayed()).breaks).toEqual([]);
  const made = new Map<string, Case>();
  for (const one of CASES) made.set(await one[1](), one);
  const { breaks, ...outcome } = await replayed();
  expect(outcome).toMatchObject({ valid: false, verdict: 'tampered' });
  for (const [entryId, [what, , detail]] of made) {
    const found = breaks.find((one) => one.entryId === entryId);
    expect({ what, ...found }).toMatchObject({ what, kind: 'gate_wrong', detail: expect.stringMatching(detail) });
  }
  // Nothing else: what led to each of them was right.
  const others = breaks.filter(({ entryId }) => entryId === null || !made.has(entryId));
  expect(others.filter(({ detail }) => !/\(execution\.started\)/.test(detail))).toEqual([]);
});

test('the same entries, rightly made, are right', async () => {
  const before = ((await replayed()).members['replay'] as { wrong: number }).wrong;
  const grant = await held('email.send', { hitlMode: 'propose' });
  await ran(grant, story.admin.id);
  await forged(await held('web.search', {}).then(async (free) => (await forged(free, started(free)), free)));
  const asked = await story.ask('email.send', { to: 'ida' });
  (await decide(story.member, asked, 'approve')).expect(200);
  expect(((await replayed()).members['replay'] as { wrong: number }).wrong).toBe(before);
});
