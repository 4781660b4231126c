// What notifications cost: the gate beside receivers that hang, requests with and without channels, and how fast deliveries are.
import { setTimeout as delay } from 'node:timers/promises';
import { OutboundGuard } from '../../src/platform/outbound/outbound-guard.js';
import { bodyOf } from '../figures.js';
import { median } from '../measure.js';
import { residentBytes } from '../processes.js';
import { cell, table, whole } from '../report.js';
import type { Goal } from '../goals.js';
import type { Study, StudyContext } from '../study.js';
import { CALLS_PER_SECOND, NotifyScene, RECEIVERS, REQUESTS_PER_SECOND, type Stretch } from './notify-scene.js';

const HANGING = RECEIVERS / 10;
const WAITING = 10_000;
const MANY_WAITING = 100_000;
const POSTS = 3_000;
/** As the worker delivers to one receiver. */
const POSTS_AT_ONCE = 2;

export const notifyStudy: Study = {
  key: 'notify',
  onlyWhenNamed: true,
  run: async (context) => {
    const { progress, options } = context;
    const count = Math.max(1, options.pairs);
    progress.begin('Notifications: organizations and receivers', 1);
    const scene = await NotifyScene.open(context, (share) => progress.to(share));
    try {
      progress.begin('Notifications: the gate beside receivers that hang', 2 * count + 1);
      const hanging = await besideHanging(scene, count, options.seconds, () => progress.step());
      progress.begin('Notifications: requests with and without channels', 2 * count);
      const channels = await withChannels(context, scene, count, () => progress.step());
      progress.begin(`Notifications: ${whole(WAITING)} waiting deliveries`, 2);
      const speed = await deliveriesPerSecond(context, scene, () => progress.step());
      progress.begin(`Notifications: ${whole(MANY_WAITING)} waiting deliveries`, 1);
      const memory = await memoryWith(context, scene);
      const measured = { hanging, channels, speed, memory };
      return { text: textOf(hanging, channels, speed, memory), values: { figure: 'notify', ...measured }, goals: goalsOf(measured) };
    } finally {
      await scene.close();
    }
  },
};

interface Hanging {
  readonly none: readonly Stretch[];
  readonly some: readonly Stretch[];
}

async function besideHanging(scene: NotifyScene, count: number, seconds: number, done: () => void): Promise<Hanging> {
  const found: { none: Stretch[]; some: Stretch[] } = { none: [], some: [] };
  // Nobody is measured cold.
  await scene.stretch(seconds);
  done();
  for (let n = 0; n < count; n++) {
    for (const side of n % 2 === 0 ? (['none', 'some'] as const) : (['some', 'none'] as const)) {
      await scene.hang(side === 'some' ? HANGING : 0);
      found[side].push(await scene.stretch(seconds));
      await scene.hang(0);
      await scene.clear();
      done();
    }
  }
  return found;
}

interface Channels {
  readonly on: readonly number[];
  readonly off: readonly number[];
}

async function withChannels(
  { stage, load, options }: StudyContext, scene: NotifyScene, count: number, done: () => void,
): Promise<Channels> {
  const found: { on: number[]; off: number[] } = { on: [], off: [] };
  const chat = { webhookUrl: `${scene.receiverUrl}/chat` };
  for (let n = 0; n < count; n++) {
    for (const side of n % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      await scene.set(scene.first, 'webhook', side === 'on', scene.webhook(RECEIVERS));
      for (const channel of ['slack', 'teams']) await scene.set(scene.first, channel, side === 'on', chat);
      const order = {
        url: `${stage.governed.url}/api/v1/execute`, tokens: [scene.firstToken], body: bodyOf('email.send'),
        connections: options.connections,
      };
      await load.run({ ...order, seconds: options.warmUpSeconds });
      const { requestsPerSecond, failed } = await load.run({ ...order, seconds: options.seconds });
      if (failed > 0) throw new Error(`notify: ${failed} requests failed`);
      found[side].push(requestsPerSecond);
      await scene.clear();
      done();
    }
  }
  return found;
}

interface Speed {
  readonly delivered: number;
  readonly posted: number;
}

/** The same posts, by the worker and by the guard alone. */
async function deliveriesPerSecond(context: StudyContext, scene: NotifyScene, done: () => void): Promise<Speed> {
  await scene.set(scene.first, 'webhook', true, scene.webhook(RECEIVERS));
  for (const channel of ['slack', 'teams']) await scene.set(scene.first, channel, false, { webhookUrl: `${scene.receiverUrl}/chat` });
  await scene.clear();
  await scene.arrived();
  await insertWaiting(context, scene.first, WAITING);
  const begun = performance.now();
  while ((await scene.waiting()) > 0) await delay(50);
  const delivered = WAITING / ((performance.now() - begun) / 1_000);
  done();
  const guard = new OutboundGuard({ production: false, allow: ['127.0.0.1'] });
  let next = 0;
  const posting = performance.now();
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, async () => {
    while (next++ < POSTS) {
      const outcome = await guard.fetch(`${scene.receiverUrl}/hook/${RECEIVERS}`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: bodyOf('email.send'), maxBytes: 65_536, timeoutMs: 10_000,
      });
      if (outcome.kind !== 'answered') throw new Error('notify: a post was not answered');
    }
  }));
  done();
  return { delivered, posted: POSTS / ((performance.now() - posting) / 1_000) };
}

/** Resident memory of the server, before and while so many wait for a receiver that hangs. */
async function memoryWith(context: StudyContext, scene: NotifyScene): Promise<{ readonly before: number; readonly waiting: number }> {
  const { pid } = context.stage.governed;
  await scene.clear();
  await delay(2_000);
  const before = residentBytes(pid) ?? NaN;
  await scene.hang(RECEIVERS + 1);
  await insertWaiting(context, scene.first, MANY_WAITING);
  await delay(15_000);
  const waiting = residentBytes(pid) ?? NaN;
  await scene.hang(0);
  await scene.clear();
  return { before, waiting };
}

async function insertWaiting({ stage }: StudyContext, organizationId: string, count: number): Promise<void> {
  await stage.database.query(
    `insert into notification_deliveries (organization_id, id, event_id, event, channel, target, priority, hitl_request_id, occurred_at,
       state, available_at, created_at)
     select q.organization_id, 'dlv_bench' || lpad(n::text, 20, '0'), -n, 'hitl.request.created', 'webhook', '', 'normal', q.id,
       clock_timestamp(), 'waiting', clock_timestamp(), clock_timestamp()
     from (select organization_id, id from hitl_requests where organization_id = $1 limit 1) q, generate_series(1, $2) n`,
    [organizationId, count]);
}

function goalsOf({ hanging: { none, some }, channels: { on, off }, speed: { delivered, posted }, memory: { before, waiting } }: {
  readonly hanging: Hanging; readonly channels: Channels; readonly speed: Speed;
  readonly memory: { readonly before: number; readonly waiting: number };
}): Goal[] {
  const of = (stretches: readonly Stretch[], read: (stretch: Stretch) => number) => median(stretches.map(read));
  const gate = (stretches: readonly Stretch[]) => of(stretches, ({ gateP99 }) => gateP99);
  return [
    { what: 'gate p99, a tenth of the receivers hanging to none', value: gate(some) / gate(none), wanted: 1.15, bound: 'most' },
    { what: 'requests created, three channels to none', value: median(on) / median(off), wanted: 0.7 },
    { what: 'request to webhook, p95', value: of(none, ({ p95 }) => p95), wanted: 1_000, bound: 'most', unit: 'ms' },
    { what: 'deliveries to posts by the guard alone', value: delivered / posted, wanted: 0.5 },
    { what: 'memory, deliveries waiting to before', value: waiting / before, wanted: 1.15, bound: 'most' },
  ];
}

const ratio = (one: number, other: number) => cell(one / other, 2);

function textOf(
  { none, some }: Hanging, { on, off }: Channels, { delivered, posted }: Speed, { before, waiting }: { before: number; waiting: number },
): string {
  const of = (stretches: readonly Stretch[], read: (stretch: Stretch) => number) => median(stretches.map(read));
  const gate = (stretches: readonly Stretch[]) => of(stretches, ({ gateP99 }) => gateP99);
  const row = (name: string, found: readonly Stretch[]) => [
    name, cell(gate(found)), whole(of(found, ({ gatePerSecond }) => gatePerSecond)), cell(of(found, ({ p50 }) => p50)),
    cell(of(found, ({ p95 }) => p95)),
  ];
  return [
    '',
    `  The gate beside notifications: p99 with ${HANGING} of ${RECEIVERS} receivers hanging `
      + `${ratio(gate(some), gate(none))} × that with none`,
    '',
    ...table(['', 'gate p99 ms', 'gate calls/s', 'to webhook p50 ms', 'p95 ms'], [row('none hang', none), row('some hang', some)], false),
    '',
    `  ${CALLS_PER_SECOND} calls and ${REQUESTS_PER_SECOND} requests a second; from a request's commit until its webhook is received.`,
    `  Requests created with three channels on: ${whole(median(on))} a second, ${ratio(median(on), median(off))} × the `
      + `${whole(median(off))} with none`,
    `  Deliveries with ${whole(WAITING)} waiting: ${whole(delivered)} a second, ${ratio(delivered, posted)} × the ${whole(posted)} of the `
      + 'guard alone',
    `  Memory with ${whole(MANY_WAITING)} waiting: ${whole(waiting / 2 ** 20)} MiB, ${ratio(waiting, before)} × the `
      + `${whole(before / 2 ** 20)} MiB before`,
    '',
  ].join('\n');
}
