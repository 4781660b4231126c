import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/running/eventually.js';
import { append, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { scopeOfEverything, scopeOfOrganization, scopeOfOrganizations, type Scope } from '../../../platform/auth/access/scope.js';
import { verification, type Verification } from './verification-result.js';
import { SharedVerifications, type Begun, type SharedState, type TakeTurn } from './superseded/shared-verifications.store.js';
import type { House } from './superseded/verification-places.js';
import { VerifiedParts } from './superseded/verified-parts.store.js';
import { VERIFICATION_INTERVAL_SECONDS, VerificationRateLimit } from './verification-rate-limit.store.js';
import { LogVerifier, VerifyLogService } from './verify-log.service.js';

const AGENT = newId('agt');

/** A log in memory that counts how often it is read, and can be held or away. */
class LogInMemory extends LogVerifier {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };
  readings = 0;
  /** How many were read at a time, and of the same organizations, at the most. */
  most = { all: 0, same: 0 };
  away = false;
  private readonly reading: string[] = [];
  private gate: Promise<void> = Promise.resolve();

  constructor() {
    super();
    this.add(AGENT);
  }

  add(agentId: string): string {
    const stamp = { id: newId('audit'), actorId: 'root', timestamp: new Date(0) };
    const event = { type: 'agent.activated', metadata: { epoch: 1 } } as const;
    append(this.log, { chain: agentChain('org_a', agentId), agentId, ...event }, stamp);
    return agentId;
  }

  hold(): () => void {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  async verify({ organizations }: Scope, agentId: string | undefined): Promise<Verification> {
    this.readings++;
    const of = String(organizations);
    this.reading.push(of);
    const same = this.reading.filter((one) => one === of).length;
    this.most = { all: Math.max(this.most.all, this.reading.length), same: Math.max(this.most.same, same) };
    await this.gate;
    this.reading.splice(this.reading.indexOf(of), 1);
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
    const refused = await takeTurn(() => Promise.reject(new Error('there is no database here')));
    if (refused) return { refused };
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
class TurnsInMemory extends VerificationRateLimit {
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

/** Of a log in memory, whoever sees it. A tenant's organizations begin with its name. */
class PartsInMemory extends VerifiedParts {
  constructor(private readonly log: LogInMemory) {
    super();
  }

  async houseOf({ organizations }: Scope): Promise<House> {
    return organizations === 'all' ? ['everything'] : [...new Set(organizations.map((id) => id.split('/')[0]!))];
  }

  async hasChain(_scope: Scope, agentId: string): Promise<boolean> {
    return this.log.log.heads.some(({ chain }) => chain === agentId);
  }

  async hasTrace(_scope: Scope, agentId: string): Promise<boolean> {
    return this.log.log.leaves.some(({ chain }) => chain === agentId);
  }
}

const verifying = (log: LogInMemory, turns = new TurnsInMemory(), shared: SharedVerifications = new SharedInMemory()) =>
  new VerifyLogService(log, turns, shared, new PartsInMemory(log));

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

  it('reads nothing for an agent without entries, however many ask', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const asked = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => service.verify(root(`${n}`), newId('agt'))));
    expect(asked.map((one) => one.status === 'rejected' && (one.reason as { code: string }).code)).toEqual(asked.map(() => 'NOT_FOUND'));
    expect(reader.readings).toBe(0);
  });

  it('tells of an agent of which all is gone but a leaf', async () => {
    const reader = new LogInMemory();
    [reader.log.entries, reader.log.heads] = [[], []];
    expect(await verifying(reader).verify(root('a'), AGENT)).toMatchObject({ verdict: 'tampered' });
  });
});

describe('verifications at a time', () => {
  const inOrganization = (n: number): Caller => ({ ...root(`key ${n}`), scope: scopeOfOrganization(`org_${n}`) });
  /** Four that run, each of another organization. */
  const full = async (reader: LogInMemory, service: VerifyLogService) => {
    const running = [1, 2, 3, 4].map((n) => service.verify(inOrganization(n), undefined));
    await eventually(() => {
      expect(reader.readings).toBe(4);
    });
    return running;
  };

  it('are few on a server, and fewer of the same organizations: the others wait, and all are answered', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.hold();
    const agents = Array.from({ length: 6 }, () => reader.add(newId('agt')));
    const inOne = (n: number): Caller => ({ ...inOrganization(0), principal: { kind: 'root', keyHash: `${n}` } });
    const ofOne = agents.map((agentId, n) => service.verify(inOne(n), agentId));
    await eventually(() => {
      expect(reader.readings).toBe(2);
    });
    const ofMany = agents.map((_, n) => service.verify(inOrganization(n + 1), undefined));
    await eventually(() => {
      expect(reader.readings).toBe(4);
    });
    open();
    expect((await Promise.all([...ofOne, ...ofMany])).every(({ valid }) => valid)).toBe(true);
    expect(reader.most).toEqual({ all: 4, same: 2 });
  });

  it('are as few of one tenant, whichever of its organizations are asked for, while another tenant is served', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    const open = reader.hold();
    const parts = [['a/1'], ['a/2'], ['a/1', 'a/2'], ['a/2', 'a/1'], ['a/3']];
    const ofOne = parts.map(([home, ...others], n) =>
      service.verify({ ...root(`of one ${n}`), scope: scopeOfOrganizations(home!, others) }, undefined));
    await eventually(() => {
      expect(reader.readings).toBe(2);
    });
    const [other, operator] = [service.verify(inOrganization(1), undefined), service.verify(root('operator'), undefined)];
    await eventually(() => {
      expect(reader.readings).toBe(4);
    });
    open();
    expect((await Promise.all([...ofOne, other, operator])).every(({ valid }) => valid)).toBe(true);
  });

  it('that find no place are told so and have begun none; what runs is shared without one, on another replica too', async () => {
    const [reader, shared, turns] = [new LogInMemory(), new SharedInMemory(), new TurnsInMemory()];
    const [here, there] = [verifying(reader, turns, shared), verifying(reader, turns, shared)];
    const open = reader.hold();
    const running = await full(reader, here);
    const elsewhere = there.verify(inOrganization(5), undefined);
    const sharing = [1, 5].map((n) => here.verify({ ...inOrganization(n), principal: { kind: 'root', keyHash: 'x' } }, undefined));
    await expect(here.verify(inOrganization(6), undefined)).rejects.toMatchObject({
      code: 'UNAVAILABLE', extras: { headers: { 'Retry-After': '30' } },
    });
    open();
    expect(await Promise.all(sharing)).toEqual([await running[0], await elsewhere]);
    expect(reader.readings).toBe(5);
    expect((await here.verify(inOrganization(6), undefined)).valid).toBe(true);
  });

  it('are as few where what another replica is said to have found is not its word', async () => {
    class Forged extends SharedInMemory {
      override begin = async (): Promise<Begun> => ({ begunAt: 'a moment' });
      override look = async (): Promise<SharedState> => 'doubtful';
    }
    const reader = new LogInMemory();
    const service = verifying(reader, new TurnsInMemory(), new Forged());
    await Promise.all([1, 2, 3, 4, 5, 6].map((n) => service.verify(inOrganization(n), undefined)));
    expect([reader.readings, reader.most.all]).toEqual([6, 4]);
  });

  it('that fail give their place back', async () => {
    const reader = new LogInMemory();
    const service = verifying(reader);
    reader.away = true;
    for (let n = 0; n < 8; n++) await expect(service.verify(inOrganization(n), undefined)).rejects.toThrow('away');
    reader.away = false;
    expect((await service.verify(inOrganization(8), undefined)).valid).toBe(true);
  });
});
