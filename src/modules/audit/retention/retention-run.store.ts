import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type DecodedCutPoint, decodeRetentionRun, decodeTime } from '../../../domain/audit/integrity/row-decoding.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { forgetSweptNotes } from '../keys/authorization-notes.store.js';
import { cutPointsIn } from '../verification/source/log-header.query.js';
import { LONG_READING, readAtOneMoment } from '../query/snapshots.query.js';
import type { RetentionRun, RetentionRunState, RecordedCutPoint } from './retention-run.js';

type RunRow = Omit<RetentionRun, 'before' | 'cuts' | 'checkpoint' | 'notes'>
  & Readonly<Record<'before' | 'cuts' | 'checkpoint' | 'notes', unknown>>;

/** The rows of retention runs, and the deletion of what they have archived. */
@Injectable()
export class RetentionRunStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  readonly run: ReadStatement = (sql, parameters) => this.dataSource.query(sql, [...parameters]);

  /** Reads the log as of one moment, for as long as it takes. */
  read<Result>(read: (run: ReadStatement) => Promise<Result>): Promise<Result> {
    return readAtOneMoment(this.dataSource, read, LONG_READING);
  }

  async begin(tx: Tx, begun: Pick<RetentionRun, 'organizationId' | 'id' | 'before' | 'checkpoint'>): Promise<void> {
    await tx.query(
      `insert into audit_sweeps (organization_id, id, state, before, cuts, checkpoint, made_at)
       values ($1, $2, 'writing', $3, '[]', $4, clock_timestamp())`,
      [begun.organizationId, begun.id, begun.before, JSON.stringify(begun.checkpoint)],
    );
  }

  /** The archive stands and was read back. Answers whether the retention run was still being written. */
  async verified(tx: Tx, { organizationId, id, cuts, checkpoint, skeleton, disclosures }: RetentionRun): Promise<boolean> {
    const rows = await tx.query(
      `update audit_sweeps set state = 'verified', cuts = $3, checkpoint = $4, skeleton = $5, disclosures = $6
       where organization_id = $1 and id = $2 and state = 'writing' returning id`,
      [organizationId, id, JSON.stringify(cuts), JSON.stringify(checkpoint), skeleton, disclosures],
    );
    return rows.length > 0;
  }

  /** As if it were still being written: nobody can record it any more. Answers whether nobody had. */
  async withdrawn(tx: Tx, { organizationId, id }: RetentionRun): Promise<boolean> {
    const rows = await tx.query(
      `update audit_sweeps set state = 'writing'
       where organization_id = $1 and id = $2 and state in ('writing', 'verified') returning id`,
      [organizationId, id],
    );
    return rows.length > 0;
  }

  /** The log says so. Answers whether it was verified, and not recorded yet. */
  async recorded(
    tx: Tx, { organizationId, id }: RetentionRun, cuts: readonly DecodedCutPoint[], notes: Required<RetentionRun>['notes'],
  ): Promise<boolean> {
    const rows = await tx.query(
      `update audit_sweeps set state = 'recorded', cuts = $3, entry_id = $4, notes = $5
       where organization_id = $1 and id = $2 and state = 'verified' returning id`,
      [organizationId, id, JSON.stringify(cuts), Object.keys(notes)[0], JSON.stringify(notes)],
    );
    return rows.length > 0;
  }

  /** All that is recorded of an organization is deleted. Of erasures that went with it the archive has the notes. */
  async done(tx: Tx, organizationId: string): Promise<void> {
    await tx.query(`update audit_sweeps set state = 'done' where organization_id = $1 and state = 'recorded'`, [organizationId]);
    // In this order: a rotation takes the rows of retention runs first, too.
    await forgetSweptNotes(tx.run, organizationId);
  }

  async forget(tx: Tx, { organizationId, id }: Pick<RetentionRun, 'organizationId' | 'id'>): Promise<void> {
    await tx.query(
      `delete from audit_sweeps where organization_id = $1 and id = $2 and state in ('writing', 'verified')`, [organizationId, id],
    );
  }

  /** Deletes at most so many of the entries that a recorded retention run has archived, and says how many. */
  async deleteEntries(tx: Tx, { organizationId, cuts }: RetentionRun, limit: number): Promise<number> {
    const [row] = await tx.query<{ count: string }>(
      'select sweep_entries_v1($1, $2, $3, $4) as count',
      [organizationId, cuts.map(({ chain }) => chain), cuts.map(({ seq }) => seq), limit],
    );
    return Number(row!.count);
  }

  /** Deletes, of the next so many pairs of user and entry, those whose entry is gone. Answers where it stopped, if not at the end. */
  async deleteSubjects(
    tx: Tx, organizationId: string, after: readonly [user: string, entry: string], limit: number,
  ): Promise<readonly [string, string] | undefined> {
    const [row] = await tx.query<{ last_user: string; last_entry: string }>(
      'select last_user, last_entry from sweep_subjects_v1($1, $2, $3, $4)', [organizationId, ...after, limit],
    );
    return row && [row.last_user, row.last_entry];
  }
}

/** Retention runs in these states, oldest first. */
export async function retentionRunsIn(
  run: ReadStatement, states: readonly RetentionRunState[], organizationId?: string,
): Promise<RetentionRun[]> {
  const rows = (await run(
    `select organization_id as "organizationId", id, state, before, cuts, checkpoint, skeleton, disclosures, notes
     from audit_sweeps
     where state = any ($1) and ($2::text is null or organization_id = $2) order by organization_id, made_at, id`,
    [states, organizationId ?? null],
  )) as RunRow[];
  return rows.map(({ before, cuts, checkpoint, notes, ...row }) =>
    ({ ...row, before: decodeTime(before) ?? 'no time', ...decodeRetentionRun({ cuts, checkpoint, notes }) }));
}

/** An organization's retention runs by id, oldest first, and how far each has come. */
export async function retentionRunStates(run: ReadStatement, organizationId: string): Promise<{ id: string; state: RetentionRunState }[]> {
  const rows = await run('select id, state from audit_sweeps where organization_id = $1 order by made_at, id', [organizationId]);
  return rows as { id: string; state: RetentionRunState }[];
}

/** Where each chain of an organization was cut last. */
export async function cutPointsOf(run: ReadStatement, organizationId: string): Promise<Map<string, RecordedCutPoint>> {
  const { cutPoints } = await cutPointsIn(run, [organizationId]);
  return new Map(cutPoints.map((one) => [one.chain, one]));
}

/** Below which leaf of its tree nothing is left of an organization. */
export async function nothingBelow(run: ReadStatement, organizationId: string): Promise<number> {
  const [row] = (await run(
    `select coalesce(max((checkpoint ->> 'next')::bigint), 0) as next from audit_sweeps
     where organization_id = $1 and state in ('recorded', 'done')`,
    [organizationId],
  )) as [{ next: string }];
  return Number(row.next);
}
