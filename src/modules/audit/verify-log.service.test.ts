import { describe, expect, it } from '@jest/globals';
import { append, sourceOf, type MemoryLog } from '../../../test/support/memory-log.js';
import { agentChain } from '../../domain/audit/chain.js';
import type { LogSource } from '../../domain/audit/verify.js';
import { newId } from '../../domain/ids.js';
import type { ReadStatement } from '../../platform/audit/record-keepers.js';
import type { Caller } from '../../platform/auth/principal.js';
import { scopeOfEverything, scopeOfOrganization, type Scope } from '../../platform/auth/scope.js';
import { TURN_SECONDS, type VerificationTurns } from './verification-turns.store.js';
import { VerifyLogService, type ReadsLog } from './verify-log.service.js';

const AGENT = newId('agt');

/** A log in memory that counts how often it is read, and can be held or away. */
class LogInMemory implements ReadsLog {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };
  readings = 0;
  away = false;
  private gate: Promise<void> = Promise.resolve();

  constructor() {
    const stamp = { id: newId('audit'), actorId: 'root', timestamp: new Date(0) };
    const event = { type: 'agent.activated', metadata: { epoch: 1 } } as const;
    append(this.log, { chain: agentChain('org_a', AGENT), agentId: AGENT, ...event }, stamp);
  }

  hold(): () => void {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  async reading<Result>(_scope: Scope, read: (source: LogSource, run: ReadStatement) => Promise<Result>): Promise<Result> {
    this.readings++;
    await this.gate;
    if (this.away) throw new Error('the database is away');
    return read(sourceOf(this.log), async () => []);
  }
}

/** Turns by a clock that the test sets, in seconds. */
class TurnsInMemory implements VerificationTurns {
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

const verifying = (log: LogInMemory, turns = new TurnsInMemory()) => new VerifyLogService(log, turns, { all: () => [] });

const root = (keyHash: string): Caller => ({ principal: { kind: 'root', keyHash }, scope: scopeOfEverything(), actorId: 'root' });

describe('verification on request', () => {
  it('tells what it read, and that no checkpoint vouches for it yet', async () => {
    const service = verifying(new LogInMemory());
    expect(await service.verify(root('a'), undefined)).toEqual({
      valid: true, verdict: 'valid_unanchored', chains: 1, entries: 1, checkpoint: null, breaks: [], breaksFound: 0,
      durationMs: expect.any(Number),
      judged: { completeness: { checked: 0, breaks: 0 }, replay: { right: 0, wrong: 0, notReplayable: {} } },
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

  it('does not count a verification that could not be done', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    reader.away = true;
    await expect(service.verify(root('a'), undefined)).rejects.toThrow('away');
    reader.away = false;
    expect((await service.verify(root('a'), undefined)).valid).toBe(true);
  });

  it('knows no agent without entries', async () => {
    const service = verifying(new LogInMemory());
    await expect(service.verify(root('a'), newId('agt'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(service.verify(root('b'), 'agt')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await service.verify(root('b'), AGENT)).chains).toBe(1);
  });
});
