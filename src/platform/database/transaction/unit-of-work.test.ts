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
  /** The first statement with this text fails, and all that are sent behind it. */
  refuses?: string;
  code?: string;
  /** The worker's slot for every effect. */
  slot?: ReservedSlot;
}

/** A database that notes each statement and each answer, and a worker that notes when it is called. */
function noting({ refuses, code, slot }: Notes = {}) {
  const noted: string[] = [];
  let failed = false;
  const answer = async (said: string): Promise<unknown[]> => {
    const isFirst = !failed && refuses !== undefined && said.includes(refuses);
    const isAborted = failed && said !== 'ROLLBACK';
    failed ||= isFirst;
    await new Promise(setImmediate);
    if (isAborted) throw new Error(`aborted: ${said}`);
    if (isFirst) throw Object.assign(new Error(`refused: ${said}`), { code });
    noted.push(`answered ${said.slice(0, 12)}`);
    return said.includes('write_out_v1') ? [{ id: '7', createdAt: new Date(0), isClaimed: slot !== undefined }] : [];
  };
  const runner = {
    isTransactionActive: false,
    connect: () => Promise.resolve(),
    query: (text: string | { text: string }) => {
      const said = typeof text === 'string' ? text : text.text;
      noted.push(said);
      return answer(said);
    },
    startTransaction: () => {
      runner.isTransactionActive = true;
      return runner.query('START TRANSACTION');
    },
    commitTransaction: () => runner.query('COMMIT'),
    rollbackTransaction: () => runner.query('ROLLBACK'),
    release: () => Promise.resolve(void noted.push('released')),
  };
  const signal = new OutboxSignal();
  signal.listen({ notify: (kinds) => noted.push(`signal for ${[...kinds].join()}`), reserveSlot: () => slot });
  const dataSource = { createQueryRunner: () => runner as unknown as QueryRunner, query: () => Promise.resolve([]) };
  const work = new UnitOfWork(dataSource as unknown as DataSource, new CredentialSources(), {} as IdempotencyKeys, signal);
  /** The notes, without the answers. */
  const said = () => noted.filter((line) => !line.startsWith('answered'));
  return { work, noted, said };
}

const effect = (payload: unknown) => ({ kind: 'notification.send', organizationId: 'org_1', payload: payload as JsonObject }) as const;

describe('the last statement and the commit are sent in one go', () => {
  test('in this order, and the connection is given back when both are answered', async () => {
    const { work, said } = noting();
    await work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ event: 'x' })));
    expect(said().slice(-4)).toEqual([expect.stringContaining('write_out_v1'), 'COMMIT', 'released', 'signal for notification.send']);
  });

  test('an effect that cannot be written is followed by no commit', async () => {
    const { work, said } = noting();
    const run = work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ amount: 1n })));
    await expect(run).rejects.toThrow(/BigInt/);
    expect(said()).not.toContain('COMMIT');
    expect(said().slice(-2)).toEqual(['ROLLBACK', 'released']);
  });

  test('where the database refuses it, the work fails with that error, not with that of the commit', async () => {
    const { work, said } = noting({ refuses: 'write_out_v1' });
    const run = work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ event: 'x' })));
    await expect(run).rejects.toThrow(/refused: [^]*write_out_v1/);
    expect(said().slice(-3)).toEqual(['COMMIT', 'ROLLBACK', 'released']);
  });
});

describe('the first reads of a work', () => {
  test('are sent behind the locks, before these are answered', async () => {
    const { work, noted } = noting();
    const plan = { chains: [], judges: ['org_1'] };
    await expect(work.runOn(plan, (tx) => tx.query('question'), async (_tx, known) => known)).resolves.toEqual([]);
    const lock = noted.findIndex((line) => line.includes('lock_barriers_and_heads_v1'));
    expect(noted.slice(lock, lock + 2)).toEqual([expect.stringContaining('lock_barriers_and_heads_v1'), 'question']);
  });

  test('do not count where the locks were not got', async () => {
    const { work, said } = noting({ refuses: 'lock_barriers_and_heads_v1' });
    const run = work.runOn({ chains: [], judges: ['org_1'] }, (tx) => tx.query('question'), () => Promise.reject(new Error('ran')));
    await expect(run).rejects.toThrow(/refused: select .* lock_barriers_and_heads_v1/);
    expect(said()).not.toContain('COMMIT');
  });
});

describe('a change with an asserted row count', () => {
  const asserting = async (tx: Tx) => tx.assertRowCount('update thing returning id', [], 1, () => new Error('too late'));

  test('is sent, and waited for with the commit', async () => {
    const { work, noted } = noting();
    await work.run({ chains: [], leavesFacts: true }, asserting);
    const change = noted.findIndex((line) => line.includes('update thing'));
    expect(noted.slice(change, change + 2)).toEqual([expect.stringContaining('assert_true_v1'), 'COMMIT']);
  });

  test('fails the work in its own words where it does not hold, and in those of the database where that fails', async () => {
    await expect(noting({ refuses: 'update thing', code: 'CS003' }).work.run({ chains: [] }, asserting)).rejects.toThrow('too late');
    await expect(noting({ refuses: 'update thing' }).work.run({ chains: [] }, asserting)).rejects.toThrow(/refused: with changed/);
  });

  test('fails it so too where a later statement only fails because of it', async () => {
    const { work, said } = noting({ refuses: 'update thing', code: 'CS003' });
    const run = work.run({ chains: [] }, async (tx) => {
      await asserting(tx);
      await tx.query('select more');
    });
    await expect(run).rejects.toThrow('too late');
    expect(said()).not.toContain('COMMIT');
  });
});

describe('events whose times verification compares', () => {
  const chain = agentChain('org_1', newId('agt'));
  const hitlId = newId('hitl');
  const rejected = { type: 'hitl.rejected', capability: 'email.send', metadata: { hitlId } } as const;
  const cancelled = { type: 'hitl.cancelled', capability: 'email.send', metadata: { hitlId, reason: 'stopped' } } as const;
  const recording = (...events: readonly AuditEvent[]) => (tx: Tx) =>
    asService('worker', async () => events.forEach((event) => void tx.record(chain, event)));

  test('are committed only where the clock that stamps them is right; it is compared once, and waited for with the commit', async () => {
    const { work, said } = noting();
    await work.run({ chains: [], leavesFacts: true }, recording(rejected, rejected));
    expect(said().filter((line) => /assert_true_v1.*now\(\)/.test(line))).toHaveLength(1);
    const refusing = noting({ refuses: 'assert_true_v1', code: 'CS003' });
    await expect(refusing.work.run({ chains: [], leavesFacts: true }, recording(rejected))).rejects.toMatchObject({
      code: 'UNAVAILABLE', detail: expect.stringContaining("clock and the database's differ by more than 5 s"),
    });
    expect(refusing.said().slice(-3)).toEqual(['COMMIT', 'ROLLBACK', 'released']);
  });

  test('the end without a decision does not compare it', async () => {
    const { work, said } = noting();
    await work.run({ chains: [], leavesFacts: true }, recording(cancelled));
    expect(said().filter((line) => line.includes('assert_true_v1'))).toEqual([]);
  });
});

describe('an effect for which this process has a slot', () => {
  const enqueuing = async (tx: Tx) => tx.enqueue(effect({ event: 'x' }));

  function aSlot() {
    const events: unknown[] = [];
    return { events, slot: { start: (row: unknown) => events.push(row), giveUp: () => events.push('given up') } };
  }

  test('is begun behind the commit, as it was written, and no signal is given', async () => {
    const { events, slot } = aSlot();
    const { work, said } = noting({ slot });
    await work.run({ chains: [] }, enqueuing);
    expect(events).toEqual([{ ...effect({ event: 'x' }), id: '7', createdAt: new Date(0), attempts: 1 }]);
    expect(said().slice(-2)).toEqual(['COMMIT', 'released']);
  });

  test.each(['write_out_v1', 'COMMIT'])('is not begun, and the slot is given back, where %s fails', async (refuses) => {
    const { events, slot } = aSlot();
    await expect(noting({ refuses, slot }).work.run({ chains: [] }, enqueuing)).rejects.toThrow();
    expect(events).toEqual(['given up']);
  });

  test('is not begun where it cannot be written', async () => {
    const { events, slot } = aSlot();
    const run = noting({ slot }).work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ amount: 1n })));
    await expect(run).rejects.toThrow(/BigInt/);
    expect(events).toEqual(['given up']);
  });
});

describe('an action on commit', () => {
  test('is done once the commit is answered', async () => {
    const { work, noted } = noting();
    await work.run({ chains: [] }, async (tx) => tx.onCommit(() => noted.push('done')));
    expect(noted.slice(-3)).toEqual(['answered COMMIT', 'released', 'done']);
  });

  test('is not done where the commit fails', async () => {
    const { work, noted } = noting({ refuses: 'COMMIT' });
    await expect(work.run({ chains: [] }, async (tx) => tx.onCommit(() => noted.push('done')))).rejects.toThrow(/refused: COMMIT/);
    expect(noted).not.toContain('done');
  });
});
