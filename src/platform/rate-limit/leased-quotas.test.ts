import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type QuotaLease, LeasedQuotas, type QuotaSource, type QuotaTerms, type QuotaAnswer } from './leased-quotas.js';

const WINDOW_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Time that a test sets: timers that are due run in their order, and nothing really waits. */
class Timeline {
  now = 0;
  private readonly due: { at: number; happen: () => void }[] = [];

  after(delay: number, happen: () => void): void {
    this.due.push({ at: this.now + delay, happen });
  }

  async advance(by: number): Promise<void> {
    const until = this.now + by;
    for (;;) {
      await settled();
      const next = this.due.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.due.splice(this.due.indexOf(next), 1);
      this.now = next.at;
      next.happen();
    }
    this.now = until;
  }
}

/** Lets everything that waits for a promise go on. */
const settled = () => new Promise((done) => setImmediate(done));

/** What lease_quota_v1 does, with the way there and back taking their time. */
class SharedCount implements QuotaSource {
  leases = 0;
  /** By subject: when its windows began. */
  readonly windows = new Map<string, number[]>();
  private readonly rows = new Map<string, { until: number; taken: number }>();
  private nth = 0;

  constructor(
    private readonly time: Timeline,
    private readonly delays: readonly number[] = [0],
  ) {}

  lease(subject: string, limit: number, wanted: number, windowSeconds: number): Promise<QuotaLease> {
    this.leases++;
    return new Promise((answer) => {
      this.time.after(this.delay(), () => {
        const grant = this.grant(subject, limit, wanted, windowSeconds * 1_000);
        this.time.after(this.delay(), () => answer(grant));
      });
    });
  }

  private delay(): number {
    return this.delays[this.nth++ % this.delays.length]!;
  }

  private grant(subject: string, limit: number, wanted: number, windowMs: number): QuotaLease {
    let row = this.rows.get(subject);
    if (row === undefined || row.until <= this.time.now) {
      row = { until: this.time.now + windowMs, taken: 0 };
      this.rows.set(subject, row);
      this.windows.set(subject, [...(this.windows.get(subject) ?? []), this.time.now]);
    }
    const granted = Math.max(0, Math.min(wanted, limit - row.taken));
    row.taken += granted;
    return { granted, taken: row.taken, endsInMs: row.until - this.time.now };
  }
}

interface Passed {
  readonly subject: string;
  readonly at: number;
}

interface Circumstances extends Partial<QuotaTerms> {
  readonly replicas?: number;
  readonly delays?: readonly number[];
}

/** Replicas of one installation, and a record of what they let through. */
function installation(limit: number, { replicas = 1, delays = [0], ...terms }: Circumstances = {}) {
  const time = new Timeline();
  const count = new SharedCount(time, delays);
  const passed: Passed[] = [];
  const answers: (QuotaAnswer | undefined)[] = [];
  const quotas = Array.from({ length: replicas }, () =>
    new LeasedQuotas(count, { limit, windowSeconds: WINDOW_MS / 1_000, capacity: 1_000, now: () => time.now, ...terms }));
  const call = (replica = 0, subject = 'agent:a') => {
    const answered = (answer: QuotaAnswer | undefined) => {
      answers.push(answer);
      if (answer?.allowed) passed.push({ subject, at: time.now });
      return answer;
    };
    const asked = quotas[replica]!.take(subject);
    return asked instanceof Promise ? asked.then(answered) : answered(asked);
  };
  return { time, count, passed, answers, call };
}

/** The most that was let through in any window of any subject. */
function most(passed: readonly Passed[], windows: ReadonlyMap<string, readonly number[]>): number {
  const counts = new Map<string, number>();
  for (const { subject, at } of passed) {
    const began = windows.get(subject)!.filter((start) => start <= at).at(-1)!;
    const key = `${subject} ${began}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

describe('leased quotas', () => {
  test('over several replicas never more than the limit passes in a window, whatever the delays', async () => {
    const step = fc.record({
      replica: fc.nat(2),
      subject: fc.constantFrom('agent:a', 'agent:b'),
      calls: fc.integer({ min: 1, max: 12 }),
      then: fc.oneof(fc.nat(40), fc.integer({ min: 10_000, max: 40_000 })),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 45 }), fc.array(fc.nat(30), { minLength: 1, maxLength: 9 }), fc.array(step, { maxLength: 30 }),
        async (limit, delays, steps) => {
          const { time, count, passed, answers, call } = installation(limit, { replicas: 3, delays });
          for (const { replica, subject, calls, then } of steps) {
            for (let i = 0; i < calls; i++) void call(replica, subject);
            await time.advance(then);
          }
          await time.advance(5_000);
          expect(most(passed, count.windows)).toBeLessThanOrEqual(limit);
          expect(answers).toHaveLength(steps.reduce((sum, { calls }) => sum + calls, 0));
          expect(answers).not.toContain(undefined);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([1, 2, 7, 40, 300])('whoever asks every replica until it refuses gets all of %i calls, not one more', async (limit) => {
    const { time, passed, call } = installation(limit, { replicas: 3, delays: [1, 3, 2] });
    for (let i = 0; i < limit + 20; i++) {
      for (const replica of [0, 1, 2]) void call(replica);
      await time.advance(10);
    }
    expect(passed).toHaveLength(limit);
  });

  test('what is left of a lease is worth nothing once its window has ended, however long the answer took', async () => {
    const { time, count, passed, call } = installation(40, { replicas: 2, delays: [0, 30] });
    void call(0);
    await time.advance(WINDOW_MS);
    for (const [replica, calls] of [[0, 3], [1, 60], [0, 5]] as const) {
      for (let i = 0; i < calls; i++) void call(replica);
      await time.advance(2_000);
    }
    expect(count.windows.get('agent:a')).toEqual([0, WINDOW_MS]);
    expect(most(passed, count.windows)).toBe(40);
  });

  test('calls that come at once are let through up to the limit', async () => {
    const { time, passed, answers, call } = installation(40, { delays: [5] });
    for (let i = 0; i < 100; i++) void call();
    await time.advance(1_000);
    expect(passed).toHaveLength(40);
    expect(answers.filter((answer) => answer?.allowed === false)).toHaveLength(60);
  });

  test('a call costs no lease of its own, and only the first one waits', async () => {
    const { time, count, call } = installation(6_000, { delays: [2] });
    void call();
    await time.advance(10);
    let waited = 0;
    for (let i = 1; i < 3_000; i++) {
      if (call() instanceof Promise) waited++;
      if (i % 50 === 0) await time.advance(10);
    }
    expect(waited).toBe(0);
    expect(count.leases).toBeLessThanOrEqual(11);
  });

  test('a refused caller is not asked about again until the window ends, and passes then', async () => {
    const { time, count, call } = installation(20, { delays: [1] });
    for (let i = 0; i < 25; i++) {
      void call();
      await time.advance(10);
    }
    const leases = count.leases;
    const refused = call() as QuotaAnswer;
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused.endsInMs).toBeGreaterThan(WINDOW_MS - 1_000);
    for (let i = 0; i < 1_000; i++) expect(call()).toMatchObject({ allowed: false });
    expect(count.leases).toBe(leases);

    await time.advance(refused.endsInMs);
    const again = call();
    await time.advance(10);
    expect(await again).toMatchObject({ allowed: true });
  });

  test('says how many calls are left, and for how long', async () => {
    const { time, call } = installation(100, { delays: [0] });
    const seen: (QuotaAnswer | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      void Promise.resolve(call()).then((answer) => seen.push(answer));
      await time.advance(1_000);
    }
    expect(seen.map((answer) => answer?.remaining)).toEqual([99, 98, 97, 96]);
    expect(seen.map((answer) => answer?.endsInMs)).toEqual([60_000, 59_000, 58_000, 57_000]);
  });

  test('subjects do not share a quota', async () => {
    const { time, passed, call } = installation(20);
    for (let i = 0; i < 50; i++) void call(0, 'agent:a');
    void call(0, 'agent:b');
    await time.advance(100);
    expect(passed.filter(({ subject }) => subject === 'agent:b')).toHaveLength(1);
  });

  test('whoever falls out of memory leases anew, and gets no more than the limit for it', async () => {
    const { time, count, passed, call } = installation(20, { capacity: 2 });
    for (let i = 0; i < 60; i++) {
      for (const subject of ['agent:a', 'agent:b', 'agent:c']) void call(0, subject);
      await time.advance(1);
    }
    expect(passed.length).toBeGreaterThan(0);
    expect(most(passed, count.windows)).toBeLessThanOrEqual(20);
  });
});

describe('when no lease can be had', () => {
  const away = new Error('away');

  test('nobody can say, and the source is not asked by each call', async () => {
    const failures: unknown[] = [];
    let asked = 0;
    let now = 0;
    const source = { lease: () => (asked++, Promise.reject(away)) };
    const onAway = (error: unknown) => failures.push(error);
    const quotas = new LeasedQuotas(source, { limit: 20, windowSeconds: 60, capacity: 10, onAway, now: () => now });
    for (let i = 0; i < 100; i++) expect(await quotas.take(`address:${i}`)).toBeUndefined();
    expect(asked).toBe(1);
    now = 251;
    expect(await quotas.take('address:1')).toBeUndefined();
    expect(asked).toBe(2);
    expect(failures).toEqual([away, away]);
  });

  test('a source that never answers holds nobody up for ever', async () => {
    const silent = { lease: () => new Promise<QuotaLease>(() => undefined) };
    const quotas = new LeasedQuotas(silent, { limit: 20, windowSeconds: 60, capacity: 10 });
    // The limiter's own timer keeps no process alive, so the test holds one open.
    const open = setInterval(() => undefined, 1_000);
    expect(await quotas.take('agent:a')).toBeUndefined();
    clearInterval(open);
  });

  test('a subject whose lease is late is refused leases alone; when several in a row are late, everybody is', async () => {
    const slow = new Set(['agent:slow']);
    const asked: string[] = [];
    const source = {
      lease: (subject: string) => {
        asked.push(subject);
        const grant = { granted: 9, taken: 20, endsInMs: HOUR_MS };
        return slow.has(subject) ? new Promise<QuotaLease>(() => undefined) : Promise.resolve(grant);
      },
    };
    let now = 0;
    const quotas = new LeasedQuotas(source, { limit: 20, windowSeconds: 3_600, capacity: 10, now: () => now });
    const open = setInterval(() => undefined, 1_000);
    expect(await quotas.take('agent:slow')).toBeUndefined();
    expect(await quotas.take('agent:slow')).toBeUndefined();
    expect(await quotas.take('agent:a')).toMatchObject({ allowed: true });
    expect(asked).toEqual(['agent:slow', 'agent:a']);

    now = 251;
    slow.add('agent:b').add('agent:c').add('agent:d');
    const late = ['agent:slow', 'agent:b', 'agent:c'].map(async (subject) => quotas.take(subject));
    expect(await Promise.all(late)).toEqual([undefined, undefined, undefined]);
    expect(await quotas.take('agent:e')).toBeUndefined();
    now = 502;
    expect(await quotas.take('agent:e')).toMatchObject({ allowed: true });
    clearInterval(open);
    expect(asked.slice(2)).toEqual(['agent:slow', 'agent:b', 'agent:c', 'agent:e']);
  });

  test('what was leased is used up first, and whoever is known to have nothing left stays refused', async () => {
    const grants: QuotaLease[] = [{ granted: 2, taken: 40, endsInMs: HOUR_MS }];
    const source = { lease: () => (grants.length > 0 ? Promise.resolve(grants.shift()!) : Promise.reject(away)) };
    const quotas = new LeasedQuotas(source, { limit: 40, windowSeconds: 3_600, capacity: 10 });
    const seen: (boolean | undefined)[] = [];
    for (let i = 0; i < 4; i++) seen.push((await quotas.take('agent:a'))?.allowed);
    expect(seen).toEqual([true, true, false, false]);
  });
});
