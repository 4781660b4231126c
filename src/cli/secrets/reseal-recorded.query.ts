import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import { asService } from '../../platform/auth/access/call-context.js';
import { commandWork } from '../../platform/database/transaction/command-work.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import type { SealedBox } from '../../platform/secrets/sealed-box.js';
import { others, type SealedColumn } from './sealed-columns.js';

/** Entries of one commit. */
const BATCH = 100;

export interface Work {
  /** False: it only counts. */
  readonly writes: boolean;
  readonly box: SealedBox;
  readonly id: string;
  readonly outcome: { resealed: number; unreadable: number };
  readonly onProgress: (done: number) => void;
}

interface Row {
  readonly name: string;
  readonly origins: string[];
  readonly sealed: Buffer;
}

/**
 * Seals the secrets of connectors anew. The log has a digest of their sealed bytes, so each gets an entry with the new one, in the same
 * commit: otherwise a verification would find that somebody had replaced them.
 */
export async function resealRecorded(dataSource: DataSource, column: SealedColumn, work: Work): Promise<void> {
  const organizations = await dataSource.query<{ id: string }[]>(
    `select distinct t.organization_id as id from secrets t where ${others(column)} order by 1`, [work.id]);
  const units = commandWork(dataSource);
  for (const { id: organizationId } of organizations) {
    const plan = { chains: [organizationChain(organizationId)], leavesFacts: true } as const;
    for (let after: string | undefined = ''; after !== undefined;) {
      const from: string = after;
      const done = await asService('cli', () => units.run(plan, (tx) => resealBatch(tx, organizationId, from, column, work)));
      work.outcome.resealed += done.resealed;
      work.outcome.unreadable += done.unreadable;
      work.onProgress(work.outcome.resealed);
      after = done.last;
    }
  }
}

/** @returns the last name, where there may be more behind it */
async function resealBatch(tx: Tx, organizationId: string, after: string, column: SealedColumn, { box, id }: Work) {
  const rows = await tx.query<Row>(
    `select t.name, t.origins, t.sealed from secrets t where ${others(column)} and t.organization_id = $2 and t.name > $3
     order by t.name limit ${BATCH} for update`, [id, organizationId, after]);
  let resealed = 0;
  for (const { name, origins, sealed } of rows) {
    const aad = column.aad({ organization_id: organizationId, name, origins });
    const opened = box.open(column.purpose, aad, sealed);
    if (opened === undefined) continue;
    const fresh = box.seal(column.purpose, aad, opened);
    await tx.query('update secrets set sealed = $3 where organization_id = $1 and name = $2', [organizationId, name, fresh]);
    const sealedDigest = createHash('sha256').update(fresh).digest('hex');
    const metadata = { secretName: name, change: 'resealed', origins, sealedDigest };
    tx.record(organizationChain(organizationId), { type: 'admin.secret_changed', metadata });
    resealed++;
  }
  return { resealed, unreadable: rows.length - resealed, last: rows.length < BATCH ? undefined : rows.at(-1)!.name };
}
