import type { DataSource, QueryRunner } from 'typeorm';
import { describe, expect, test } from '@jest/globals';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import { asService } from '../../auth/access/call-context.js';
import { CredentialSources } from '../../auth/credentials/credential-source.js';
import { type ReservedSlot, OutboxSignal } from '../../outbox/outbox-signal.js';
import type { JsonObject } from '../../../domain/json.js';
import type { IdempotencyKeys } from './idempotency.js';
import type { Tx } from './tx.js';
import { UnitOfWork } from './unit-of-work.js';

interface Notes {
  /** Of the statement that fails, the first whose text has this; all that is sent behind it fails with it. */
  refuses?: string;
  code?: string;
  /** Of the worker: for every effect. */
  place?: ReservedSlot;
}

/** A database that notes what it is told and when it has answered, and a worker that notes when it is called. */
function noting({ refuses, code, place }: Notes = {}) {
  const told: string[] = [];
  let failed = false;
  const answer = async (said: string): Promise<unknown[]> => {
    const isFirst = !failed && refuses !== undefined && said.includes(refuses);
    const isAborted = failed && said !== 'ROLLBACK';
    failed ||= isFirst;
    await new Promise(setImmediate);
    if (isAborted) throw new Error(`aborted: ${said}`);
    if (isFirst) throw Object.assign(new Error(`refused: ${said}`), { code });
    told.push(`answered ${said.slice(0, 12)}`);
    return said.includes('write_out_v1') ? [{ id: '7', createdAt: new Date(0), isClaimed: place !== undefined }] : [];
  };
  const runner = {
    isTransactionActive: false,
    connect: () => Promise.resolve(),
    query: (text: string | { text: string }) => {
      const said = typeof text === 'string' ? text : text.text;
      told.push(said);
      return answer(said);
    },
    startTransaction: () => {
      runner.isTransactionActive = true;
      return runner.query('START TRANSACTION');
    },
    commitTransaction: () => runner.query('COMMIT'),
    rollbackTransaction: () => runner.query('ROLLBACK'),
    release: () => Promise.resolve(void told.push('released')),
  };
  const bell = new OutboxSignal();
  bell.listen({ notify: (kinds) => told.push(`rung for ${[...kinds].join()}`), reserveSlot: () => place });
  const dataSource = { createQueryRunner: () => runner as unknown as QueryRunner, query: () => Promise.resolve([]) };
  const work = new UnitOfWork(dataSource as unknown as DataSource, new CredentialSources(), {} as IdempotencyKeys, bell);
  /** What was said, without the answers. */
  const said = () => told.filter((line) => !line.startsWith('answered'));
  return { work, told, said };
}

const effect = (payload: unknown) => ({ kind: 'notification.send', organizationId: 'org_1', payload: payload as JsonObject }) as const;

describe('the last statement and the commit are sent in one go', () => {
  test('in this order, and the connection is given back when both are answered', async () => {
    const { work, said } = noting();
    await work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ event: 'x' })));
    expect(said().slice(-4)).toEqual([expect.stringContaining('write_out_v1'), 'COMMIT', 'released', 'rung for notification.send']);
  });

  test('what cannot be said is followed by no commit', async () => {
    const { work, said } = noting();
    const story = work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ amount: 1n })));
    await expect(story).rejects.toThrow(/BigInt/);
    expect(said()).not.toContain('COMMIT');
    expect(said().slice(-2)).toEqual(['ROLLBACK', 'released']);
  });

  test('where the database refuses it, whoever asked is told that, not what became of the commit', async () => {
    const { work, said } = noting({ refuses: 'write_out_v1' });
    const story = work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ event: 'x' })));
    await expect(story).rejects.toThrow(/refused: [^]*write_out_v1/);
    expect(said().slice(-3)).toEqual(['COMMIT', 'ROLLBACK', 'released']);
  });
});

describe('what a story asks first', () => {
  test('is sent behind the locks, before they are answered', async () => {
    const { work, told } = noting();
    const plan = { chains: [], judges: ['org_1'] };
    await expect(work.runOn(plan, (tx) => tx.query('question'), async (_tx, known) => known)).resolves.toEqual([]);
    const lock = told.findIndex((line) => line.includes('take_hold_v1'));
    expect(told.slice(lock, lock + 2)).toEqual([expect.stringContaining('take_hold_v1'), 'question']);
  });

  test('is not told where the locks were not had', async () => {
    const { work, said } = noting({ refuses: 'take_hold_v1' });
    const story = work.runOn({ chains: [], judges: ['org_1'] }, (tx) => tx.query('question'), () => Promise.reject(new Error('told')));
    await expect(story).rejects.toThrow(/refused: select .* take_hold_v1/);
    expect(said()).not.toContain('COMMIT');
  });
});

describe('a change that is insisted on', () => {
  const insisting = async (tx: Tx) => tx.assertRowCount('update thing returning id', [], 1, () => new Error('too late'));

  test('is sent, and waited for with the commit', async () => {
    const { work, told } = noting();
    await work.run({ chains: [], leavesFacts: true }, insisting);
    const change = told.findIndex((line) => line.includes('update thing'));
    expect(told.slice(change, change + 2)).toEqual([expect.stringContaining('insist_v1'), 'COMMIT']);
  });

  test('fails the work in its own words where it does not hold, and in those of the database where that fails', async () => {
    await expect(noting({ refuses: 'update thing', code: 'CS003' }).work.run({ chains: [] }, insisting)).rejects.toThrow('too late');
    await expect(noting({ refuses: 'update thing' }).work.run({ chains: [] }, insisting)).rejects.toThrow(/refused: with changed/);
  });

  test('fails it so too where a later statement only tells that an earlier one has failed', async () => {
    const { work, said } = noting({ refuses: 'update thing', code: 'CS003' });
    const story = work.run({ chains: [] }, async (tx) => {
      await insisting(tx);
      await tx.query('select more');
    });
    await expect(story).rejects.toThrow('too late');
    expect(said()).not.toContain('COMMIT');
  });
});

describe('what verification holds against times', () => {
  const chain = agentChain('org_1', newId('agt'));
  const hitlId = newId('hitl');
  const rejected = { type: 'hitl.rejected', capability: 'email.send', metadata: { hitlId } } as const;
  const cancelled = { type: 'hitl.cancelled', capability: 'email.send', metadata: { hitlId, reason: 'stopped' } } as const;
  const recording = (...events: readonly AuditEvent[]) => (tx: Tx) =>
    asService('worker', async () => events.forEach((event) => void tx.record(chain, event)));

  test('is committed only where the clock that stamps it is right; it is asked once, and waited for with the commit', async () => {
    const { work, said } = noting();
    await work.run({ chains: [], leavesFacts: true }, recording(rejected, rejected));
    expect(said().filter((line) => /insist_v1.*now\(\)/.test(line))).toHaveLength(1);
    const refusing = noting({ refuses: 'insist_v1', code: 'CS003' });
    await expect(refusing.work.run({ chains: [], leavesFacts: true }, recording(rejected))).rejects.toMatchObject({
      code: 'UNAVAILABLE', detail: expect.stringContaining("clock and the database's differ by more than 5 s"),
    });
    expect(refusing.said().slice(-3)).toEqual(['COMMIT', 'ROLLBACK', 'released']);
  });

  test('what ends without a decision does not ask for it', async () => {
    const { work, said } = noting();
    await work.run({ chains: [], leavesFacts: true }, recording(cancelled));
    expect(said().filter((line) => line.includes('insist_v1'))).toEqual([]);
  });
});

describe('an effect for which this process has a place', () => {
  const enqueuing = async (tx: Tx) => tx.enqueue(effect({ event: 'x' }));

  function aPlace() {
    const events: unknown[] = [];
    return { events, place: { start: (row: unknown) => events.push(row), giveUp: () => events.push('given up') } };
  }

  test('is begun behind the commit, as it was written, and nobody is rung for', async () => {
    const { events, place } = aPlace();
    const { work, said } = noting({ place });
    await work.run({ chains: [] }, enqueuing);
    expect(events).toEqual([{ ...effect({ event: 'x' }), id: '7', createdAt: new Date(0), attempts: 1 }]);
    expect(said().slice(-2)).toEqual(['COMMIT', 'released']);
  });

  test.each(['write_out_v1', 'COMMIT'])('is not begun, and the place is given back, where %s fails', async (refuses) => {
    const { events, place } = aPlace();
    await expect(noting({ refuses, place }).work.run({ chains: [] }, enqueuing)).rejects.toThrow();
    expect(events).toEqual(['given up']);
  });

  test('is not begun where it cannot be said', async () => {
    const { events, place } = aPlace();
    const story = noting({ place }).work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ amount: 1n })));
    await expect(story).rejects.toThrow(/BigInt/);
    expect(events).toEqual(['given up']);
  });
});

describe('what is done afterwards', () => {
  test('is done once the commit is answered', async () => {
    const { work, told } = noting();
    await work.run({ chains: [] }, async (tx) => tx.onCommit(() => told.push('done')));
    expect(told.slice(-3)).toEqual(['answered COMMIT', 'released', 'done']);
  });

  test('is not done where the commit fails', async () => {
    const { work, told } = noting({ refuses: 'COMMIT' });
    await expect(work.run({ chains: [] }, async (tx) => tx.onCommit(() => told.push('done')))).rejects.toThrow(/refused: COMMIT/);
    expect(told).not.toContain('done');
  });
});
