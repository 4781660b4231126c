import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { requestOf } from '../../support/builders/gate.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';
import { sweptTo, withoutSweeper } from '../../support/hitl/due-requests.js';

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  await keepEvents(server);
  root = asRoot(server);
});
afterAll(() => server.stop());

const WINDOW = 1_800;

interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
}

async function asked(reminders: readonly object[], terms: object = {}): Promise<Asked> {
  const agent = await anAgent(server)
    .granted('email.send', { hitlMode: 'propose', hitlTimeoutSeconds: WINDOW, reminders, ...terms }).create();
  const id = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');
  return { agent, id };
}

/** Time goes by: the window of this request, and its next reminder, come so much nearer. */
const later = ({ id }: Asked, seconds: number) => server.sql(
  `update hitl_requests set created_at = created_at - make_interval(secs => $2), expires_at = expires_at - make_interval(secs => $2),
     remind_at = remind_at - make_interval(secs => $2) where id = $1`, [id, seconds]);

const rowOf = async ({ id }: Asked) => (await server.sql<{ expires_at: Date; remind_at: Date | null; reminded_seconds: number | null }>(
  'select expires_at, remind_at, reminded_seconds from hitl_requests where id = $1', [id]))[0]!;

/** Seconds before the window's end at which the next reminder stands. */
async function nextOf(request: Asked): Promise<number | null> {
  const { expires_at, remind_at } = await rowOf(request);
  return remind_at === null ? null : (expires_at.getTime() - remind_at.getTime()) / 1_000;
}

async function recordedOf({ agent, id }: Asked): Promise<[string, string, object][]> {
  const entries = (await auditOf(server, agent.id)).filter(({ event, metadata }) => event !== 'hitl.created' && metadata.hitlId === id);
  return entries.map(({ event, actorId, metadata: { hitlId: _, ...said } }) => [event, actorId, said]);
}

/** News for people of one request, in the order in which they were written. */
const newsOf = async ({ id }: Asked) => (await keptEvents(server, id)).map(({ event }) => event);

const reminded = (secondsBefore: number) => ['hitl.reminded', 'system', { secondsBefore }];

const isRecorded = (request: Asked, ...recorded: unknown[]) =>
  eventually(async () => expect(await recordedOf(request)).toEqual(recorded), { every: 100 });

/** Somebody else's reminder that is due now has been given: the sweep has been by. */
async function sweepsGoBy(): Promise<void> {
  const other = await asked([{ secondsBefore: 60 }]);
  await later(other, WINDOW - 60);
  await isRecorded(other, reminded(60));
}

describe('a reminder', () => {
  test('is given when it is due, each once, and changes nothing of the request', async () => {
    const request = await asked([{ secondsBefore: 300 }, { secondsBefore: 60 }]);
    expect(await nextOf(request)).toBe(300);
    await sweepsGoBy();
    expect(await recordedOf(request)).toEqual([]);

    await later(request, WINDOW - 300);
    await isRecorded(request, reminded(300));
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'pending', escalation_level: 0, decided_at: null });
    expect(await nextOf(request)).toBe(60);
    await later(request, 240);
    await isRecorded(request, reminded(300), reminded(60));
    expect(await nextOf(request)).toBeNull();
    await sweepsGoBy();
    expect(await recordedOf(request)).toHaveLength(2);
    expect((await newsOf(request)).filter((event) => event === 'hitl.request.reminder')).toHaveLength(2);
    (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
  });

  test('of several that nobody gave in time people hear the last one', async () => {
    const request = await asked([{ secondsBefore: 600 }, { secondsBefore: 300 }, { secondsBefore: 60 }]);
    await later(request, WINDOW - 200);
    await isRecorded(request, reminded(300));
    expect(await nextOf(request)).toBe(60);
  });

  test('is not given once the window has ended', async () => {
    const request = await asked([{ secondsBefore: 60, escalate: true }]);
    await withoutSweeper(server, () => later(request, WINDOW));
    await sweptTo(server, request.id, 'timed_out');
    expect((await recordedOf(request)).map(([event]) => event)).toEqual(['hitl.timed_out']);
  });

  test('is not given of what was decided before', async () => {
    const request = await asked([{ secondsBefore: 60 }]);
    (await root.post(`/api/v1/hitl/${request.id}/reject`)).expect(200);
    await later(request, WINDOW - 60);
    await sweepsGoBy();
    expect((await recordedOf(request)).map(([event]) => event)).toEqual(['hitl.rejected']);
  });
});

describe('a reminder that escalates', () => {
  const expiresAt = expect.any(String);
  const running = (level: number) => ['hitl.escalated', 'system', { level, reason: 'the time to decide was running out', expiresAt }];

  test('moves the request up one level, in a new window with all of its reminders, up to level 2', async () => {
    const request = await asked([{ secondsBefore: 300 }, { secondsBefore: 60, escalate: true }]);
    await later(request, WINDOW - 60);
    await isRecorded(request, reminded(60), running(1));
    const seen = await requestOf(server, request.id);
    expect(seen).toMatchObject({ status: 'escalated', escalation_level: 1, escalation_reason: 'the time to decide was running out' });
    expect(Date.parse(String(seen['expires_at']))).toBeGreaterThan(Date.now() + (WINDOW - 60) * 1_000);
    expect([await nextOf(request), (await rowOf(request)).reminded_seconds]).toEqual([300, null]);
    expect(await newsOf(request)).toEqual(['hitl.request.created', 'hitl.request.escalated']);

    await later(request, WINDOW - 60);
    await isRecorded(request, reminded(60), running(1), reminded(60), running(2));
    await later(request, WINDOW - 300);
    await later(request, 240);
    // Admins are the last to ask: they are reminded, and that is all.
    await eventually(async () => expect((await recordedOf(request)).at(-1)).toEqual(reminded(60)), { every: 100 });
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'escalated', escalation_level: 2 });
    expect((await recordedOf(request)).filter(([event]) => event === 'hitl.escalated')).toHaveLength(2);
  });

  test('beside one that does not and was missed, it escalates once', async () => {
    const request = await asked([{ secondsBefore: 300, escalate: true }, { secondsBefore: 60 }]);
    await later(request, WINDOW - 30);
    await isRecorded(request, reminded(60), running(1));
  });

  test('an escalation by time begins with all reminders anew', async () => {
    const request = await asked([{ secondsBefore: 60 }], { hitlTimeoutAction: 'escalate' });
    await later(request, WINDOW - 60);
    await isRecorded(request, reminded(60));
    await later(request, 60);
    await sweptTo(server, request.id, 'escalated');
    expect([await nextOf(request), (await rowOf(request)).reminded_seconds]).toEqual([60, null]);
  });
});

describe('under a stop', () => {
  test('no reminder is given; it moves with the window, and comes in its time', async () => {
    const request = await asked([{ secondsBefore: 60, escalate: true }]);
    const stop = (await root.post('/api/v1/stops', { scope: 'agent', id: request.agent.id, reason: 'held' })).expect(201).text('stop.id');
    const before = await rowOf(request);
    // It has held for all but ten seconds of the window: both have stood still since.
    await server.sql('update stops set made_at = made_at - make_interval(secs => $2) where id = $1', [stop, WINDOW - 10]);
    await later(request, WINDOW - 10);
    await sweepsGoBy();
    expect(await recordedOf(request)).toEqual([]);
    (await root.delete(`/api/v1/stops/${stop}`)).expect(204);
    expect(await nextOf(request)).toBe(60);
    const after = await rowOf(request);
    expect(after.expires_at.getTime()).toBeGreaterThanOrEqual(before.expires_at.getTime() - 1_000);
    await sweepsGoBy();
    expect(await recordedOf(request)).toEqual([]);
    await later(request, WINDOW - 60);
    await isRecorded(request, reminded(60), ['hitl.escalated', 'system', expect.anything()]);
  });
});
