import type { DataSource, QueryRunner } from 'typeorm';
import { describe, expect, test } from '@jest/globals';
import { CredentialSources } from '../auth/credential-source.js';
import { OutboxBell } from '../outbox/outbox-bell.js';
import type { JsonObject } from '../../domain/json.js';
import type { IdempotencyKeys } from './idempotency.js';
import { UnitOfWork } from './unit-of-work.js';

/** A database that notes what it is told, and answers nothing. `refuses` fails, and with it all that is sent behind it. */
function noting(refuses?: string) {
  const told: string[] = [];
  let failed = false;
  const runner = {
    isTransactionActive: false,
    connect: () => Promise.resolve(),
    query: (text: string | { text: string }) => {
      const said = typeof text === 'string' ? text : text.text;
      told.push(said);
      failed ||= refuses !== undefined && said.includes(refuses);
      return failed && said !== 'ROLLBACK' ? Promise.reject(new Error(`refused: ${said}`)) : Promise.resolve([]);
    },
    startTransaction: () => {
      runner.isTransactionActive = true;
      return runner.query('START TRANSACTION');
    },
    commitTransaction: () => runner.query('COMMIT'),
    rollbackTransaction: () => runner.query('ROLLBACK'),
    release: () => Promise.resolve(void told.push('released')),
  };
  const dataSource = { createQueryRunner: () => runner as unknown as QueryRunner, query: () => Promise.resolve([]) };
  const work = new UnitOfWork(dataSource as unknown as DataSource, new CredentialSources(), {} as IdempotencyKeys, new OutboxBell());
  return { work, told };
}

const effect = (payload: unknown) => ({ kind: 'notification.send', organizationId: 'org_1', payload: payload as JsonObject }) as const;

describe('the last statement and the commit are sent in one go', () => {
  test('in this order, and the connection is given back when both are answered', async () => {
    const { work, told } = noting();
    await work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ event: 'x' })));
    expect(told.slice(-3)).toEqual([expect.stringContaining('write_out_v1'), 'COMMIT', 'released']);
  });

  test('what cannot be said is followed by no commit', async () => {
    const { work, told } = noting();
    const story = work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ amount: 1n })));
    await expect(story).rejects.toThrow(/BigInt/);
    expect(told).not.toContain('COMMIT');
    expect(told.slice(-2)).toEqual(['ROLLBACK', 'released']);
  });

  test('where the database refuses it, whoever asked is told that, not what became of the commit', async () => {
    const { work, told } = noting('write_out_v1');
    const story = work.run({ chains: [] }, async (tx) => tx.enqueue(effect({ event: 'x' })));
    await expect(story).rejects.toThrow(/refused: select write_out_v1/);
    expect(told.slice(-3)).toEqual(['COMMIT', 'ROLLBACK', 'released']);
  });
});

describe('what is done afterwards', () => {
  test('is done once the commit is answered', async () => {
    const { work, told } = noting();
    await work.run({ chains: [] }, async (tx) => tx.afterwards(() => told.push('done')));
    expect(told.slice(-3)).toEqual(['COMMIT', 'released', 'done']);
  });

  test('is not done where the commit fails', async () => {
    const { work, told } = noting('COMMIT');
    await expect(work.run({ chains: [] }, async (tx) => tx.afterwards(() => told.push('done')))).rejects.toThrow(/refused: COMMIT/);
    expect(told).not.toContain('done');
  });
});
