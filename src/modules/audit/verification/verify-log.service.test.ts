import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/running/eventually.js';
import { append, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { scopeOfEverything, scopeOfOrganization, type Scope } from '../../../platform/auth/access/scope.js';
import type { DatabaseVerifier } from './database-verifier.query.js';
import { verification, type Verification } from './verification-result.js';
import { VERIFICATION_INTERVAL_SECONDS, type VerificationRateLimitStore } from './verification-rate-limit.store.js';
import { VerifyLogService } from './verify-log.service.js';

const AGENT = newId('agt');

/** A log in memory that counts how often it is read, and can be stopped or away. */
class LogInMemory implements Pick<DatabaseVerifier, 'isNamed' | 'verify'> {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };
  readings = 0;
  /** How many were read at a time, at the most. */
  most = 0;
  away = false;
  private reading = 0;
  private gate: Promise<void> = Promise.resolve();

  constructor() {
    const stamp = { id: newId('audit'), actorId: 'root', timestamp: new Date(0) };
    append(this.log, { chain: agentChain('org_a', AGENT), agentId: AGENT, type: 'agent.activated', metadata: { epoch: 1 } }, stamp);
  }

  /** @returns lets the readings go on */
  stop(): () => void {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  async isNamed(_scope: Scope, agentId: string): Promise<boolean> {
    return [...this.log.heads, ...this.log.leaves].some(({ chain }) => chain === agentId);
  }

  async verify(_scope: Scope, agentId: string | undefined): Promise<Verification> {
    this.readings++;
    this.most = Math.max(this.most, ++this.reading);
    await this.gate;
    this.reading--;
    if (this.away) throw new Error('the database is away');
    return verification(sourceOf(this.log), performance.now(), agentId === undefined ? {} : { agentId });
  }
}

/** By a clock that the test sets, in seconds. */
class LimitInMemory implements Pick<VerificationRateLimitStore, 'take' | 'giveBack'> {
  now = 0;
  private readonly begun = new Map<string, number>();

  async take(credential: string): Promise<number> {
    const left = (this.begun.get(credential) ?? -Infinity) + VERIFICATION_INTERVAL_SECONDS - this.now;
    if (left > 0) return Math.ceil(left);
    this.begun.set(credential, this.now);
    return 0;
  }

  async giveBack(credential: string): Promise<void> {
    this.begun.delete(credential);
  }
}

const verifying = (log: LogInMemory, limit = new LimitInMemory()) => new VerifyLogService(log, limit);

const root = (keyHash: string): Caller => ({ principal: { kind: 'root', keyHash }, scope: scopeOfEverything(), actorId: 'root' });
const inOrganization = (n: number, keyHash = `key ${n}`): Caller => ({ ...root(keyHash), scope: scopeOfOrganization(`org_${n}`) });

describe('verification on request', () => {
  it('reports what it read, and that no checkpoint covers it yet', async () => {
    expect(await verifying(new LogInMemory()).verify(root('a'), undefined)).toEqual({
      valid: true, verdict: 'valid_unanchored', chains: 1, entries: 1, uncovered: 1, checkpoint: null, anchorsNotCompared: [],
      breaks: [], breaksFound: 0, durationMs: expect.any(Number), members: {}, notes: [],
    });
  });

  it('calls a changed log tampered, and names the entry', async () => {
    const reader = new LogInMemory();
    reader.log.entries[0] = { ...reader.log.entries[0]!, actorId: 'usr_z' };
    const found = await verifying(reader).verify(root('a'), AGENT);
    expect(found).toMatchObject({ valid: false, verdict: 'tampered', breaksFound: 1 });
    expect(found.breaks).toEqual([
      {
        chain: AGENT, position: 1, entryId: reader.log.entries[0].id, kind: 'column_mismatch',
        detail: `entry 1 of chain ${AGENT} has a changed column: its column actor_id differs from the hashed payload`,
      },
    ]);
  });

  it('runs once a minute for each credential', async () => {
    const limit = new LimitInMemory();
    const service = verifying(new LogInMemory(), limit);
    await service.verify(root('a'), undefined);
    limit.now = 58.5;
    await expect(service.verify(root('a'), undefined)).rejects.toMatchObject({
      code: 'RATE_LIMITED', extras: { headers: { 'Retry-After': '2' } },
    });
    await service.verify(root('b'), undefined);
    limit.now = 60;
    await service.verify(root('a'), undefined);
  });

  it('gives everybody who asks meanwhile the answer of the one that runs, of the same part of the log only', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.stop();
    const first = service.verify(root('a'), undefined);
    await eventually(() => expect(reader.readings).toBe(1));
    const others = ['a', 'b'].map((key) => service.verify(root(key), undefined));
    await expect(service.verify(root('a'), AGENT)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const elsewhere = service.verify(inOrganization(1), undefined);
    open();
    for (const other of others) expect(await other).toBe(await first);
    expect(await elsewhere).not.toBe(await first);
    expect(reader.readings).toBe(2);
    // Who only joined has not begun one.
    await service.verify(root('b'), undefined);
    await expect(service.verify(root('a'), undefined)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('begins one for callers who ask at the same moment, and starts the minute of one of them', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const found = await Promise.all(['a', 'b'].map((key) => service.verify(root(key), undefined)));
    expect(found[1]).toBe(found[0]);
    const again = await Promise.allSettled(['a', 'b'].map((key) => service.verify(root(key), undefined)));
    expect(again.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('refuses only the credential whose minute is not over', async () => {
    const service = verifying(new LogInMemory());
    await service.verify(root('a'), undefined);
    const [refused, run] = await Promise.allSettled([service.verify(root('a'), undefined), service.verify(root('b'), undefined)]);
    expect([refused.status, run.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('does not count a verification that could not be done', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    reader.away = true;
    await expect(service.verify(root('a'), undefined)).rejects.toThrow('away');
    reader.away = false;
    expect((await service.verify(root('a'), undefined)).valid).toBe(true);
  });

  it('knows no agent without entries, reads nothing for it, and counts no question for it', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    for (const unknown of [newId('agt'), newId('agt'), 'agt']) {
      await expect(service.verify(root('a'), unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(reader.readings).toBe(0);
    expect((await service.verify(root('a'), AGENT)).chains).toBe(1);
  });

  it('reports an agent of which everything but a leaf is gone', async () => {
    const reader = new LogInMemory();
    [reader.log.entries, reader.log.heads] = [[], []];
    expect(await verifying(reader).verify(root('a'), AGENT)).toMatchObject({ verdict: 'tampered' });
  });
});

describe('the queue of a server', () => {
  const refused = { code: 'UNAVAILABLE', extras: { headers: { 'Retry-After': '30' } } };

  it('runs two at a time, and the others in the order in which they came', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.stop();
    const done: number[] = [];
    const asked = Array.from({ length: 6 }, (_, n) => service.verify(inOrganization(n), undefined).then(() => done.push(n)));
    await eventually(() => expect(reader.readings).toBe(2));
    open();
    await Promise.all(asked);
    expect([reader.most, done]).toEqual([2, [0, 1, 2, 3, 4, 5]]);
  });

  it('takes four for the same organizations, and sixteen in all; who is refused has begun none', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.stop();
    await expect(Promise.race([
      ...Array.from({ length: 5 }, (_, n) => service.verify(inOrganization(0, `${n}`), n === 0 ? undefined : AGENT)),
    ])).rejects.toMatchObject(refused);
    const others = Array.from({ length: 12 }, (_, n) => service.verify(inOrganization(n + 1), undefined));
    await expect(service.verify(inOrganization(20), undefined)).rejects.toMatchObject(refused);
    open();
    expect((await Promise.all(others)).every(({ valid }) => valid)).toBe(true);
    expect((await service.verify(inOrganization(20), undefined)).valid).toBe(true);
  });

  it('gives the slot of one that failed to the next', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    reader.away = true;
    for (let n = 0; n < 8; n++) await expect(service.verify(inOrganization(n), undefined)).rejects.toThrow('away');
    reader.away = false;
    expect((await service.verify(inOrganization(8), undefined)).valid).toBe(true);
  });
});
