import { describe, expect, it } from '@jest/globals';
import { append, sourceOf, type MemoryLog } from '../../../test/support/memory-log.js';
import { agentChain } from '../../domain/audit/chain.js';
import { newId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/principal.js';
import { scopeOfEverything, scopeOfOrganization, type Scope } from '../../platform/auth/scope.js';
import { verification, type Verification } from './verification.js';
import { SharedVerifications, type Begun, type SharedState, type TakeTurn } from './verification/shared-verifications.store.js';
import { TURN_SECONDS, VerificationTurns } from './verification-turns.store.js';
import { LogVerifier, VerifyLogService } from './verify-log.service.js';

const AGENT = newId('agt');

/** A log in memory that counts how often it is read, and can be held or away. */
class LogInMemory extends LogVerifier {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };
  readings = 0;
  away = false;
  private gate: Promise<void> = Promise.resolve();

  constructor() {
    super();
    const stamp = { id: newId('audit'), actorId: 'root', timestamp: new Date(0) };
    const event = { type: 'agent.activated', metadata: { epoch: 1 } } as const;
    append(this.log, { chain: agentChain('org_a', AGENT), agentId: AGENT, ...event }, stamp);
  }

  hold(): () => void {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  async verify(_scope: Scope, agentId: string | undefined): Promise<Verification> {
    this.readings++;
    await this.gate;
    if (this.away) throw new Error('the database is away');
    return verification(sourceOf(this.log), performance.now(), agentId === undefined ? {} : { agentId });
  }
}

/** What replicas share, in memory: each service is one of them. */
class SharedInMemory extends SharedVerifications {
  private readonly known = new Map<string, { begunAt: string; by: string; outcome?: Verification; ended: boolean }>();
  private begun = 0;
  private last: Promise<unknown> = Promise.resolve();

  /** One after the other, as a row's lock has it. */
  begin(scope: string, by: string, takeTurn: TakeTurn): Promise<Begun> {
    const begun = this.last.then(() => this.beginNext(scope, by, takeTurn));
    this.last = begun;
    return begun;
  }

  private async beginNext(scope: string, by: string, takeTurn: TakeTurn): Promise<Begun> {
    const known = this.known.get(scope);
    if (known && !known.ended) return { begunAt: known.begunAt };
    const inSeconds = await takeTurn(() => Promise.reject(new Error('there is no database here')));
    if (inSeconds > 0) return { inSeconds };
    this.known.set(scope, { begunAt: String(++this.begun), by, ended: false });
    return 'ours';
  }

  async tell(): Promise<void> {}

  async end(scope: string, _by: string, outcome: Verification | undefined): Promise<void> {
    const known = this.known.get(scope)!;
    this.known.set(scope, { ...known, ended: true, ...(outcome ? { outcome } : {}) });
  }

  async look(scope: string, begunAt: string): Promise<SharedState> {
    const known = this.known.get(scope);
    if (known?.begunAt !== begunAt) return 'gone';
    if (known.outcome) return { outcome: known.outcome };
    return known.ended ? 'gone' : { running: true };
  }
}

/** Turns by a clock that the test sets, in seconds. */
class TurnsInMemory extends VerificationTurns {
  now = 0;
  private readonly begun = new Map<string, number>();

  async take(credential: string): Promise<number> {
    const left = (this.begun.get(credential) ?? -Infinity) + TURN_SECONDS - this.now;
    if (left > 0) return Math.ceil(left);
    this.begun.set(credential, this.now);
    return 0;
  }

  async giveBack(credential: string): Promise<void> {
    this.begun.delete(credential);
  }
}

const verifying = (log: LogInMemory, turns = new TurnsInMemory(), shared: SharedVerifications = new SharedInMemory()) =>
  new VerifyLogService(log, turns, shared);

const root = (keyHash: string): Caller => ({ principal: { kind: 'root', keyHash }, scope: scopeOfEverything(), actorId: 'root' });

describe('verification on request', () => {
  it('tells what it read, and that no checkpoint vouches for it yet', async () => {
    const service = verifying(new LogInMemory());
    expect(await service.verify(root('a'), undefined)).toEqual({
      valid: true, verdict: 'valid_unanchored', chains: 1, entries: 1, uncovered: 1, checkpoint: null, anchorsNotCompared: [],
      breaks: [], breaksFound: 0, durationMs: expect.any(Number), members: {}, notes: [],
    });
  });

  it('calls a broken log tampered, and names the place', async () => {
    const reader = new LogInMemory();
    reader.log.entries[0] = { ...reader.log.entries[0]!, actorId: 'usr_z' };
    const outcome = await verifying(reader).verify(root('a'), AGENT);
    expect(outcome).toMatchObject({ valid: false, verdict: 'tampered', breaksFound: 1 });
    expect(outcome.breaks).toEqual([
      {
        chain: AGENT, position: 1, entryId: reader.log.entries[0].id, kind: 'column_mismatch',
        detail: `entry 1 of chain ${AGENT} has a changed column: its column actor_id differs from the hashed payload`,
      },
    ]);
  });

  it('runs once a minute for each credential', async () => {
    const turns = new TurnsInMemory();
    const service = verifying(new LogInMemory(), turns);
    await service.verify(root('a'), undefined);
    turns.now = 58.5;
    await expect(service.verify(root('a'), undefined)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      extras: { headers: { 'Retry-After': '2' } },
    });
    await service.verify(root('b'), undefined);
    turns.now = 60;
    await service.verify(root('a'), undefined);
  });

  it('gives a second caller the answer of the one that runs, of the same part of the log only', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.hold();
    const other: Caller = { ...root('c'), scope: scopeOfOrganization('org_b') };
    const asked = [service.verify(root('a'), undefined), service.verify(root('b'), undefined), service.verify(other, undefined)];
    open();
    const [first, second, third] = await Promise.all(asked);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(reader.readings).toBe(2);
    await service.verify(root('d'), undefined);
    expect(reader.readings).toBe(3);
  });

  it('gives callers of another replica the answer of the one that runs, and takes over from one that could not', async () => {
    const [reader, shared, turns] = [new LogInMemory(), new SharedInMemory(), new TurnsInMemory()];
    const [here, there] = [verifying(reader, turns, shared), verifying(reader, turns, shared)];
    const open = reader.hold();
    const first = here.verify(root('a'), undefined);
    const second = there.verify(root('b'), undefined);
    open();
    expect(await second).toEqual(await first);
    expect(reader.readings).toBe(1);

    reader.away = true;
    const again = reader.hold();
    const failing = here.verify(root('c'), undefined);
    const waiting = there.verify(root('d'), undefined);
    again();
    await expect(failing).rejects.toThrow('away');
    await expect(waiting).rejects.toThrow('away');
    expect(reader.readings).toBe(3);
  });

  it('gives the same caller the answer of their own that still runs, on either replica, and counts it once', async () => {
    const [reader, shared, turns] = [new LogInMemory(), new SharedInMemory(), new TurnsInMemory()];
    const [here, there] = [verifying(reader, turns, shared), verifying(reader, turns, shared)];
    const open = reader.hold();
    const first = here.verify(root('a'), undefined);
    const again = here.verify(root('a'), undefined);
    const elsewhere = there.verify(root('a'), undefined);
    // Another part of the log is another verification.
    await expect(there.verify(root('a'), AGENT)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    open();
    expect(await again).toEqual(await first);
    expect(await elsewhere).toEqual(await first);
    expect(reader.readings).toBe(1);
    await expect(there.verify(root('a'), undefined)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('takes no turn of who has only shared one', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.hold();
    const asked = [service.verify(root('a'), undefined), service.verify(root('b'), undefined)];
    open();
    await Promise.all(asked);
    expect((await service.verify(root('b'), undefined)).valid).toBe(true);
    expect(reader.readings).toBe(2);
  });

  it('refuses only who has no turn: whoever asked with them begins their own', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
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

  it('knows no agent without entries, and counts no question for one', async () => {
    const service = verifying(new LogInMemory());
    for (const unknown of [newId('agt'), newId('agt'), 'agt']) {
      await expect(service.verify(root('a'), unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    expect((await service.verify(root('a'), AGENT)).chains).toBe(1);
  });
});
